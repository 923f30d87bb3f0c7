//! Repeated structure of flat graphs: which runs of operations are equal, and how calls of bodies replace them.
//!
//! [`Listing`] is what a notation tells of its operations: those of one class are equal but for the values that they
//! use. [`find`] orders the operations (`order`), finds windows that occur several times (`repeats`), determines what
//! their occurrences have in common (`interface`), and replaces those that save most by calls of a body (`rounds`), until
//! nothing saves more. Bodies are searched like the graph, so that calls are nested. A notation makes fragments or
//! functions of the result, an [`OutlinePlan`]; `naming` chooses names for them.

mod interface;
mod listing;
mod naming;
mod order;
mod plan;
mod repeats;
mod rounds;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use listing::{ClassId, Leaf, Listing, OperationClass, ValueId};
pub(crate) use naming::{BodyNames, common_name, identifier, shared_path};
pub(crate) use plan::{OutlinePlan, PlannedBody, PlannedStep, Source};
pub(crate) use rounds::find;
