//! Names of fragments and of their tensors.

use rustc_hash::FxHashSet;

use crate::graph::names::Spellings;
use crate::graph::{Graph, Operation, OperationId, TensorId};
use crate::outline::{
    BodyNames, OutlinePlan, PlannedBody, PlannedStep, Source, ValueId, common_name, identifier, shared_path,
};

/// What fragments without a module or call are called.
const FRAGMENT: &str = "part";
/// What parameters without a common name are called.
const PARAMETER: &str = "x";

/// Chooses names.
pub(super) struct Naming<'g> {
    graph: &'g Graph,
    spellings: Spellings<'g>,
    fragments: BodyNames,
    /// The words that values of the graph and built-in functions use.
    words: FxHashSet<String>,
    reserved: &'g dyn Fn(&str) -> bool,
}

impl<'g> Naming<'g> {
    pub(super) fn new(graph: &'g Graph, reserved: &'g dyn Fn(&str) -> bool) -> Self {
        let mut fragments = BodyNames::default();
        graph.kinds.iter().for_each(|kind| fragments.reserve(graph.text_of(kind.name)));
        let words = graph.reserved_words();
        words.iter().for_each(|word| fragments.reserve(word));
        for fragment in &graph.fragments {
            fragments.reserve(fragment.declared_name());
        }
        Naming { graph, spellings: Spellings::new(&graph.names, &graph.symbols), fragments, words, reserved }
    }

    /// A name for a fragment: the path of the modules of its operations, or of the calls that they come from, or what the
    /// names of their results have in common.
    pub(super) fn fragment(&mut self, body: &PlannedBody) -> String {
        let operations: Vec<usize> = body.steps.iter().filter_map(operation).collect();
        let modules = operations.iter().map(|at| self.graph.note(OperationId::at(*at))?.module_path());
        let path = modules.collect::<Option<Vec<&str>>>().map(|paths| shared_path(&paths, &['.', '/']));
        let path = path.filter(|path| !path.is_empty()).unwrap_or_else(|| {
            let calls: Vec<String> = operations.iter().map(|at| self.calls(&self.graph.operations[*at])).collect();
            shared_path(&calls, &['/'])
        });
        let path = if path.is_empty() { self.shared_name(&operations) } else { path };
        let name = identifier(&path);
        let usable = !name.is_empty() && !(self.reserved)(&name);
        self.fragments.distinct(if usable { &name } else { FRAGMENT })
    }

    /// What the names of the results of operations have in common.
    fn shared_name(&mut self, operations: &[usize]) -> String {
        let results = operations.iter().filter_map(|at| self.graph.tensors_of(&self.graph.operations[*at]).next());
        let results: Vec<TensorId> = results.collect();
        let names = results.iter().map(|tensor| self.spellings.spell(self.graph.name_of(*tensor)).to_owned());
        shared_path(&names.collect::<Vec<_>>(), &['_'])
    }

    /// The fragments around an operation, the outermost first.
    fn calls(&self, operation: &Operation) -> String {
        let mut calls: Vec<&str> = self.graph.calls(operation).map(|(fragment, _)| fragment).collect();
        calls.reverse();
        calls.join("/")
    }

    /// Names for the tensors of a body, in the order in which they are given.
    pub(super) fn tensors(&mut self, plan: &OutlinePlan, values: &[ValueId], params: usize) -> Vec<String> {
        let mut names = BodyNames::default();
        self.words.iter().for_each(|word| names.reserve(word));
        let mut of = |(at, value): (usize, &ValueId)| {
            let [first, last] = plan.values[*value as usize];
            let first_name = self.spellings.spell(self.graph.name_of(TensorId(first))).to_owned();
            let last_name = self.spellings.spell(self.graph.name_of(TensorId(last))).to_owned();
            let common = common_name(&first_name, &last_name);
            let made = self.graph.producer(TensorId(first)).map(|made| made.name());
            let other = made.filter(|_| at >= params).unwrap_or(PARAMETER);
            let usable = |name: &&str| !name.is_empty() && !(self.reserved)(name);
            let name = Some(common).filter(usable).map(str::to_owned);
            names.distinct(&name.unwrap_or_else(|| format!("{other}1")))
        };
        values.iter().enumerate().map(&mut of).collect()
    }
}

/// The operation of a step that is not a call.
fn operation(step: &PlannedStep) -> Option<usize> {
    match step.source {
        Source::Operation(at) => Some(at),
        Source::Call(_) => None,
    }
}
