//! Rules that are formulas: operators of ONNX applied to the parameters of an NNEF operation.
//!
//! `Mul(x, Sigmoid(Mul(1.702, x)))` applies operators to the parameter `x` and to a number.
//! `Selu<alpha, gamma = lambda>(x)` also has attributes: the parameter `alpha`, and the parameter `lambda` as `gamma`.
//! NNEF attributes between the parentheses become operands.

use super::emit::shared;
use super::translated_call::{Bound, Refused, TranslatedCall, Translation};
use super::value::{ModelValue, NnefElement};
use crate::dictionary::Operands;
use crate::onnx::model::AttributeValue;

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
pub(super) fn evaluate(call: &mut TranslatedCall, prepared: Operands, formula: &str) -> Translation<ModelValue> {
    let tokens = tokens(formula);
    let names = operands(&tokens);
    let bound = names.iter().enumerate().map(|(i, name)| call.bound(name, i)).collect::<Translation<Vec<_>>>()?;
    let logical = |bound: &Bound| bound.elements().all(|element| element == NnefElement::Bool);
    let logicals = prepared == Operands::Choice && bound.iter().skip(1).all(logical);
    let (bound, element) = prepare(call, prepared, bound)?;
    let made = made(call, &tokens, &names, &bound, element)?;
    Ok(if logicals { call.out.cast(&made, NnefElement::Bool) } else { made })
}

impl Bound {
    /// The types of the operand's values; none for integers that were attributes.
    fn elements(&self) -> impl Iterator<Item = NnefElement> {
        let literal = match self {
            Bound::Number(element, _) => Some(*element),
            Bound::Large(_) => Some(NnefElement::Int),
            Bound::One(_) | Bound::Many(_) | Bound::Ints(_) => None,
        };
        self.values().iter().map(|value| value.element).chain(literal)
    }

    /// The values that are not literals.
    fn values(&self) -> &[ModelValue] {
        match self {
            Bound::One(value) => std::slice::from_ref(value),
            Bound::Many(values) => values,
            Bound::Number(..) | Bound::Large(_) | Bound::Ints(_) => &[],
        }
    }

    /// The values that are not literals, to change them.
    fn values_mut(&mut self) -> &mut [ModelValue] {
        match self {
            Bound::One(value) => std::slice::from_mut(value),
            Bound::Many(values) => values,
            Bound::Number(..) | Bound::Large(_) | Bound::Ints(_) => &mut [],
        }
    }
}

/// The type that operands are converted to.
fn common_element(prepared: Operands, bound: &[Bound]) -> NnefElement {
    let mut elements = bound.iter().flat_map(Bound::elements);
    let first = elements.next();
    let alike = elements.all(|element| Some(element) == first);
    match (prepared, first.filter(|_| alike)) {
        (Operands::Logicals, _) => NnefElement::Bool,
        (Operands::Numbers, Some(NnefElement::Int)) => NnefElement::Int,
        // onnxruntime does not choose between logicals.
        (Operands::Choice, Some(NnefElement::Bool)) => NnefElement::Int,
        (Operands::Alike | Operands::Choice | Operands::Plain, Some(element)) => element,
        _ => NnefElement::Float,
    }
}

/// Converts operands to a common type and rank.
fn prepare(
    call: &mut TranslatedCall,
    prepared: Operands,
    mut bound: Vec<Bound>,
) -> Translation<(Vec<Bound>, NnefElement)> {
    let conditions = if prepared == Operands::Choice { bound.len().min(1) } else { 0 };
    let (conditions, others) = bound.split_at_mut(conditions);
    let element = common_element(prepared, others);
    if prepared == Operands::Plain {
        return Ok((bound, element));
    }
    conditions.iter_mut().for_each(|condition| convert(call, condition, NnefElement::Bool));
    others.iter_mut().for_each(|other| convert(call, other, element));
    if let Some(rank) = common_rank(call, &bound)? {
        for value in bound.iter_mut().flat_map(Bound::values_mut) {
            *value = call.out.lengthen(value, rank);
        }
        check_extents(call, &bound)?;
    }
    Ok((bound, element))
}

