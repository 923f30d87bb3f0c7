//! Another version of the standard operator set.
//!
//! Each node goes over the changes of its operator between the two versions, one after another, up or down. What most changes
//! do follows from the [difference] of the schemas; a [table](change_table) has those that need more. Operators that a version does not
//! have, or cannot express, are replaced by their standard bodies, and refused if they have none.

mod arithmetic;
mod axes;
mod change_table;
mod convert;
mod difference;
mod freed;
mod pass;
mod recurrent;
mod resize;
mod row;
mod step;
#[cfg(test)]
mod tests;
mod training;
mod values;

pub(in crate::onnx) use convert::convert;
