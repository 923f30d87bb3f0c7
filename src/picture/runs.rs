//! Runs of equal modules: a group around them, which is one box while it is closed.
//!
//! Modules are equal if they have the same operations, computed from each other in the same way and with results of the
//! same shapes, in whatever order the graph has them. Which operations are the same is what outlining knows of them.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::groups::{GroupCall, Groups, RunOf};
use super::layout::ranks::Adjacency;
use super::quotient::Quotient;
use super::regroup::{GroupItem, NewGroup, regrouped};
use crate::graph::outline::operation_classes;
use crate::graph::{Graph, TensorId};

/// The least number of modules of a run.
const TIMES: usize = 3;
/// What equal modules are called whose names are numbers only.
const LAYER: &str = "layer";

/// What becomes runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// Modules and calls.
    Modules,
    /// Parts of groups.
    Parts,
}

/// Puts a group around each run of equal modules, or parts.
pub(super) fn joined(graph: &Graph, drawn: &[usize], groups: Groups, what: Joined) -> Groups {
    let is_wanted = |group: u32| what == Joined::Modules || groups.calls[group as usize].is_part;
    if (1..groups.calls.len() as u32).filter(|group| is_wanted(*group)).count() < TIMES {
        return groups;
    }
    let names: Vec<Option<String>> = groups.calls.iter().map(|call| call.kind_name(graph)).collect();
    let mut search = None;
    regrouped(drawn, &groups, |call, items| {
        if call.run.is_some() || !may_repeat(items, is_wanted) {
            return Vec::new();
        }
        let runs = search.get_or_insert_with(|| RunSearch::new(graph)).runs(items);
        let run = |items: &[u32], all: &[GroupItem]| {
            let modules = items.iter().filter_map(|item| names[all[*item as usize].group? as usize].as_deref());
            RunOf { count: items.len() as u32, name: common_name(modules) }
        };
        // A group of nothing but equal modules is itself the run.
        if let [only] = &runs[..]
            && only.len() == items.len()
            && !call.is_root()
        {
            call.run = Some(run(only, items));
            return Vec::new();
        }
        let group = |found: Vec<u32>| NewGroup { call: GroupCall::run(run(&found, items)), items: found };
        runs.into_iter().map(group).collect()
    })
}

/// Whether so many groups have the same number of operations that they may be a run.
fn may_repeat(items: &[GroupItem], is_wanted: impl Fn(u32) -> bool) -> bool {
    let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
    let groups = items.iter().filter(|item| item.group.is_some_and(&is_wanted));
    groups.for_each(|item| *counts.entry(item.operations.len()).or_default() += 1);
    counts.values().any(|count| *count >= TIMES)
}

/// What the names of equal modules have in common: the part before their numbers.
fn common_name<'n>(names: impl Iterator<Item = &'n str>) -> String {
    // The title of a part starts with its number.
    let bare = |name: &'n str| match name.split_once(": ") {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '_' | '.' | '-' | '/')),
    };
    let names: Vec<&str> = names.collect();
    let is_equal = |names: &[&str]| names.iter().all(|name| *name == names[0] && name.chars().any(char::is_alphabetic));
    let bare: Vec<&str> = names.iter().copied().map(bare).collect();
    let equal = [names, bare].into_iter().find(|names| is_equal(names) && !names.is_empty());
    equal.map_or(LAYER, |names| names[0]).to_owned()
}

/// Finds equal modules.
struct RunSearch<'g> {
    graph: &'g Graph,
    quotient: Quotient<'g>,
    /// The class of each operation.
    classes: Vec<u32>,
    /// The hash of each operation in the last module that has it, and the number of this module.
    hashes: Vec<(u32, u64)>,
    modules: u32,
}

impl<'g> RunSearch<'g> {
    fn new(graph: &'g Graph) -> Self {
        let hashes = vec![(0, 0); graph.operations.len()];
        RunSearch { graph, quotient: Quotient::new(graph), classes: operation_classes(graph), hashes, modules: 0 }
    }

    /// The runs of equal modules among items, in an order in which each item follows those that it depends on: what is
    /// not between modules in this order does not depend on some and come before others.
    fn runs(&mut self, items: &[GroupItem]) -> Vec<Vec<u32>> {
        let operations = items.iter().enumerate();
        let operations = operations.flat_map(|(item, of)| of.operations.iter().map(move |at| (*at, item as u32)));
        let level = self.quotient.level(items.len(), operations);
        let (order, _) = Adjacency::new(&level).order(items.len());
        let mut runs: Vec<Vec<u32>> = Vec::new();
        let mut last: Option<Vec<u64>> = None;
        for item in order {
            let of = &items[item as usize];
            let signature = of.group.is_some().then(|| self.signature(&of.operations));
            match runs.last_mut() {
                Some(run) if signature.is_some() && signature == last => run.push(item),
                _ => runs.push(vec![item]),
            }
            last = signature;
        }
        runs.retain(|run| run.len() >= TIMES);
        runs
    }

