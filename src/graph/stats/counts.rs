//! The numbers of statistics.

/// What is counted for an operation, a module, or a whole graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The number of operations.
    pub(crate) operations: u64,
    /// The number of items of all variables.
    pub(crate) parameters: u64,
    /// The bytes of all variables: of their data, else of the element types that they declare. A number of NNEF without
    /// data has four bytes, a logical has one.
    pub(crate) bytes: u64,
    /// The number of multiplications whose results are added up; see `products.rs`.
    pub(crate) multiply_adds: u64,
    /// The number of items of the results of operations, without weights and constants.
    pub(crate) activations: u64,
}

impl Counts {
    /// Adds other numbers.
    pub(crate) fn add(&mut self, other: Counts) {
        self.operations = self.operations.saturating_add(other.operations);
        self.parameters = self.parameters.saturating_add(other.parameters);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.multiply_adds = self.multiply_adds.saturating_add(other.multiply_adds);
        self.activations = self.activations.saturating_add(other.activations);
    }
}
