//! Groups of modules: those that a model tells, or those in names, as exporters write nested modules:
//! `model__layer_0__attention__q`.
//!
//! A group has all operations whose paths have a common prefix, in whatever order they are. If lines would lead out of
//! it and back into it, there is a group for each sequence of them instead. A call is a group inside of the modules that
//! all of its operations are in, and around others.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::groups::{GroupCall, Groups, MAX_DEPTH, MIN_OPERATIONS, ROOT};
use super::layout::ranks::{Adjacency, Level};
use super::quotient::Quotient;
use crate::graph::{Graph, OperationId, OriginId};

/// The separator between the names of modules.
const SEPARATOR: &str = "__";

/// What leads from a group into an inner one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// The number of a module's name with its class.
    Module(u32),
    /// The number of a call.
    Call(u32),
}

/// The modules around an operation, the outermost first, by their numbers.
type ModuleNumbers = SmallVec<[u32; 4]>;

/// The names of modules, with their classes, which may be empty.
#[derive(Default)]
struct ModuleNames {
    names: Vec<(String, String)>,
    numbers: FxHashMap<(String, String), u32>,
    /// How many operations are in modules.
    named: usize,
    /// Whether the model tells any of them.
    is_told: bool,
}

impl ModuleNames {
    fn number(&mut self, name: &str, class: &str) -> u32 {
        let key = (name.to_owned(), class.to_owned());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    /// The modules around an operation.
    fn around(&mut self, graph: &Graph, at: usize) -> ModuleNumbers {
        let most = MAX_DEPTH as usize;
        let told = graph.note(OperationId::at(at)).and_then(|note| note.module.as_deref());
        let modules: ModuleNumbers = match told {
            Some(path) => path.steps().take(most).map(|(name, class)| self.number(name, class)).collect(),
            None => {
                let name = graph.tensors_of(&graph.operations[at]).next().map(|tensor| graph.tensor_name(tensor));
                let name = name.unwrap_or_default();
                let parts = name.rsplit_once(SEPARATOR).map_or("", |(modules, _)| modules).split(SEPARATOR);
                parts.filter(|part| !part.is_empty()).take(most).map(|part| self.number(part, "")).collect()
            }
        };
        self.is_told |= told.is_some();
        self.named += usize::from(!modules.is_empty());
        modules
    }
}

/// The modules and calls around each operation, the outermost first.
struct Chains {
    steps: Vec<Step>,
    /// For each operation that is drawn, the range of its steps.
    of: FxHashMap<usize, (usize, usize)>,
    names: Vec<(String, String)>,
}

impl Chains {
    /// None if the model tells no modules, and most names have none.
    fn new(graph: &Graph, drawn: &[usize], calls: &Groups) -> Option<Self> {
        let mut names = ModuleNames::default();
        let modules: Vec<ModuleNumbers> = drawn.iter().map(|at| names.around(graph, *at)).collect();
        if !names.is_told && names.named * 2 <= drawn.len() {
            return None;
        }
        let common = common_modules(drawn, &modules, calls);
        let mut chains = Chains { steps: Vec::new(), of: FxHashMap::default(), names: names.names };
        for (&at, modules) in drawn.iter().zip(&modules) {
            let start = chains.steps.len();
            let mut around: SmallVec<[u32; 4]> = calls_around(calls, at).collect();
            around.reverse();
            let mut modules = modules.iter().map(|module| Step::Module(*module)).enumerate().peekable();
            for call in around {
                let inside = common.get(&call).map_or(0, |common| common.len());
                while let Some((_, module)) = modules.next_if(|(at, _)| *at < inside) {
                    chains.steps.push(module);
                }
                chains.steps.push(Step::Call(call));
            }
            chains.steps.extend(modules.map(|(_, module)| module));
            chains.of.insert(at, (start, chains.steps.len()));
        }
        Some(chains)
    }

