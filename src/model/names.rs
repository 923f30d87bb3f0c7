//! The names of files that have a meaning in a model.

/// The name of the text of the graph.
pub(crate) const GRAPH: &str = "graph.nnef";

/// The name of the text of the quantizations.
pub(crate) const QUANT: &str = "graph.quant";

/// The extension of data files.
pub(crate) const DATA: &str = ".dat";
