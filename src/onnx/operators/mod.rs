//! The operators of the standard domains: one row for each, with what the rest of the crate does with it.

mod operator_table;
mod row;
#[cfg(test)]
mod tests;

pub(in crate::onnx) use super::auto_pad::AutoPad;
#[cfg(test)]
pub(crate) use row::rows;
pub(crate) use row::{OperatorRow, row_of};