    fn step(&self, operation: usize, depth: usize) -> Option<Step> {
        let (start, end) = *self.of.get(&operation)?;
        self.steps[start..end].get(depth).copied()
    }
}

/// The groups of calls around an operation, the innermost first.
fn calls_around(calls: &Groups, at: usize) -> impl Iterator<Item = u32> {
    let around = |call: &u32| Some(calls.calls[*call as usize].parent);
    std::iter::successors(Some(calls.of(at)), around).take_while(|call| *call != ROOT)
}

/// The modules that all operations of a call are in, for each call.
fn common_modules(drawn: &[usize], modules: &[ModuleNumbers], calls: &Groups) -> FxHashMap<u32, ModuleNumbers> {
    let mut common: FxHashMap<u32, ModuleNumbers> = FxHashMap::default();
    for (&at, own) in drawn.iter().zip(modules) {
        for call in calls_around(calls, at) {
            let known = common.entry(call).or_insert_with(|| own.clone());
            let shared = known.iter().zip(own).take_while(|(a, b)| a == b).count();
            known.truncate(shared);
        }
    }
    common
}

/// A group that is still to be divided.
struct OpenGroup {
    call: GroupCall,
    /// Whether it becomes a group; otherwise it is merged with the one around it.
    is_new: bool,
    operations: Vec<usize>,
    /// The number of steps that lead to it, and the number of groups around it.
    depth: usize,
    around: u32,
}

/// The groups of the drawn operations; none if there are no modules. `calls` are the groups of calls.
pub(super) fn grouped(graph: &Graph, drawn: &[usize], calls: &Groups) -> Option<Groups> {
    let chains = Chains::new(graph, drawn, calls)?;
    let mut quotient = Quotient::new(graph);
    let mut groups = Groups { calls: vec![GroupCall::root()], of: vec![ROOT; graph.operations.len()] };
    let root = GroupCall::root();
    let mut open = vec![OpenGroup { call: root, is_new: false, operations: drawn.to_vec(), depth: 0, around: 0 }];
    while let Some(group) = open.pop() {
        let number = if group.is_new { groups.add(group.call) } else { group.call.parent };
        group.operations.iter().for_each(|operation| groups.of[*operation] = number);
        if group.around >= MAX_DEPTH {
            continue;
        }
        let parts = parts(&chains, &mut quotient, &group.operations, group.depth);
        for (step, operations) in parts.into_iter().rev() {
            let is_new = operations.len() < group.operations.len();
            let call = match step {
                Step::Module(module) => {
                    let (name, class) = chains.names[module as usize].clone();
                    GroupCall::module(number, name, class)
                }
                Step::Call(call) => GroupCall { parent: number, ..calls.calls[call as usize].clone() },
            };
            if !is_new {
                groups.merge(&call);
            }
            let around = group.around + u32::from(is_new);
            open.push(OpenGroup { call, is_new, operations, depth: group.depth + 1, around });
        }
    }
    Some(groups)
}

/// The inner groups of a group: what leads into each, and its operations.
fn parts(chains: &Chains, quotient: &mut Quotient, operations: &[usize], depth: usize) -> Vec<(Step, Vec<usize>)> {
    let mut numbers: FxHashMap<Step, u32> = FxHashMap::default();
    let mut steps: Vec<Option<Step>> = Vec::new();
    let mut items: Vec<u32> = Vec::with_capacity(operations.len());
    for &operation in operations {
        let step = chains.step(operation, depth);
        let mut add = || {
            steps.push(step);
            steps.len() as u32 - 1
        };
        items.push(match step {
            Some(step) => *numbers.entry(step).or_insert_with(add),
            None => add(),
        });
    }
    let level = quotient.level(steps.len(), operations.iter().copied().zip(items.iter().copied()));
    let cyclic = on_cycles(&level);
    let mut parts: Vec<(Step, Vec<usize>)> = Vec::new();
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, (&operation, &item)) in operations.iter().zip(&items).enumerate() {
        let Some(step) = steps[item as usize] else { continue };
        let is_run = cyclic[item as usize] && matches!(step, Step::Module(_));
        let goes_on = !is_run || at > 0 && items[at - 1] == item;
        match known.get(&item).filter(|_| goes_on) {
            Some(part) => parts[*part].1.push(operation),
            None => {
                known.insert(item, parts.len());
                parts.push((step, vec![operation]));
            }
        }
    }
    parts.retain(|(_, operations)| operations.len() as u32 >= MIN_OPERATIONS);
    parts
}

/// Whether each item is on a cycle, or between two of them.
fn on_cycles(level: &Level) -> Vec<bool> {
    let graph = Adjacency::new(level);
    let mut left = vec![true; level.items.len()];
    for (before, after) in [(&graph.before, &graph.after), (&graph.after, &graph.before)] {
        let all = 0..level.items.len() as u32;
        let mut counts: Vec<usize> = all.clone().map(|item| before.of(item).len()).collect();
        let mut free: Vec<u32> = all.filter(|item| counts[*item as usize] == 0).collect();
        while let Some(item) = free.pop() {
            left[item as usize] = false;
            for &next in after.of(item) {
                counts[next as usize] -= 1;
                if counts[next as usize] == 0 {
                    free.push(next);
                }
            }
        }
    }
    left
}

