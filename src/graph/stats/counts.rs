//! The numbers of statistics.

use serde_json::{Value, json};

use super::amount::Amount;

/// What is counted for an operation, a module, or a whole graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The number of operations.
    pub(crate) operations: u64,
    /// The number of items of all variables.
    pub(crate) parameters: Amount,
    /// The bytes of all variables: of their data, else of the element types that they declare. A number of NNEF without
    /// data has four bytes, a logical has one.
    pub(crate) bytes: Amount,
    /// The number of multiplications whose results are added up; see `products.rs`.
    pub(crate) multiply_adds: Amount,
    /// The number of items of the results of operations, without weights and constants.
    pub(crate) activations: Amount,
}

impl Counts {
    /// Adds other numbers.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.operations = self.operations.saturating_add(other.operations);
        self.parameters.add(&other.parameters);
        self.bytes.add(&other.bytes);
        self.multiply_adds.add(&other.multiply_adds);
        self.activations.add(&other.activations);
    }

    /// Adds the sums to fields of JSON, and the names of those that are the least, with others.
    pub(super) fn push_json(&self, fields: &mut Value, least: Option<&'static str>) {
        let Some(fields) = fields.as_object_mut() else { return };
        let sums = [
            ("parameters", &self.parameters),
            ("bytes", &self.bytes),
            ("multiply_adds", &self.multiply_adds),
            ("activations", &self.activations),
        ];
        let at_least = sums.iter().filter(|(_, sum)| sum.is_least()).map(|(name, _)| *name).chain(least);
        fields.insert("at_least".to_owned(), json!(at_least.collect::<Vec<_>>()));
        fields.extend(sums.map(|(name, sum)| (name.to_owned(), sum.json())));
    }
}
