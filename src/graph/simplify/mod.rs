//! Simplification of flat graphs: operations whose result is one of their operands go.
//!
//! The [rules](table) have the names of the rules for models of ONNX that do the same. The [pass] applies them to the operations
//! in their order, so that the operands of each are simplified before it.

mod pass;
mod step;
mod table;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use table::RULES;
