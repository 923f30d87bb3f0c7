//! Sums of products: `MatMul` where an expression is one, otherwise `Einsum`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::arrange::unified;
use super::super::lists::known_at;
use super::super::translated_call::{Refused, TranslatedCall, Translation};
use super::super::value::{ModelValue, NnefElement, open, text};
use crate::extents::{Equation, EquationAxis, Formula, is_letter};

/// Refuses the operations whose operands are quantized numbers.
fn not_quantized(call: &TranslatedCall) -> Translation<()> {
    match call.attribute("a_scale", usize::MAX) {
        None => Ok(()),
        Some(_) => Err(Refused::meaning(format!("`{}` of quantized operands", call.name()))),
    }
}

/// An expression of einsum.
pub(in crate::onnx::from_nnef) fn einsum(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    not_quantized(call)?;
    let written = call.text("expr")?;
    let wrong = || Refused::meaning(format!("'{written}' of `{}` is not an expression of einsum", call.name()));
    let expression = Formula::plain(written).ok_or_else(wrong)?;
    let operands = call.list("inputs")?;
    summed(call, operands, &expression)
}

/// The product of matrices along numbered axes: those of rows and sums of the first operand, of sums and columns of the
/// second, of rows and columns of the result.
pub(in crate::onnx::from_nnef) fn product(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    not_quantized(call)?;
    let operands = vec![call.value_at("A", 0)?, call.value_at("B", 1)?];
    let ranks = operands.iter().map(|value| call.rank(value)).collect::<Translation<Vec<_>>>()?;
    let axes = call.ints("axes")?;
    let wrong = || Refused::meaning(format!("the axes {axes:?} of `{}`", call.name()));
    let &[rank, other] = &ranks[..] else { return Err(wrong()) };
    let axes = axes.iter().map(|axis| usize::try_from(*axis).ok()).collect::<Option<Vec<_>>>();
    let expression = axes.filter(|_| rank == other).and_then(|axes| Equation::of_matrices(&axes, rank));
    let expression = expression.ok_or_else(wrong)?;
    summed(call, operands, &expression)
}

/// Adds the nodes of an expression.
fn summed(call: &mut TranslatedCall, operands: Vec<ModelValue>, expression: &Equation) -> Translation<Vec<ModelValue>> {
    if operands.len() != expression.operands.len() {
        let (given, named) = (operands.len(), expression.operands.len());
        let message = format!("`{}` has {given} operands, its expression {named}", call.name());
        return Err(Refused::meaning(message));
    }
    let mut operands = unified(call, operands);
    if operands.iter().all(|operand| operand.element == NnefElement::Bool) {
        operands = operands.iter().map(|operand| call.out.cast(operand, NnefElement::Float)).collect();
    }
    if let Some(made) = as_product(call, &operands, expression) {
        return Ok(vec![made]);
    }
    let named = |letter: &EquationAxis| expression.operands.iter().any(|letters| letters.contains(letter));
    let (result, new): (Vec<EquationAxis>, Vec<EquationAxis>) =
        expression.result.iter().partition(|letter| named(letter));
    let written = equation(&expression.operands, &result);
    let written = written.ok_or_else(|| Refused::meaning(format!("`{}` has too many axes", call.name())))?;
    let attributes = vec![("equation", text(&written))];
    let made = call.node("Einsum", &operands.iter().collect::<Vec<_>>(), attributes);
    let made = ModelValue { dims: Some(open(result.len())), ..made };
    if new.is_empty() {
        return Ok(vec![made]);
    }
    // Letters of the result alone name axes of extent 1.
    let places = expression.result.iter().zip(0_i64..).filter(|(letter, _)| !named(letter));
    let places: Vec<i64> = places.map(|(_, place)| place).collect();
    Ok(vec![call.out.unsqueeze(&made, &places)])
}

/// The letters of ONNX, which are those of ASCII.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The equation of an expression; other letters than ONNX has are replaced. None if there are not enough.
fn equation(operands: &[Vec<EquationAxis>], result: &[EquationAxis]) -> Option<String> {
    let mut used: Vec<EquationAxis> = operands.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let mut free = LETTERS.chars().filter(|letter| !used.contains(&EquationAxis::Letter(*letter)));
    let mut written = BTreeMap::new();
    for axis in &used {
        let own = match axis {
            EquationAxis::Letter(letter) if is_letter(*letter) => *letter,
            _ => free.next()?,
        };
        written.insert(*axis, own);
    }
    let written = |axes: &[EquationAxis]| -> String { axes.iter().filter_map(|axis| written.get(axis)).collect() };
    let parts: Vec<String> = operands.iter().map(|letters| written(letters)).collect();
    Some(format!("{}->{}", parts.join(","), written(result)))
}

/// The matrix product that an expression of two operands is: one letter for rows, one for sums and one for columns,
/// and the others in both operands and in the result. Axes that are in another order are transposed.
fn as_product(call: &mut TranslatedCall, operands: &[ModelValue], expression: &Equation) -> Option<ModelValue> {
    let ([a, b], [left, right]) = (operands, &expression.operands[..]) else { return None };
    let result = &expression.result;
    let distinct = |letters: &[EquationAxis]| letters.iter().collect::<BTreeSet<_>>().len() == letters.len();
    if ![left, right, result].into_iter().all(|letters| distinct(letters)) {
        return None;
    }
    let only = |letters: &[EquationAxis], others: [&[EquationAxis]; 2], within: [bool; 2]| -> Vec<EquationAxis> {
        let fits =
            |letter: &&EquationAxis| others.iter().zip(within).all(|(other, within)| other.contains(letter) == within);
        letters.iter().filter(fits).copied().collect()
    };
    let batch = only(result, [left, right], [true, true]);
    let [row] = only(left, [right, result], [false, true])[..] else { return None };
    let [sum] = only(left, [right, result], [true, false])[..] else { return None };
    let [column] = only(right, [left, result], [false, true])[..] else { return None };
    let rank = batch.len().checked_add(2)?;
    if [left, right, result].iter().any(|letters| letters.len() != rank) {
        return None;
    }
    // The operator does not repeat items along the axis of sums.
    let extent = |value: &ModelValue, letters: &[EquationAxis]| {
        known_at(value.dims.as_ref()?, letters.iter().position(|letter| *letter == sum)?)
    };
    if extent(a, left) != extent(b, right) {
        return None;
    }
    let order = |from: &[EquationAxis], last: [EquationAxis; 2]| -> Option<Vec<usize>> {
        batch.iter().copied().chain(last).map(|letter| from.iter().position(|own| *own == letter)).collect()
    };
    let (of_left, of_right) = (order(left, [row, sum])?, order(right, [sum, column])?);
    let own: Vec<EquationAxis> = batch.iter().copied().chain([row, column]).collect();
    let back: Option<Vec<usize>> = result.iter().map(|letter| own.iter().position(|own| own == letter)).collect();
    let back = back?;
    let (a, b) = (call.out.transpose(a, &of_left), call.out.transpose(b, &of_right));
    let made = call.node("MatMul", &[&a, &b], Vec::new());
    let made = ModelValue { dims: Some(open(rank)), ..made };
    Some(call.out.transpose(&made, &back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_letters_are_replaced() {
        let expression = Formula::plain("aβ,βc->ac").unwrap();
        assert_eq!(equation(&expression.operands, &expression.result).as_deref(), Some("ab,bc->ac"));
    }
}
