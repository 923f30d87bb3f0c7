//! Compares the operations that belong together, and reports those without a counterpart.

mod arguments;
mod kept;

use rustc_hash::FxHashSet;

use super::difference::{ChangedOperation, Compared, DiffChange, Difference, What};
use super::ends::EndPairs;
use super::hashes::{GraphHashes, OperandPlace};
use super::matching::Matching;
use super::report;
use crate::Graph;
use crate::graph::names::Spellings;
use crate::graph::{OperationId, TensorId};
use crate::source::places::Places;

/// The differences between two graphs.
pub(super) fn find(sides: &[Compared; 2], hashes: &[GraphHashes; 2], matching: &Matching) -> Difference {
    let graphs = [sides[0].graph, sides[1].graph];
    let mut finder = Finder {
        sides,
        hashes,
        matching,
        found: Vec::new(),
        difference: Difference { operations: [hashes[0].len(), hashes[1].len()], ..Difference::default() },
        slots: Default::default(),
        touched: FxHashSet::default(),
    };
    let inputs = EndPairs::inputs(graphs);
    let outputs = EndPairs::outputs(graphs);
    finder.inputs(&inputs);
    finder.pairs();
    finder.alone(&inputs);
    finder.outputs(&outputs);
    finder.fragments();
    finder.renamed();
    let Finder { mut found, mut difference, .. } = finder;
    found.sort_by_key(|(key, _)| *key);
    difference.changes = found.into_iter().map(|(_, change)| change).collect();
    place(sides, &mut difference);
    difference
}

/// Where a change stands in the report: inputs, operations in the order of the first graph, outputs; then the order in
/// which they are found.
type ReportKey = (u8, usize, u8, usize);

struct Finder<'s, 'g> {
    sides: &'s [Compared<'g>; 2],
    hashes: &'s [GraphHashes<'g>; 2],
    matching: &'s Matching,
    found: Vec<(ReportKey, DiffChange)>,
    difference: Difference,
    /// The operands of the current pair.
    slots: [Vec<OperandPlace>; 2],
    /// The tensors of the first graph that are computed from what has changed.
    touched: FxHashSet<TensorId>,
}

/// What a change says, without its operations.
struct Told {
    what: What,
    part: String,
    old: Option<String>,
    new: Option<String>,
}

impl Told {
    fn new(
        what: What,
        part: impl Into<String>,
        old: impl Into<Option<String>>,
        new: impl Into<Option<String>>,
    ) -> Self {
        Told { what, part: part.into(), old: old.into(), new: new.into() }
    }
}

