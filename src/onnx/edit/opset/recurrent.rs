//! Recurrent layers.

use super::step::{OpsetStep, Stepped, ints_value};
use crate::onnx::model::AttributeValue;

pub(super) fn sequence_down(step: &mut OpsetStep) -> Stepped {
    if step.has_result(0) {
        step.put("output_sequence", AttributeValue::Int(1));
    }
    Ok(())
}

/// The order of axes with the batch first, and that with the batch second: of operands and states, and of all results.
const BATCH_SECOND: [i64; 3] = [1, 0, 2];
const BATCH_FIRST: [i64; 4] = [2, 0, 1, 3];

/// The operands that have a batch: the sequence, and the initial states.
const BATCHED: [usize; 3] = [0, 5, 6];

/// Moves the batch, which was always the second axis.
pub(super) fn layout_down(step: &mut OpsetStep) -> Stepped {
    if step.take_int("layout", 0)? == 0 {
        return Ok(());
    }
    let perm = |order: &[i64]| vec![("perm", ints_value(order.iter().copied()))];
    for at in BATCHED {
        if let Some(operand) = step.operand(at) {
            let moved = step.add("Transpose", &[operand], perm(&BATCH_SECOND));
            step.give(at, moved);
        }
    }
    step.then(0, "Transpose", &[], perm(&BATCH_FIRST));
    step.then(1, "Transpose", &[], perm(&BATCH_SECOND));
    step.then(2, "Transpose", &[], perm(&BATCH_SECOND));
    Ok(())
}
