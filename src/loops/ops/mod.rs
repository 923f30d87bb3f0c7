//! The operations of layers: a table with type rule, computation and lowering of each.

mod attributes;
mod compute;
mod op;
mod op_table;
mod spec;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use attributes::{Attributes, Field};
pub(crate) use op::Op;
pub(crate) use spec::{Lowering, TypedCall};
pub(crate) use types::{Section, axis_of, order, reduced_axes, sections};

use spec::OpResult;
