//! Optimizers and gradients.

use crate::onnx::infer::InferCall;

/// `Adagrad`, `Adam`, `Momentum`: the new tensors, then the new states; `lists` lists of operands follow the two
/// numbers, and the gradients are the second one of them.
pub(crate) fn optimizer(call: &mut InferCall, lists: usize) -> Option<()> {
    let count = call.operand_count().checked_sub(2)?.checked_div(lists)?;
    for result in 0..call.result_count() {
        let list = result.checked_div(count)?;
        let of = if list == 0 { 0 } else { list + 1 };
        let operand = 2 + of * count + result % count;
        if let Some(element) = call.element(operand) {
            call.give_element(result, element);
        }
        if let Some(shape) = call.shape(operand) {
            call.give(result, shape);
        }
    }
    Some(())
}

/// `Adagrad` and `Momentum`: tensors, gradients, one state.
pub(crate) fn one_state(call: &mut InferCall) -> Option<()> {
    optimizer(call, 3)
}

/// `Gradient`: each result is of the type of the operand that it belongs to.
pub(crate) fn gradient(call: &mut InferCall) -> Option<()> {
    for result in 0..call.result_count() {
        if let Some(element) = call.element(result) {
            call.give_element(result, element);
        }
        if let Some(shape) = call.shape(result) {
            call.give(result, shape);
        }
    }
    Some(())
}
