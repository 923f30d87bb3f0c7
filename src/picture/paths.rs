//! Groups derived from names: exporters write nested modules as `model__layer_0__attention__q`.
//!
//! A group is a sequence of consecutive operations whose names have a common prefix, so that no line leads out of a
//! group and back into it.

use super::groups::{GroupCall, MAX_DEPTH, MIN_OPERATIONS, ROOT};
use crate::graph::{Graph, OriginId};

/// The separator between the names of modules.
const SEPARATOR: &str = "__";

/// A sequence of operations that may become a group.
struct PathCandidate {
    parent: usize,
    name: String,
    operations: u32,
}

/// The groups of the drawn operations, and the group of each operation; none if most names have no separator, or most
/// operations come from calls of fragments, which are better groups.
pub(super) fn grouped(graph: &Graph, drawn: &[usize]) -> Option<(Vec<GroupCall>, Vec<u32>)> {
    let called = drawn.iter().filter(|at| graph.operations[**at].origin != OriginId::NONE).count();
    if drawn.is_empty() || called * 2 > drawn.len() {
        return None;
    }
    let (found, of) = runs(graph, drawn);
    let named = drawn.iter().filter(|at| of[**at] != 0).count();
    (named * 2 > drawn.len()).then(|| kept(&found, of))
}

/// The sequences of operations with a common prefix, after that of all operations; and the sequence of each operation.
fn runs(graph: &Graph, drawn: &[usize]) -> (Vec<PathCandidate>, Vec<usize>) {
    let mut found = vec![PathCandidate { parent: 0, name: String::new(), operations: 0 }];
    let mut of = vec![0; graph.operations.len()];
    let mut open: Vec<usize> = Vec::new();
    for &at in drawn {
        let name = graph.tensors_of(&graph.operations[at]).next().map(|tensor| graph.tensor_name(tensor));
        let name = name.unwrap_or_default();
        let mut parts: Vec<&str> = name.split(SEPARATOR).collect();
        parts.pop();
        parts.truncate(MAX_DEPTH as usize);
        let same = open.iter().zip(&parts).take_while(|(group, part)| found[**group].name == **part).count();
        open.truncate(same);
        for part in &parts[same..] {
            let parent = open.last().copied().unwrap_or(0);
            open.push(found.len());
            found.push(PathCandidate { parent, name: (*part).to_owned(), operations: 0 });
        }
        of[at] = open.last().copied().unwrap_or(0);
        found[0].operations += 1;
        open.iter().for_each(|group| found[*group].operations += 1);
    }
    (found, of)
}

/// Keeps the groups with several operations. A group with all operations of its parent is merged into the parent.
fn kept(found: &[PathCandidate], of: Vec<usize>) -> (Vec<GroupCall>, Vec<u32>) {
    let call = |parent, path| GroupCall { parent, origin: OriginId::NONE, path };
    let mut calls = vec![call(ROOT, None)];
    let mut numbers = vec![ROOT; found.len()];
    for (i, group) in found.iter().enumerate().skip(1) {
        let around = numbers[group.parent];
        numbers[i] = around;
        if group.operations < MIN_OPERATIONS {
            continue;
        }
        if group.operations == found[group.parent].operations {
            // The group of all operations is the graph itself, which has no path.
            if let Some(path) = &mut calls[around as usize].path {
                path.push('/');
                path.push_str(&group.name);
            }
            continue;
        }
        numbers[i] = calls.len() as u32;
        calls.push(call(around, Some(group.name.clone())));
    }
    (calls, of.into_iter().map(|group| numbers[group]).collect())
}