impl<'g> Finder<'_, 'g> {
    fn graph(&self, side: usize) -> &'g Graph {
        self.sides[side].graph
    }

    fn report(&mut self, section: u8, at: usize, after: u8, operations: [Option<usize>; 2], told: Told) {
        let Told { what, part, old, new } = told;
        let mut module = String::new();
        let changed = [0, 1].map(|side| {
            let graph = self.graph(side);
            let operation = graph.operations.get(operations[side]?)?;
            let id = OperationId::at(operations[side]?);
            if module.is_empty() {
                module = graph.module(id).unwrap_or_default();
            }
            let result =
                graph.tensors_of(operation).next().map_or_else(String::new, |tensor| graph.tensor_name(tensor));
            let name = graph.operation_name(operation).to_owned();
            Some(ChangedOperation { id, name, result, at: operation.at, place: None })
        });
        let key = (section, at, after, self.found.len());
        self.found.push((key, DiffChange { what, module, operations: changed, part, old, new, largest: None }));
    }

    /// Inputs: their names, their order, and their types if no operation has them.
    fn inputs(&mut self, inputs: &EndPairs) {
        self.ends(What::Input, inputs);
        for (i, j) in &inputs.pairs {
            let ends = [self.graph(0).inputs[*i], self.graph(1).inputs[*j]];
            if [0, 1].iter().any(|side| self.hashes[*side].producer(ends[*side]).is_some()) {
                continue;
            }
            if self.differ_in_type(ends) {
                self.touched.insert(ends[0]);
            }
            for (what, old, new) in self.types(ends) {
                self.report(0, *i, 1, [None, None], Told::new(what, inputs.names[0][*i].clone(), old, new));
            }
        }
    }

    fn outputs(&mut self, outputs: &EndPairs) {
        self.ends(What::Output, outputs);
        for (i, j) in &outputs.pairs {
            let (x, y) = (self.graph(0).outputs[*i], self.graph(1).outputs[*j]);
            if self.matching.is_same(self.hashes, x, y) || self.is_implied(x, y) {
                continue;
            }
            let producers = [self.hashes[0].producer(x), self.hashes[1].producer(y)];
            let told = Told::new(What::Output, outputs.names[0][*i].clone(), self.made_by(0, x), self.made_by(1, y));
            self.report(2, *i, 1, producers, told);
        }
    }

    /// What an output is, for messages.
    fn made_by(&self, side: usize, tensor: TensorId) -> String {
        match self.graph(side).maker(tensor) {
            Some(operation) => format!("result of {}", self.graph(side).operation_name(operation)),
            None => "an input".to_owned(),
        }
    }

    /// Inputs or outputs that have other names, another order, or no counterpart.
    fn ends(&mut self, what: What, ends: &EndPairs) {
        let section = if what == What::Input { 0 } else { 2 };
        let producers = |finder: &Self, side: usize, at: usize| {
            let graph = finder.graph(side);
            let tensors = if what == What::Input { &graph.inputs } else { &graph.outputs };
            finder.hashes[side].producer(tensors[at])
        };
        for (i, j) in &ends.pairs {
            let (old, new) = (&ends.names[0][*i], &ends.names[1][*j]);
            if old != new {
                let operations = [producers(self, 0, *i), producers(self, 1, *j)];
                let told = Told::new(what, old.clone(), old.clone(), new.clone());
                self.report(section, *i, 0, operations, told);
            }
        }
        if ends.is_reordered() {
            let [old, new] = [0, 1].map(|side| report::list(&ends.names[side]));
            self.report(section, 0, 0, [None, None], Told::new(what, "order", old, new));
        }
        for at in &ends.alone[0] {
            let name = ends.names[0][*at].clone();
            let told = Told::new(what, name.clone(), name, None);
            self.report(section, *at, 0, [producers(self, 0, *at), None], told);
        }
        for at in &ends.alone[1] {
            let name = ends.names[1][*at].clone();
            let told = Told::new(what, name.clone(), None, name);
            self.report(section, *at, 0, [None, producers(self, 1, *at)], told);
        }
    }

    /// The shape and the element type of two tensors, if they differ.
    fn types(&self, [x, y]: [TensorId; 2]) -> Vec<(What, String, String)> {
        let (a, b) = (self.graph(0), self.graph(1));
        let mut differ = Vec::new();
        if a.shape(x) != b.shape(y) {
            let [old, new] = [(a, x), (b, y)].map(|(graph, tensor)| match graph.shape(tensor) {
                Some(shape) => format!("{:?}", shape.extents()),
                None => "unknown".to_owned(),
            });
            differ.push((What::Shape, old, new));
        }
        let [old, new] = [a.element_type(x), b.element_type(y)];
        if old != new {
            let [old, new] = [old, new].map(|element| element.unwrap_or("unknown").to_owned());
            differ.push((What::ElementType, old, new));
        }
        differ
    }

    fn differ_in_type(&self, [x, y]: [TensorId; 2]) -> bool {
        let (a, b) = (self.graph(0), self.graph(1));
        a.shape(x) != b.shape(y) || a.element_type(x) != b.element_type(y)
    }

    /// The operations that belong together.
    fn pairs(&mut self) {
        for i in 0..self.hashes[0].len() {
            if let Some(j) = self.matching.counterpart(0, i) {
                self.pair(i, j);
            }
        }
    }

    fn pair(&mut self, i: usize, j: usize) {
        let (a, b) = (&self.hashes[0], &self.hashes[1]);
        let same_label = a.label[i] == b.label[j];
        let (mut is_changed, mut follows) = (!same_label, false);
        if !same_label || a.above[i] != b.above[j] && !self.has_same_operands(i, j) {
            is_changed |= self.arguments(i, j, same_label);
        }
        if !same_label {
            self.other_parts(i, j);
        }
        let results = [(0, i), (1, j)].map(|(side, at)| {
            let graph = self.graph(side);
            graph.tensors_of(&graph.operations[at]).collect::<smallvec::SmallVec<[TensorId; 2]>>()
        });
        for (x, y) in results[0].iter().zip(&results[1]) {
            let ends = [*x, *y];
            if !self.differ_in_type(ends) {
                continue;
            }
            let types = self.types(ends);
            follows = true;
            if is_changed || self.is_touched(i) || self.operands_differ_in_type(i, j) {
                self.difference.following += types.len();
                continue;
            }
            let name = self.graph(0).tensor_name(*x);
            for (what, old, new) in types {
                self.report(1, i, 0, [Some(i), Some(j)], Told::new(what, name.clone(), old, new));
            }
            is_changed = true;
        }
        self.data(i, j, is_changed);
        if is_changed || follows || self.is_touched(i) {
            self.touched.extend(results[0].iter().copied());
        }
    }

    /// Whether an operand of an operation of the first graph is touched by changes.
    fn is_touched(&self, i: usize) -> bool {
        let mut touched = false;
        if !self.touched.is_empty() {
            let graph = self.graph(0);
            graph.each_operand_tensor(&graph.operations[i], |tensor| touched |= self.touched.contains(&tensor));
        }
        touched
    }

    /// The data behind operations.
    fn data(&mut self, i: usize, j: usize, is_changed: bool) {
        let digest = |side: usize, at: usize| self.sides[side].digests.get(&OperationId::at(at));
        match (digest(0, i), digest(1, j)) {
            // Data of another type or shape follow from another change.
            (Some(old), Some(new)) if old != new && !(is_changed && old.form != new.form) => {
                let forms = (old.form != new.form).then(|| (old.form.clone(), new.form.clone()));
                let (old, new) = forms.unzip();
                self.report(1, i, 0, [Some(i), Some(j)], Told::new(What::Data, "", old, new));
            }
            (Some(_), None) | (None, Some(_)) => self.difference.unknown_data += 1,
            _ => {}
        }
    }

    fn operands_differ_in_type(&mut self, i: usize, j: usize) -> bool {
        self.fill_slots(i, j);
        let [x, y] = &self.slots;
        x.iter().zip(y).any(|((_, x), (_, y))| self.differ_in_type([*x, *y]))
    }

    /// The type argument and the structure of results.
    fn other_parts(&mut self, i: usize, j: usize) {
        let (a, b) = (&self.graph(0).operations[i], &self.graph(1).operations[j]);
        let (old, new) = (a.dtype(), b.dtype());
        if old != new {
            let [old, new] = [old, new].map(|dtype| dtype.map(|dtype| dtype.text().to_owned()));
            self.report(1, i, 0, [Some(i), Some(j)], Told::new(What::Attribute, "type", old, new));
        }
        let [old, new] = [(0, a), (1, b)].map(|(side, of)| self.graph(side).tensors_of(of).count());
        if old != new {
            let told = Told::new(What::Results, "", old.to_string(), new.to_string());
            self.report(1, i, 0, [Some(i), Some(j)], told);
        }
    }

    /// Notes the operands of a pair.
    fn fill_slots(&mut self, i: usize, j: usize) {
        for (side, at) in [(0, i), (1, j)] {
            let of = &self.hashes[side];
            of.slots(&of.graph.operations[at], &mut self.slots[side]);
        }
    }

    /// Operations without a counterpart. Those that are inputs are reported as such.
    fn alone(&mut self, inputs: &EndPairs) {
        let reported: [FxHashSet<usize>; 2] = [0, 1].map(|side| {
            let inputs = inputs.alone[side].iter().map(|at| self.graph(side).inputs[*at]);
            inputs.filter_map(|input| self.hashes[side].producer(input)).collect()
        });
        for i in (0..self.hashes[0].len()).filter(|i| !reported[0].contains(i)) {
            if self.matching.counterpart(0, i).is_none() {
                self.report(1, i, 0, [Some(i), None], Told::new(What::Removed, "", None, None));
            }
        }
        // An added operation stands after the one before it.
        let mut before = 0;
        for j in 0..self.hashes[1].len() {
            match self.matching.counterpart(1, j) {
                Some(i) => {
                    before = i;
                    // Those that were removed there stand first.
                    while before + 1 < self.hashes[0].len() && self.matching.counterpart(0, before + 1).is_none() {
                        before += 1;
                    }
                }
                None if reported[1].contains(&j) => {}
                None => self.report(1, before, 1, [None, Some(j)], Told::new(What::Added, "", None, None)),
            }
        }
    }

    /// Counts the results of operations that have other names, and notes them.
    fn renamed(&mut self) {
        let (a, b) = (self.graph(0), self.graph(1));
        let mut spellings = [Spellings::new(&a.names, &a.symbols), Spellings::new(&b.names, &b.symbols)];
        let ends: [FxHashSet<TensorId>; 2] =
            [a, b].map(|graph| graph.inputs.iter().chain(&graph.outputs).copied().collect());
        for i in 0..self.hashes[0].len() {
            let Some(j) = self.matching.counterpart(0, i) else { continue };
            for (x, y) in a.tensors_of(&a.operations[i]).zip(b.tensors_of(&b.operations[j])) {
                let [first, second] = &mut spellings;
                let (old, new) = (first.spell(a.name_of(x)), second.spell(b.name_of(y)));
                if old != new && !ends[0].contains(&x) && !ends[1].contains(&y) {
                    self.difference.renamed += 1;
                    self.difference.renames.push((old.to_owned(), new.to_owned()));
                }
            }
        }
    }
}

/// Adds the places of operations in their texts.
fn place(sides: &[Compared; 2], difference: &mut Difference) {
    for (side, compared) in sides.iter().enumerate() {
        let Some(sources) = compared.sources else { continue };
        let all = difference.changes.iter().filter_map(|change| change.operations[side].as_ref());
        let places = Places::new(sources, all.map(|operation| operation.at));
        for operation in difference.changes.iter_mut().filter_map(|change| change.operations[side].as_mut()) {
            let file = sources.file(operation.at.file);
            let position = (!file.is_binary()).then(|| places.start(operation.at));
            operation.place = Some((file.name().to_owned(), position));
        }
    }
}
