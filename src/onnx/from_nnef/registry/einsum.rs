//! Sums of products: `MatMul` where an expression is one, otherwise `Einsum`.

use super::super::arrange::unified;
use super::super::call::{Refused, TranslatedCall, Translation};
use super::super::lists::known_at;
use super::super::value::{ModelValue, NnefElement, open, text};
use crate::graph::shapes::Einsum;

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
    let expression = Einsum::read(written).ok_or_else(wrong)?;
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
    let &[rows, sums, b_sums, columns, to_rows, to_columns] = &axes[..] else { return Err(wrong()) };
    if rank != other || axes.iter().any(|axis| usize::try_from(*axis).map_or(true, |axis| axis >= rank)) {
        return Err(wrong());
    }
    let letters = |named: [(i64, char); 2]| -> Vec<char> {
        let mut batch = 'a'..='z';
        let letter = |axis: usize| named.iter().find(|(own, _)| *own == axis as i64).map(|(_, letter)| *letter);
        (0..rank).filter_map(|axis| letter(axis).or_else(|| batch.next())).collect()
    };
    let operand_letters = vec![letters([(rows, 'M'), (sums, 'K')]), letters([(b_sums, 'K'), (columns, 'N')])];
    let expression = Einsum { operands: operand_letters, result: letters([(to_rows, 'M'), (to_columns, 'N')]) };
    if expression.result.len() != rank {
        return Err(wrong());
    }
    summed(call, operands, &expression)
}

/// Adds the nodes of an expression.
fn summed(call: &mut TranslatedCall, operands: Vec<ModelValue>, expression: &Einsum) -> Translation<Vec<ModelValue>> {
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
    let named = |letter: &char| expression.operands.iter().any(|letters| letters.contains(letter));
    let (result, new): (Vec<char>, Vec<char>) = expression.result.iter().partition(|letter| named(letter));
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
fn equation(operands: &[Vec<char>], result: &[char]) -> Option<String> {
    let mut used: Vec<char> = operands.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let mut free = LETTERS.chars().filter(|letter| !used.contains(letter));
    let mut replaced = Vec::new();
    for letter in used.iter().filter(|letter| !letter.is_ascii_alphabetic()) {
        replaced.push((*letter, free.next()?));
    }
    let written = |letters: &[char]| -> String {
        let new = |letter: &char| replaced.iter().find(|(old, _)| old == letter).map_or(*letter, |(_, new)| *new);
        letters.iter().map(new).collect()
    };
    let parts: Vec<String> = operands.iter().map(|letters| written(letters)).collect();
    Some(format!("{}->{}", parts.join(","), written(result)))
}

/// The matrix product that an expression of two operands is: one letter for rows, one for sums and one for columns,
/// and the others in both operands and in the result. Axes that are in another order are transposed.
fn as_product(call: &mut TranslatedCall, operands: &[ModelValue], expression: &Einsum) -> Option<ModelValue> {
    let ([a, b], [left, right]) = (operands, &expression.operands[..]) else { return None };
    let result = &expression.result;
    let distinct = |letters: &[char]| {
        let mut sorted = letters.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len() == letters.len()
    };
    if ![left, right, result].into_iter().all(|letters| distinct(letters)) {
        return None;
    }
    let only = |letters: &[char], others: [&[char]; 2], within: [bool; 2]| -> Vec<char> {
        let fits = |letter: &&char| others.iter().zip(within).all(|(other, within)| other.contains(letter) == within);
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
    let extent = |value: &ModelValue, letters: &[char]| {
        known_at(value.dims.as_ref()?, letters.iter().position(|letter| *letter == sum)?)
    };
    if extent(a, left) != extent(b, right) {
        return None;
    }
    let order = |from: &[char], last: [char; 2]| -> Option<Vec<usize>> {
        batch.iter().copied().chain(last).map(|letter| from.iter().position(|own| *own == letter)).collect()
    };
    let (of_left, of_right) = (order(left, [row, sum])?, order(right, [sum, column])?);
    let own: Vec<char> = batch.iter().copied().chain([row, column]).collect();
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
        let expression = Einsum::read("aβ,βc->ac").unwrap();
        assert_eq!(equation(&expression.operands, &expression.result).as_deref(), Some("ab,bc->ac"));
    }
}
