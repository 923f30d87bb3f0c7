//! What graphs of documents for certain tools do differently.

/// Conventions of tools that read the document of a graph, beyond the specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Conventions {
    /// Whether the element types of results follow the operands, as in tract: a sum of integers is an integer.
    pub(crate) follows: bool,
    /// Whether standard operations have the deviations of documents with registries.
    pub(crate) deviates: bool,
    /// Whether it is the view of a model of ONNX: operators without a domain are those of ONNX.
    pub(crate) is_view: bool,
}
