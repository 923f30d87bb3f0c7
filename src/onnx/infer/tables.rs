//! The result of inference.

use rustc_hash::FxHashMap;

use super::facts::ValueType;
use crate::graph::names::NameId;

/// The types of the values of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelTypes {
    /// Those of its graph.
    pub(crate) main: GraphTypes,
    /// Those of its functions, by their indices, if they are wanted: what is so in all calls.
    pub(crate) functions: FxHashMap<usize, GraphTypes>,
    /// An upper bound of the memory that they take.
    pub(crate) bytes: u64,
}

/// The place of a graph in a node: the index of the node in its graph, that of the attribute in the node, and the
/// position in the attribute's list (0 for a single graph).
pub(crate) type InnerPlace = (usize, usize, usize);

/// The types of the values that a graph defines, and those of the graphs in its nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphTypes {
    /// The types of inputs, initializers and results.
    pub(crate) values: FxHashMap<NameId, ValueType>,
    /// The types in the graphs of attributes.
    pub(crate) inner: FxHashMap<InnerPlace, GraphTypes>,
}
