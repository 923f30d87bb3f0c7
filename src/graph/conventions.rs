//! What graphs of documents for certain tools do differently.

/// Conventions of the notation or the tool that a graph comes from, beyond the specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Conventions {
    /// Whether the element types of results follow the operands, as in tract: a sum of integers is an integer.
    pub(crate) follows: bool,
    /// Whether standard operations have the deviations of documents with registries.
    pub(crate) deviates: bool,
    /// Whether it is the view of a model of ONNX: operators without a domain are those of ONNX.
    pub(crate) is_view: bool,
    /// Whether it has the operators of PNNX or the layers of ncnn as they are, since nobody asked to lower them.
    pub(crate) keeps_operators: bool,
}
