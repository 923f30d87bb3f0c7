//! The table of operators.

use super::row::OperatorRow;
use crate::onnx::infer::rules::*;

const fn row(name: &'static str, types: super::row::InferRule) -> OperatorRow {
    OperatorRow::new("", name, types)
}

/// All operators of the standard domains.
pub(super) static OPERATORS: &[OperatorRow] = &[
    row("Abs", elementwise::same).valued(arithmetic::abs),
    row("Add", elementwise::broadcasting).valued(arithmetic::add),
    row("Sub", elementwise::broadcasting).valued(arithmetic::sub),
    row("Relu", elementwise::same),
    row("Identity", elementwise::identity),
    row("Cast", cast::cast).valued(cast::cast_items),
    row("Constant", source::constant),
    row("ConstantOfShape", source::constant_of_shape),
    row("Shape", source::shape),
    row("Range", source::range),
];
