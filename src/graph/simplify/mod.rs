//! Simplification of flat graphs: operations whose result is one of their operands go.
//!
//! The [rules](graph_rule_table) have the names of the rules for models of ONNX that do the same. The [pass] applies them to the operations
//! in their order, so that the operands of each are simplified before it.

mod graph_rule_table;
mod pass;
mod step;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use graph_rule_table::RULES;
