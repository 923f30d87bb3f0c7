//! Rules that are formulas: operators of ONNX applied to the parameters of an NNEF operation.
//!
//! `Mul(x, Sigmoid(Mul(1.702, x)))` applies operators to the parameter `x` and to a number.
//! `Selu<alpha, gamma = lambda>(x)` also has attributes: the parameter `alpha`, and the parameter `lambda` as `gamma`.
//! NNEF attributes between the parentheses become operands.

use super::call::{Bound, Call, Made, Refused};
use super::emit::{Element, Value, shared};
use crate::onnx::model::AttributeValue;

/// How operands are prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// Broadcast, and converted to scalars.
    Real,
    /// Broadcast; converted to scalars unless all operands are integers.
    Numbers,
    /// Not changed.
    Plain,
}

/// The tokens of a formula.
fn tokens(formula: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = formula.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let len = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        found.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    found
}

/// The value of a token that is a number.
fn number(token: &str) -> Option<f64> {
    token.parse().ok().filter(|_| token.starts_with(|c: char| c.is_ascii_digit()))
}

/// The distinct operands of a formula, in the order of their first use.
fn operands<'f>(tokens: &[&'f str]) -> Vec<&'f str> {
    let mut found = Vec::new();
    let mut in_attributes = false;
    let following = tokens.iter().skip(1).map(Some).chain([None]);
    for (token, next) in tokens.iter().zip(following) {
        match *token {
            "<" => in_attributes = true,
            ">" => in_attributes = false,
            token if token.starts_with(|c: char| c.is_ascii_alphabetic()) && !in_attributes => {
                let operator = matches!(next, Some(&"(" | &"<"));
                if !operator && !found.contains(&token) {
                    found.push(token);
                }
            }
            _ => {}
        }
    }
    found
}

/// Evaluates a formula: adds its nodes and returns its value.
pub(super) fn evaluate(call: &mut Call, prepared: Operands, formula: &str) -> Made<Value> {
    let tokens = tokens(formula);
    let names = operands(&tokens);
    let bound = names.iter().enumerate().map(|(i, name)| call.bound(name, i)).collect::<Made<Vec<_>>>()?;
    let (bound, element) = prepare(call, prepared, bound)?;
    let tokens = tokens.iter().copied().peekable();
    let mut evaluation = Evaluation { call, tokens, names: &names, bound: &bound, element };
    let mut made = Vec::new();
    evaluation.operand(&mut made)?;
    made.pop().ok_or_else(|| Refused::meaning("an empty formula"))
}

/// Converts operands to a common type and rank.
fn prepare(call: &mut Call, prepared: Operands, mut bound: Vec<Bound>) -> Made<(Vec<Bound>, Element)> {
    let elements = bound.iter().flat_map(|bound| match bound {
        Bound::One(value) => vec![value.element],
        Bound::Many(values) => values.iter().map(|value| value.element).collect(),
        Bound::Number(element, _) => vec![*element],
        Bound::Large(_) => vec![Element::Int],
        Bound::Ints(_) => Vec::new(),
    });
    let numbers: Vec<Element> = elements.filter(|element| *element != Element::Bool).collect();
    let scalars = prepared == Operands::Real || numbers.contains(&Element::Float);
    let element = match (scalars, numbers.is_empty()) {
        (true, _) => Element::Float,
        (false, false) => Element::Int,
        (false, true) => Element::Bool,
    };
    if prepared == Operands::Plain {
        return Ok((bound, element));
    }
    let rank = common_rank(call, &bound)?;
    let mut prepare = |value: &mut Value| {
        if value.element != Element::Bool || prepared == Operands::Real {
            *value = call.out.cast(value, element);
        }
        if let Some(rank) = rank {
            *value = call.out.lengthen(value, rank);
        }
    };
    for bound in &mut bound {
        match bound {
            Bound::One(value) => prepare(value),
            Bound::Many(values) => values.iter_mut().for_each(&mut prepare),
            Bound::Number(..) | Bound::Large(_) | Bound::Ints(_) => {}
        }
    }
    if rank.is_some() {
        check_extents(call, &bound)?;
    }
    Ok((bound, element))
}

/// Refuses operands that cannot be broadcast to a common shape. Operands of equal rank are aligned in the same way in
/// NNEF and ONNX.
fn check_extents(call: &Call, bound: &[Bound]) -> Made<()> {
    let values = bound.iter().flat_map(|bound| match bound {
        Bound::One(value) => std::slice::from_ref(value),
        Bound::Many(values) => values,
        Bound::Number(..) | Bound::Large(_) | Bound::Ints(_) => &[],
    });
    let all = values.filter_map(|value| value.dims.as_ref());
    if shared(all.clone()).is_some() {
        return Ok(());
    }
    let mut common: Vec<Option<i64>> = Vec::new();
    for dims in all {
        common.resize(common.len().max(dims.len()), Some(1));
        for (axis, (so_far, extent)) in common.iter_mut().zip(dims.iter()).enumerate() {
            match (*so_far, *extent) {
                (Some(1), extent) => *so_far = extent,
                (_, Some(1) | None) => {}
                (None, extent) => *so_far = extent,
                (Some(one), Some(other)) if one == other => {}
                (Some(one), Some(other)) => {
                    let name = call.name();
                    let message = format!("the operands of `{name}` have extents {one} and {other} along axis {axis}");
                    return Err(Refused::meaning(message));
                }
            }
        }
    }
    Ok(())
}

