//! The functions of a model: which one a node calls, what an expansion of the calls would take, which operator sets they
//! import, and what is found at nodes in them.

mod call_graph;
mod finding;
mod lookup;
mod marks;
mod opsets;

pub(super) use call_graph::{NAME, Size};
pub(super) use finding::NodeFinding;
pub(super) use lookup::{EACH, FunctionKey, Functions, is_kept, is_lowered};
pub(super) use marks::NameMarks;
pub(super) use opsets::Imports;
