//! What an operation computes, in a line, from the dictionary of meanings.

use crate::dictionary::{InNnef, Row};

/// What a row says to readers of another notation: the operation of NNEF, or the formula on named operands. None if NNEF
/// cannot express it.
pub(super) fn in_nnef(row: &Row, operands: &[&str]) -> Option<String> {
    match row.nnef {
        InNnef::Operation(name) => Some(format!("In NNEF: `{name}`")),
        InNnef::Formula(_) => formula(row, operands),
        InNnef::Missing => None,
    }
}

/// The formula by which NNEF computes a meaning, on named operands.
pub(super) fn formula(row: &Row, operands: &[&str]) -> Option<String> {
    let InNnef::Formula(text) = row.nnef else { return None };
    let mut text = text.replace(',', ", ");
    for (i, operand) in operands.iter().enumerate().rev() {
        text = text.replace(&format!("@{i}"), operand);
    }
    Some(format!("Computes `{text}`"))
}