/// Converts an operand to a type.
fn convert(call: &mut TranslatedCall, bound: &mut Bound, element: NnefElement) {
    let literal = |number: f64| match element {
        NnefElement::Bool => Bound::Number(element, f64::from(number != 0.0)),
        _ => Bound::Number(element, number),
    };
    bound.values_mut().iter_mut().for_each(|value| *value = call.out.cast(value, element));
    match bound {
        Bound::Number(_, number) => *bound = literal(*number),
        Bound::Large(number) if element != NnefElement::Int => *bound = literal(*number as f64),
        Bound::One(_) | Bound::Many(_) | Bound::Large(_) | Bound::Ints(_) => {}
    }
}

/// Refuses operands that cannot be broadcast to a common shape. Operands of equal rank are aligned in the same way in
/// NNEF and ONNX.
fn check_extents(call: &TranslatedCall, bound: &[Bound]) -> Translation<()> {
    let values = bound.iter().flat_map(Bound::values);
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
pub(super) fn common_rank(call: &TranslatedCall, bound: &[Bound]) -> Translation<Option<usize>> {
    let mut values: Vec<&ModelValue> = bound.iter().flat_map(Bound::values).collect();
    values.sort_unstable_by_key(|value| value.id.index());
    values.dedup_by_key(|value| value.id);
    if values.len() < 2 {
        return Ok(None);
    }
    values.iter().try_fold(None, |most: Option<usize>, value| Ok(most.max(Some(call.rank(value)?))))
}

struct FormulaEvaluation<'e, 'c, T: Iterator<Item = &'e str>> {
    call: &'e mut TranslatedCall<'c>,
    tokens: std::iter::Peekable<T>,
    names: &'e [&'e str],
    bound: &'e [Bound],
    element: NnefElement,
}

impl<'e, T: Iterator<Item = &'e str>> FormulaEvaluation<'e, '_, T> {
    fn next(&mut self) -> &'e str {
        self.tokens.next().unwrap_or("")
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.tokens.next_if(|token| *token == wanted).is_some()
    }

    /// Evaluates an operand, which may be several values.
    fn operand(&mut self, made: &mut Vec<ModelValue>) -> Translation<()> {
        let token = self.next();
        if let Some(number) = number(token) {
            made.push(self.call.out.number(self.element, number));
            return Ok(());
        }
        if let Some((_, bound)) = self.names.iter().zip(self.bound).find(|(name, _)| **name == token) {
            match bound {
                Bound::One(value) => made.push(value.clone()),
                Bound::Many(values) => made.extend(values.iter().cloned()),
                Bound::Number(element, value) => made.push(self.call.out.number(*element, *value)),
                Bound::Large(value) => made.push(self.call.out.integer(*value)),
                Bound::Ints(items) => made.push(self.call.out.list(token, items)),
            }
            return Ok(());
        }
        let mut attributes = Vec::new();
        if self.take("<") {
            // Attributes are declared after the operands.
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
    fn attribute(&mut self, position: usize) -> Translation<Option<(&'e str, AttributeValue)>> {
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
pub(super) fn combine(
    call: &mut TranslatedCall,
    formula: &str,
    operands: &[(&str, &ModelValue)],
) -> Translation<ModelValue> {
    let tokens = tokens(formula);
    let names: Vec<&str> = operands.iter().map(|(name, _)| *name).collect();
    let bound = operands.iter().map(|(_, value)| Bound::One((*value).clone())).collect();
    let (bound, element) = prepare(call, Operands::Numbers, bound)?;
    made(call, &tokens, &names, &bound, element)
}

/// The value of a formula of operands.
fn made(
    call: &mut TranslatedCall,
    tokens: &[&str],
    names: &[&str],
    bound: &[Bound],
    element: NnefElement,
) -> Translation<ModelValue> {
    let tokens = tokens.iter().copied().peekable();
    let mut made = Vec::new();
    FormulaEvaluation { call, tokens, names, bound, element }.operand(&mut made)?;
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
