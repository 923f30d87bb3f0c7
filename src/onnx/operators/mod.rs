//! The operators of the standard domains: one row for each, with what the rest of the crate does with it.

mod row;
mod table;
#[cfg(test)]
mod tests;

pub(in crate::onnx) use super::auto_pad::AutoPad;
#[cfg(test)]
pub(crate) use row::rows;
pub(crate) use row::{OperatorRow, row_of};