impl Groups {
    /// Adds what leads to all operations of a group to the group.
    fn merge(&mut self, inner: &GroupCall) {
        // The group of all operations is the graph itself, which has no path.
        let Some(group) = self.calls.get_mut(inner.parent as usize).filter(|_| inner.parent != ROOT) else { return };
        match (&mut group.path, &inner.path) {
            (Some(path), Some(name)) => {
                path.push('/');
                path.push_str(name);
                group.class.clone_from(&inner.class);
            }
            _ if group.origin == OriginId::NONE => group.origin = inner.origin,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::graph::{Graph, ModulePath, Note, OperationId};
    use crate::picture::scene::Scene;
    use crate::{Options, expand, parse};

    fn graph(body: &str) -> Graph {
        let fragment = "fragment ln( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(tanh(x)); }";
        let text = format!(
            "version 1.0; extension KHR_enable_fragment_definitions; {fragment}
            graph G( x ) -> ( y ) {{ x = external(shape = [2]); {body} }}"
        );
        let options = Options::default();
        expand(&parse("flat", text, &options).document, &options).unwrap().graph
    }

    /// The titles of the groups of a document, with the numbers of their operations, and the number of boxes.
    fn groups(body: &str) -> (Vec<(String, u32)>, usize) {
        groups_of(&graph(body))
    }

    fn groups_of(graph: &Graph) -> (Vec<(String, u32)>, usize) {
        let scene = Scene::new(graph);
        (scene.groups[1..].iter().map(|of| (of.title.clone(), of.operations)).collect(), scene.nodes.len())
    }

    fn named(groups: &[(&str, u32)]) -> Vec<(String, u32)> {
        groups.iter().map(|(title, count)| ((*title).to_owned(), *count)).collect()
    }

    #[test]
    fn modules_are_groups_in_whatever_order_their_operations_are() {
        let body = "l0__a = exp(x); l1__a = exp(x); l0__b = add(l0__a, x); l1__b = mul(l1__a, l0__b); y = relu(l1__b);";
        assert_eq!(groups(body).0, named(&[("l0", 2), ("l1", 2)]));
    }

    #[test]
    fn modules_that_are_used_again_are_groups_of_sequences() {
        let body = "l__a = exp(x); l__b = exp(l__a); o__a = tanh(l__b); o__b = tanh(o__a); l__c = exp(o__b);
            l__d = exp(l__c); y = relu(l__d);";
        assert_eq!(groups(body).0, named(&[("l", 2), ("o", 2), ("l", 2)]));
    }

    #[test]
    fn calls_are_groups_in_modules() {
        let body = "l0__norm = ln(x); l0__b = exp(l0__norm); l1__norm__y = ln(l0__b); l1__c = exp(l1__norm__y);
            y = relu(l1__c);";
        let wanted = named(&[("l0", 3), ("ln", 2), ("l1", 3), ("norm", 2)]);
        assert_eq!(groups(body).0, wanted);
    }

    #[test]
    fn forms_of_weights_have_no_boxes() {
        let body = "w = variable(shape = [3, 2], label = 'w'); v = transpose(w, axes = [1, 0]);
            u = unsqueeze(v, axes = [0]); t = unsqueeze(x, axes = [0, 1]); y = matmul(t, u);";
        // The input, the operation on it, the product, and the output.
        assert_eq!(groups(body).1, 4);
    }

    #[test]
    fn modules_that_a_model_tells_are_groups() {
        // A call whose operations are in modules of their own is around those, and inside of what they share.
        let mut graph = graph("h = exp(x); u = ln(h); v = ln(u); y = exp(v);");
        for (at, steps) in
            [(1, &["net", "a"][..]), (2, &["net", "b"]), (3, &["net", "b"]), (4, &["net", "c"]), (5, &["net", "d"])]
        {
            let mut path = ModulePath::default();
            let mut names = steps.iter().zip(["Net", "Part"]);
            names.by_ref().for_each(|(name, class)| path.push(name, class));
            graph.add_note(OperationId::at(at), Note { module: Some(Arc::new(path)), ..Note::default() });
        }
        let (found, _) = groups_of(&graph);
        assert_eq!(found, named(&[("net: Net", 5), ("b: Part", 2), ("ln", 2)]));
        let scene = Scene::new(&graph);
        assert_eq!(scene.groups[1..].iter().map(|group| &*group.step).collect::<Vec<_>>(), ["net", "b", "ln"]);
    }
}
