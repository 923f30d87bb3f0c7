//! Numbers that bodies are written for.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};

/// The most axes that are listed.
const MAX_RANK: i64 = 64;

/// The axes from one that is counted from the end to the last one.
pub(super) fn negative_axes(first: i64) -> Build<String> {
    if !(-MAX_RANK..0).contains(&first) {
        return Err(NotKnown);
    }
    Ok((first..0).map(|axis| axis.to_string()).collect::<Vec<_>>().join(", "))
}

/// The largest number of heads, rows and items that bodies are written for.
const MAX_EXTENT: i64 = i32::MAX as i64;

/// A number that sums and products of a few fit in 64 bits with; none if it is negative or too large.
pub(super) fn bounded(number: i64) -> Build<i64> {
    if (0..=MAX_EXTENT).contains(&number) { Ok(number) } else { Err(NotKnown) }
}

/// An extent of an operand that is known.
pub(super) fn extent(call: &StandardCall, operand: usize, axis: usize) -> Build<i64> {
    bounded(call.extent(operand, axis)?)
}
