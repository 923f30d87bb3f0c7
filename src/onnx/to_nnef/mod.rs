//! Translates models to flat graphs of NNEF.
//!
//! A model is expanded and folded first. Then each node becomes operations of NNEF 1.0 by the rule of its operator, or,
//! where NNEF has none, of tract's registries. All extents are known: they are those of the inputs and what follows from
//! them, so that shapes and everything that is computed from shapes are constants here.

mod control;
mod convert;
mod emit;
mod formula;
mod import;
mod item;
mod line;
mod lowering_table;
mod refusal;
mod rules;
mod shape;
#[cfg(test)]
mod tests;
mod variables;

pub(super) use convert::{convert, expanding, lower_compounds};
pub(crate) use variables::NnefVariables;
