//! The operators of the standard domains: one row for each, with what the rest of the crate does with it.

pub(in crate::onnx) mod recurrent;
mod row;
mod table;
#[cfg(test)]
mod tests;
mod windows;

#[cfg(test)]
pub(crate) use row::rows;
pub(crate) use row::{OperatorRow, row_of};
pub(in crate::onnx) use windows::AutoPad;