    /// What equal modules have in common: a hash of each operation and of what it is computed from in the module, and how
    /// many tensors come from outside.
    fn signature(&mut self, operations: &[usize]) -> Vec<u64> {
        self.modules += 1;
        let mut outside: FxHashSet<TensorId> = FxHashSet::default();
        let mut signature = Vec::with_capacity(operations.len() + 1);
        for &at in operations {
            let hash = self.hash(at, &mut outside);
            self.hashes[at] = (self.modules, hash);
            signature.push(hash);
        }
        signature.sort_unstable();
        signature.push(outside.len() as u64);
        signature
    }

    fn hash(&self, at: usize, outside: &mut FxHashSet<TensorId>) -> u64 {
        let (graph, operation) = (self.graph, &self.graph.operations[at]);
        let mut hasher = FxHasher::default();
        self.classes[at].hash(&mut hasher);
        graph.tensors_of(operation).for_each(|tensor| graph.tensors[tensor.index()].shape.hash(&mut hasher));
        graph.each_operand_tensor(operation, |tensor| {
            let of = &graph.tensors[tensor.index()];
            match of.producer.map(|producer| (producer, self.hashes[producer.index()])) {
                Some((producer, (module, hash))) if module == self.modules => {
                    let results = graph.tensors_of(&graph.operations[producer.index()]);
                    (hash, results.take_while(|result| *result != tensor).count()).hash(&mut hasher);
                }
                _ => {
                    outside.insert(tensor);
                    of.shape.hash(&mut hasher);
                }
            }
        });
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::scene::Scene;
    use crate::{Options, expand, parse};

    /// The titles of the groups of a document.
    fn titles(body: &str) -> Vec<String> {
        let text = format!("version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [2]); {body} }}");
        let options = Options::default();
        let graph = expand(&parse("flat", text, &options).document, &options).unwrap().graph;
        Scene::new(&graph).groups[1..].iter().map(|of| of.title.clone()).collect()
    }

    fn layers(count: u32, layer: impl Fn(u32, &str) -> String) -> String {
        let mut last = "x".to_owned();
        let mut text = String::new();
        for i in 0..count {
            text += &layer(i, &last);
            last = format!("net__block_{i}__b");
        }
        text + &format!("z = tanh({last}); y = exp(z);")
    }

    #[test]
    fn equal_modules_are_one_group() {
        let layer =
            |i: u32, x: &str| format!("net__block_{i}__a = exp({x}); net__block_{i}__b = relu(net__block_{i}__a);");
        assert_eq!(titles(&layers(3, layer)), ["net: 3 × block", "block_0", "block_1", "block_2"]);
        assert_eq!(titles(&layers(2, layer)), ["net", "block_0", "block_1"]);
    }

    #[test]
    fn modules_that_differ_are_apart() {
        let other = |i: u32, x: &str| {
            let name = if i == 1 { "sin" } else { "exp" };
            format!("net__block_{i}__a = {name}({x}); net__block_{i}__b = relu(net__block_{i}__a);")
        };
        let found = titles(&layers(5, other));
        assert_eq!(found, ["net", "3 × block", "block_2", "block_3", "block_4", "block_0", "block_1"]);
    }

    #[test]
    fn the_order_of_operations_in_a_module_does_not_matter() {
        let layer = |i: u32, x: &str| {
            let (p, q) = (format!("net__block_{i}__p = exp({x});"), format!("net__block_{i}__q = sin({x});"));
            let both = if i.is_multiple_of(2) { p + &q } else { q + &p };
            format!("{both} net__block_{i}__b = add(net__block_{i}__p, net__block_{i}__q);")
        };
        assert_eq!(titles(&layers(4, layer))[0], "net: 4 × block");
    }

    #[test]
    fn names_of_equal_modules_lose_their_numbers() {
        let name = |names: &[&str]| common_name(names.iter().copied());
        assert_eq!(name(&["layer_0", "layer_1"]), "layer");
        assert_eq!(name(&["_0", "_1"]), LAYER);
        assert_eq!(name(&["3: conv, relu", "4: conv, relu"]), "conv, relu");
        assert_eq!(name(&["left", "right"]), LAYER);
        assert_eq!(name(&["Conv2d", "Conv2d"]), "Conv2d");
    }
}