/// The rank that operands are extended to; none if no operand must be extended.
pub(super) fn common_rank(call: &Call, bound: &[Bound]) -> Made<Option<usize>> {
    let mut values: Vec<&Value> = Vec::new();
    for bound in bound {
        match bound {
            Bound::One(value) => values.push(value),
            Bound::Many(many) => values.extend(many),
            Bound::Number(..) | Bound::Large(_) | Bound::Ints(_) => {}
        }
    }
    values.sort_by_key(|value| value.id.index());
    values.dedup_by_key(|value| value.id);
    if values.len() < 2 {
        return Ok(None);
    }
    values.iter().try_fold(None, |most: Option<usize>, value| Ok(most.max(Some(call.rank(value)?))))
}

struct Evaluation<'e, 'c, T: Iterator<Item = &'e str>> {
    call: &'e mut Call<'c>,
    tokens: std::iter::Peekable<T>,
    names: &'e [&'e str],
    bound: &'e [Bound],
    element: Element,
}

impl<'e, T: Iterator<Item = &'e str>> Evaluation<'e, '_, T> {
    fn next(&mut self) -> &'e str {
        self.tokens.next().unwrap_or("")
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.tokens.next_if(|token| *token == wanted).is_some()
    }

    /// Evaluates an operand, which may be several values.
    fn operand(&mut self, made: &mut Vec<Value>) -> Made<()> {
        let token = self.next();
        if let Some(number) = number(token) {
            made.push(self.call.out.number(self.element, number));
            return Ok(());
        }
        if let Some((_, bound)) = self.names.iter().zip(self.bound).find(|(name, _)| **name == token) {
            match bound {
                Bound::One(value) => made.push(value.clone()),
                Bound::Many(values) => made.extend(values.iter().cloned()),
                Bound::Number(Element::Bool, value) => made.push(self.call.out.number(Element::Bool, *value)),
                Bound::Number(_, value) => made.push(self.call.out.number(self.element, *value)),
                Bound::Large(value) if self.element == Element::Int => made.push(self.call.out.integer(*value)),
                Bound::Large(value) => made.push(self.call.out.number(self.element, *value as f64)),
                Bound::Ints(items) => made.push(self.call.out.list(token, items)),
            }
            return Ok(());
        }
        let mut attributes = Vec::new();
        if self.take("<") {
            // Attributes are declared behind the operands.
            for position in self.names.len().. {
                if self.take(">") {
                    break;
                }
                attributes.extend(self.attribute(position)?);
                self.take(",");
            }
        }
        let mut inputs = Vec::new();
        self.take("(");
        while !self.take(")") {
            self.operand(&mut inputs)?;
            self.take(",");
        }
        // In NNEF, a reduction along no axes is an identity.
        let axes = inputs.get(1).and_then(|axes| axes.dims.clone());
        if token.starts_with("Reduce") && axes.is_some_and(|dims| *dims == [Some(0)]) {
            attributes.push(("noop_with_empty_axes", AttributeValue::Int(1)));
        }
        made.push(self.call.out.node(token, &inputs.iter().collect::<Vec<_>>(), attributes));
        Ok(())
    }

    /// An attribute, which is a number; none if the operation has no argument for it.
    fn attribute(&mut self, position: usize) -> Made<Option<(&'e str, AttributeValue)>> {
        let name = self.next();
        let value = if self.take("=") { self.next() } else { name };
        if let Some(number) = number(value) {
            let whole = !value.contains('.');
            let number = if whole { AttributeValue::Int(number as i64) } else { AttributeValue::Float(number as f32) };
            return Ok(Some((name, number)));
        }
        let number = self.call.literal_at(value, position)?;
        Ok(number.map(|number| (name, AttributeValue::Float(number as f32))))
    }
}

/// Evaluates a formula on values, which are extended to a common rank before. The formula must not use attributes of
/// the operation.
pub(super) fn combine(call: &mut Call, formula: &str, operands: &[(&str, &Value)]) -> Made<Value> {
    let tokens = tokens(formula);
    let names: Vec<&str> = operands.iter().map(|(name, _)| *name).collect();
    let bound = operands.iter().map(|(_, value)| Bound::One((*value).clone())).collect();
    let (bound, element) = prepare(call, Operands::Numbers, bound)?;
    let tokens = tokens.iter().copied().peekable();
    let mut evaluation = Evaluation { call, tokens, names: &names, bound: &bound, element };
    let mut made = Vec::new();
    evaluation.operand(&mut made)?;
    made.pop().ok_or_else(|| Refused::meaning("an empty formula"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_have_parts_and_operands() {
        let formula = tokens("Add(offset, Selu<alpha, gamma = lambda>(Mul(1.702, x)))");
        assert_eq!(formula.len(), 21);
        assert_eq!(operands(&formula), ["offset", "x"]);
        assert_eq!((number("1.5"), number("x1"), number("inf")), (Some(1.5), None, None));
    }
}
