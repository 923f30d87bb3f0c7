//! What is compared, and what differs.

use rustc_hash::FxHashMap;

use crate::Graph;
use crate::graph::{OperationId, TensorId};
use crate::source::{Location, Position, Sources};

/// One of two graphs that are compared.
pub(crate) struct Compared<'g> {
    pub(crate) graph: &'g Graph,
    /// The texts in which its operations have their places, if they are told.
    pub(crate) sources: Option<&'g Sources>,
    /// The digests of the data behind operations.
    pub(crate) digests: FxHashMap<OperationId, DataDigest>,
}

impl<'g> Compared<'g> {
    /// A graph alone.
    pub(super) fn of(graph: &'g Graph) -> Self {
        Compared { graph, sources: None, digests: FxHashMap::default() }
    }
}

/// Stands for the data of a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DataDigest {
    /// Its type and shape, such as `float32[2, 3]`.
    pub(crate) form: String,
    /// The checksum of its elements.
    pub(crate) sum: [u8; 32],
}

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum What {
    Added,
    Removed,
    Attribute,
    Operand,
    Results,
    Shape,
    ElementType,
    Data,
    Input,
    Output,
    Fragment,
}

impl What {
    /// Its name for programs.
    pub(super) fn word(self) -> &'static str {
        match self {
            What::Added => "added",
            What::Removed => "removed",
            What::Attribute => "attribute",
            What::Operand => "operand",
            What::Results => "results",
            What::Shape => "shape",
            What::ElementType => "element_type",
            What::Data => "data",
            What::Input => "input",
            What::Output => "output",
            What::Fragment => "fragment",
        }
    }
}

/// An operation of a change, in one of the graphs.
#[derive(Clone, Debug)]
pub(crate) struct ChangedOperation {
    pub(crate) id: OperationId,
    /// Its kind.
    pub(super) name: String,
    /// The name of its first result; empty if it has none.
    pub(super) result: String,
    pub(super) at: Location,
    /// The name of its file, and the place there unless it is a binary file.
    pub(super) place: Option<(String, Option<Position>)>,
}

/// A difference between two graphs.
#[derive(Clone, Debug)]
pub(crate) struct DiffChange {
    pub(crate) what: What,
    /// The module or the calls around the operation, the outermost first, joined by `/`.
    pub(super) module: String,
    /// The operation in each of the graphs, if it is about one.
    pub(crate) operations: [Option<ChangedOperation>; 2],
    /// The attribute, operand, result, input or output.
    pub(super) part: String,
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
    /// The largest difference between the items of data, if it was asked for and exists.
    pub(crate) largest: Option<f64>,
}

/// Finds the tensors that changes between two graphs are about.
pub(crate) struct ChangedTensors<'g> {
    graphs: [&'g Graph; 2],
    /// The inputs and outputs of each graph by their names.
    ends: [FxHashMap<String, TensorId>; 2],
}

impl<'g> ChangedTensors<'g> {
    pub(crate) fn new(graphs: [&'g Graph; 2]) -> Self {
        let ends = graphs.map(|graph| {
            let ends = graph.inputs.iter().chain(&graph.outputs);
            ends.map(|tensor| (graph.tensor_name(*tensor), *tensor)).collect()
        });
        ChangedTensors { graphs, ends }
    }

    /// In each graph, the first result of the operation that a change is about, or the input or output.
    pub(crate) fn of(&self, change: &DiffChange) -> [Option<TensorId>; 2] {
        let is_end = matches!(change.what, What::Input | What::Output);
        let is_alone = change.operations.iter().all(Option::is_none);
        let of = |side: usize| {
            let graph = self.graphs[side];
            if let Some(changed) = &change.operations[side] {
                let operation = &graph.operations[changed.id.index()];
                return graph.outputs_of(operation).find_map(|output| output.tensors().first().copied());
            }
            let name = if is_end { [&change.old, &change.new][side].as_ref() } else { Some(&change.part) };
            name.filter(|_| is_alone).and_then(|name| self.ends[side].get(name).copied())
        };
        [of(0), of(1)]
    }
}

/// What differs between two flat graphs.
///
/// Its text has a line for each change, grouped by the modules around the operations, and a line that sums up.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// What has to be known about the comparison, such as translations.
    pub(crate) notes: Vec<String>,
    pub(crate) changes: Vec<DiffChange>,
    /// The numbers of operations.
    pub(super) operations: [usize; 2],
    /// The number of inner tensors that have other names, and their names if they were asked for.
    pub(super) renamed: usize,
    pub(crate) renames: Vec<(String, String)>,
    /// The number of shapes and element types that differ because of the changes.
    pub(super) following: usize,
    /// The number of constants whose data are known on one side only.
    pub(super) unknown_data: usize,
}

impl Difference {
    /// Whether the graphs are equal up to the names of inner tensors.
    pub fn is_equal(&self) -> bool {
        self.changes.is_empty()
    }

    /// The number of changes.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether there are no changes, as [`Difference::is_equal`].
    pub fn is_empty(&self) -> bool {
        self.is_equal()
    }
}
