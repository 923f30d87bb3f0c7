//! Deviations: standard operations that mean something else in documents with tract's registries.
//!
//! tract 0.23.9 reads some operations of the standard differently than the standard defines them. In a document
//! with a registry they mean what tract computes: the rules for shapes and the evaluator look here, and
//! `nnef/standardize` translates the operations for notations without registries. The deviations are columns of the
//! dictionary, facts about tract;
//! `tests/interop/registry_standard.py` compares each of them with it. What is not listed is equal, or tract refuses it.
//!
//! Not followed are approximations: tract's `sigmoid` and `tanh` of NaN are numbers, and reductions skip NaN.

use rustc_hash::FxHashSet;

use super::{Graph, Kind};
use crate::dictionary::{self, Deviation, NearOperation, Row, Vocabulary};

/// The deviations of compounds that no longer compute what their definitions say: they are not expanded.
const WITHOUT_DEFINITION: &[Deviation] = &[Deviation::PlaneIndex, Deviation::NumberBeforeNan, Deviation::SquareRoot];

/// The spelling of the border `replicate` in [`Deviation::Replicated`].
pub(crate) const REPLICATED: &str = "replicated";

/// Whether a compound cannot be expanded in documents with registries.
pub(crate) fn has_no_definition(name: &str) -> bool {
    let row = dictionary::find(Vocabulary::InRegistries, name);
    row.is_some_and(|row| WITHOUT_DEFINITION.iter().any(|deviation| row.deviates(*deviation)))
}

impl Graph {
    /// What operations of a kind mean; none if the dictionary does not have it.
    pub(crate) fn meaning(&self, kind: &Kind) -> Option<&'static Row> {
        let vocabulary = match (kind.standard, self.conventions.deviates) {
            (true, false) => Vocabulary::Standard,
            (true, true) => Vocabulary::InRegistries,
            (false, _) => Vocabulary::Vendor,
        };
        dictionary::find(vocabulary, self.text_of(kind.name))
    }

    /// The operations of this graph that are written for others, each once in the order of their names.
    pub(crate) fn near_operations(&self) -> Vec<NearOperation> {
        let mut found: Vec<_> = dictionary::all().filter_map(|row| row.near).collect();
        found.sort_by_key(|near| near.name);
        found.dedup_by_key(|near| near.name);
        let names: FxHashSet<&str> = self.operations.iter().map(|operation| self.operation_name(operation)).collect();
        found.retain(|near| names.contains(near.name));
        found
    }

    /// Whether operations of a kind have a deviation in this graph.
    #[inline]
    pub(crate) fn deviates(&self, kind: &Kind, deviation: Deviation) -> bool {
        self.conventions.deviates && kind.standard && self.meaning(kind).is_some_and(|row| row.deviates(deviation))
    }
}
