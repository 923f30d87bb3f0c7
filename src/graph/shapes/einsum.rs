//! Einstein summation.

use smallvec::SmallVec;

use super::outcome::{RuleResult, UNKNOWN, known, refuse};
use super::shape::Extent;
use super::shape_call::Call;
use crate::diagnostics::Code;
use crate::extents::{Equation, Formula};
use crate::graph::{Operand, Value};

const CODE: Code = Code::MatmulShapes;

/// The shape of a sum of products.
pub(super) fn einsum(call: &Call) -> RuleResult {
    let Some(equation) = call.text("expr").and_then(Formula::plain) else { return UNKNOWN };
    let Some(shapes) = call.list(0) else { return UNKNOWN };
    let (named, given) = (equation.operands.len(), shapes.len());
    // That of quantized numbers has axes for zero points and scales, too, which are arguments of their own.
    let more = call.named("a_scale").is_some();
    if named < given || named > given && !more {
        let are = if given == 1 { "is" } else { "are" };
        return refuse(CODE, format!("`expr` has axes for {named} operands, {given} {are} given"));
    }
    for (shape, axes) in shapes.iter().zip(&equation.operands) {
        if let Some(shape) = shape.filter(|shape| shape.len() != axes.len()) {
            let axes: String = axes.iter().map(|axis| axis.to_string()).collect();
            return refuse(CODE, format!("`expr` names axes `{axes}` of an operand of shape {shape:?}"));
        }
    }
    summed(&equation, &shapes)
}

/// The shape of the result of an equation for operands of these shapes.
fn summed(equation: &Equation, shapes: &[Option<&[Extent]>]) -> RuleResult {
    let sizes = match equation.sizes(shapes) {
        Ok(sizes) => sizes,
        Err(found) => {
            let [size, extent] = found.sizes;
            return refuse(CODE, format!("axis `{}` has extents {size:?} and {extent:?}", found.axis));
        }
    };
    known(equation.result.iter().map(|axis| sizes.get(axis).cloned().unwrap_or(Extent::UNKNOWN)).collect())
}

/// A matrix product. The argument `axes` specifies the axes of rows and sums of the first operand, sums and
/// columns of the second one, and rows and columns of the result.
pub(super) fn product(call: &Call) -> RuleResult {
    let (Some(a), Some(b)) = (call.extents(0), call.extents(1)) else { return UNKNOWN };
    if a.len() != b.len() {
        return refuse(CODE, format!("both operands need the same rank, these have shapes {a:?} and {b:?}"));
    }
    let Some(Operand::Value(Value::Integers(items))) = call.named("axes") else { return UNKNOWN };
    let axis = |&item: &i64| usize::try_from(item).ok().filter(|axis| *axis < a.len()).ok_or(item);
    let axes = items.iter().map(axis).collect::<Result<SmallVec<[usize; 6]>, i64>>();
    let axes = axes.or_else(|axis| refuse(CODE, format!("the operands of rank {} have no axis {axis}", a.len())))?;
    let Some(equation) = Equation::of_matrices(&axes, a.len()) else {
        return refuse(CODE, format!("`axes` has {} items, 6 are needed", axes.len()));
    };
    summed(&equation, &[Some(a), Some(b)])
}
