//! Groups derived from names: exporters write nested modules as `model__layer_0__attention__q`.
//!
//! A group has all operations whose names have a common prefix, in whatever order they are. If lines would lead out of
//! it and back into it, there is a group for each sequence of them instead. Calls of fragments are groups inside of
//! those of the names.

use rustc_hash::FxHashMap;

use super::groups::{GroupCall, Groups, MAX_DEPTH, MIN_OPERATIONS, ROOT};
use super::layout::ranks::{Adjacency, Level};
use super::quotient::Quotient;
use crate::graph::{Graph, OriginId};

/// The separator between the names of modules.
const SEPARATOR: &str = "__";

/// What leads from a group into an inner one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// The number of a module's name.
    Module(u32),
    /// The number of a call.
    Call(u32),
}

/// The modules and calls around each operation, the outermost first.
#[derive(Default)]
struct Chains {
    steps: Vec<Step>,
    /// For each operation that is drawn, the range of its steps.
    of: FxHashMap<usize, (usize, usize)>,
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// How many operations are in modules.
    named: usize,
}

impl Chains {
    fn new(graph: &Graph, drawn: &[usize], calls: &Groups) -> Self {
        let mut chains = Chains::default();
        for &at in drawn {
            let start = chains.steps.len();
            let name = graph.tensors_of(&graph.operations[at]).next().map(|tensor| graph.tensor_name(tensor));
            let name = name.unwrap_or_default();
            let parts = name.rsplit_once(SEPARATOR).map_or("", |(modules, _)| modules);
            for part in parts.split(SEPARATOR).filter(|part| !part.is_empty()).take(MAX_DEPTH as usize) {
                let number = chains.number(part);
                chains.steps.push(Step::Module(number));
            }
            chains.named += usize::from(chains.steps.len() > start);
            let inner = chains.steps.len();
            let mut call = calls.of(at);
            while call != ROOT {
                chains.steps.push(Step::Call(call));
                call = calls.calls[call as usize].parent;
            }
            chains.steps[inner..].reverse();
            chains.of.insert(at, (start, chains.steps.len()));
        }
        chains
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn step(&self, operation: usize, depth: usize) -> Option<Step> {
        let (start, end) = *self.of.get(&operation)?;
        self.steps[start..end].get(depth).copied()
    }
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

/// The groups of the drawn operations; none if most names have no separator. `calls` are the groups of calls.
pub(super) fn grouped(graph: &Graph, drawn: &[usize], calls: &Groups) -> Option<Groups> {
    let chains = Chains::new(graph, drawn, calls);
    if chains.named * 2 <= drawn.len() {
        return None;
    }
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
                Step::Module(name) => GroupCall::module(number, chains.names[name as usize].clone()),
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
            }
            _ if group.origin == OriginId::NONE => group.origin = inner.origin,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::picture::scene::Scene;
    use crate::{Options, expand, parse};

    /// The titles of the groups of a document, with the numbers of their operations, and the number of boxes.
    fn groups(body: &str) -> (Vec<(String, u32)>, usize) {
        let fragment = "fragment ln( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(tanh(x)); }";
        let text = format!(
            "version 1.0; extension KHR_enable_fragment_definitions; {fragment}
            graph G( x ) -> ( y ) {{ x = external(shape = [2]); {body} }}"
        );
        let options = Options::default();
        let graph = expand(&parse("flat", text, &options).document, &options).unwrap().graph;
        let scene = Scene::new(&graph);
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
}
