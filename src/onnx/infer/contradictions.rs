//! What contradicts itself in a model: operands that do not go together, and results that are not as they are declared.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::model::NodeProto;
use crate::onnx::walk::each_node;

/// The most contradictions that are kept; further ones are only counted.
const MAX_KEPT: usize = 256;

/// A node that fails when it runs, or whose result is not what the model declares.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction {
    pub(crate) code: Code,
    pub(crate) at: u32,
    pub(crate) message: String,
    /// The value that is not as it is declared.
    pub(crate) value: Option<NameId>,
    /// The open calls, the outermost first: the function, and the location of the call.
    pub(crate) calls: SmallVec<[(usize, u32); 2]>,
    /// The values that decide whether the node runs; none if it does.
    pub(crate) deciding: Option<Vec<NameId>>,
}

/// A point in the sequence of contradictions.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContradictionMark {
    kept: usize,
    certain: u64,
}

/// The contradictions so far.
#[derive(Debug, Default)]
pub(super) struct Contradictions {
    kept: Vec<Contradiction>,
    /// The number of those in nodes that run.
    certain: u64,
    calls: SmallVec<[(usize, u32); 2]>,
}

impl Contradictions {
    /// Adds one in a node that runs.
    pub(super) fn add(&mut self, code: Code, at: u32, message: String) {
        self.add_about(code, None, at, message);
    }

    /// [`Self::add`], about a value.
    pub(super) fn add_about(&mut self, code: Code, value: Option<NameId>, at: u32, message: String) {
        self.certain += 1;
        if self.kept.len() < MAX_KEPT {
            let calls = self.calls.clone();
            self.kept.push(Contradiction { code, at, message, value, calls, deciding: None });
        }
    }

    pub(super) fn mark(&self) -> ContradictionMark {
        ContradictionMark { kept: self.kept.len(), certain: self.certain }
    }

    /// Whether nodes that run contradict something since a mark.
    pub(super) fn grew_since(&self, mark: ContradictionMark) -> bool {
        self.certain > mark.certain
    }

    /// Whether there are some since a mark, in nodes that may not run, too.
    pub(super) fn has_since(&self, mark: ContradictionMark) -> bool {
        self.grew_since(mark) || self.kept.len() > mark.kept
    }

    /// Removes those since a mark, and returns them.
    pub(super) fn take_since(&mut self, mark: ContradictionMark) -> Vec<Contradiction> {
        self.certain = mark.certain;
        // Most graphs have none, and splitting takes memory also for none.
        if self.kept.len() <= mark.kept { Vec::new() } else { self.kept.split_off(mark.kept) }
    }

    /// Adds those of a graph that runs.
    pub(super) fn put(&mut self, found: Vec<Contradiction>) {
        self.certain += found.iter().filter(|each| each.deciding.is_none()).count() as u64;
        let room = MAX_KEPT.saturating_sub(self.kept.len());
        self.kept.extend(found.into_iter().take(room));
    }

    /// Adds those of a graph that may run, which these values decide.
    pub(super) fn put_open(&mut self, mut found: Vec<Contradiction>, deciding: &[NameId]) {
        for each in &mut found {
            each.deciding.get_or_insert_with(|| deciding.to_vec());
        }
        self.put(found);
    }

    /// Enters a call of a function.
    pub(super) fn enter(&mut self, function: usize, at: u32) {
        self.calls.push((function, at));
    }

    /// Leaves a call. What decides there is computed from operands of the call.
    pub(super) fn leave(&mut self, mark: ContradictionMark, lifted: impl Fn(&[NameId]) -> Vec<NameId>) {
        self.calls.pop();
        let found = self.kept.iter_mut().skip(mark.kept).filter_map(|each| each.deciding.as_mut());
        found.for_each(|deciding| *deciding = lifted(deciding));
    }

    pub(super) fn finish(self) -> Vec<Contradiction> {
        self.kept
    }
}

/// Which of the inputs values are computed from, as positions.
pub(crate) fn sources(nodes: &[NodeProto], inputs: &[NameId], values: &[NameId]) -> Vec<usize> {
    let mut made: FxHashMap<NameId, Vec<NameId>> = FxHashMap::default();
    each_node(nodes, &mut |node| {
        node.outputs.iter().for_each(|output| _ = made.insert(*output, node.inputs.to_vec()));
    });
    let mut open = values.to_vec();
    let mut seen: FxHashSet<NameId> = FxHashSet::default();
    while let Some(name) = open.pop() {
        if name != NameId::ROOT && seen.insert(name) {
            open.extend(made.get(&name).into_iter().flatten());
        }
    }
    (0..inputs.len()).filter(|at| seen.contains(&inputs[*at])).collect()
}
