//! The call graph of functions: cycles, and the size of expanded calls.

use rustc_hash::FxHashSet;

use super::finding::NodeFinding;
use super::functions::{Functions, each_graph, each_node};
use crate::diagnostics::Code;
use crate::graph::names::{NameId, TensorNames};
use crate::onnx::model::{ExpandedCall, FunctionProto, ModelNames, NodeProto};

/// The bytes of a name, with its length, which counts twice since vectors grow by doubling.
pub(super) const NAME: u64 = (TensorNames::BYTES + 2 * size_of::<u32>()) as u64;

/// The number of nodes and calls after an expansion, and the bytes of the nodes, with saturating arithmetic.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::onnx) struct Size {
    pub(in crate::onnx) nodes: u64,
    pub(in crate::onnx) calls: u64,
    pub(in crate::onnx) bytes: u64,
}

impl Size {
    pub(in crate::onnx) fn add(&mut self, other: Size) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The size of expanded nodes, computed from the size of an expanded call of each function.
pub(in crate::onnx) fn size(names: &ModelNames, table: &Functions, of_functions: &[Size], nodes: &[NodeProto]) -> Size {
    let mut size = Size::default();
    each_node(nodes, &mut |node| match table.called(names, node) {
        Ok(Some(function)) if table.expanded[function] => {
            size.add(of_functions[function]);
            size.add(Size { nodes: 0, calls: 1, bytes: 0 });
        }
        _ => size.add(Size { nodes: 1, calls: 0, bytes: node.bytes() as u64 }),
    });
    size
}

/// The size of an expanded call of each function, and the functions in topological order: each after the functions that
/// it calls.
///
/// # Errors
///
/// Functions call each other in a cycle.
pub(in crate::onnx) fn sizes(
    names: &ModelNames,
    functions: &[FunctionProto],
    table: &Functions,
) -> Result<(Vec<Size>, Vec<usize>), NodeFinding> {
    let mut sizes = vec![Size::default(); functions.len()];
    let order = callees_first(names, functions, table)?;
    for &function in &order {
        let of = &functions[function];
        let mut size = size(names, table, &sizes, &of.nodes);
        // What a call takes, excluding the copies of nodes: names of locals, and places of operands.
        let outputs: FxHashSet<NameId> = of.outputs.iter().copied().collect();
        let results = of.nodes.iter().flat_map(|node| &node.outputs);
        let locals = results.filter(|result| **result != NameId::ROOT && !outputs.contains(result)).count();
        let operands = (of.inputs.len() + of.outputs.len()) * size_of::<NameId>() + size_of::<ExpandedCall>();
        size.add(Size {
            bytes: (locals as u64).saturating_mul(NAME).saturating_add(operands as u64),
            ..Size::default()
        });
        sizes[function] = size;
    }
    Ok((sizes, order))
}

/// The functions in topological order: each after the functions that it calls.
fn callees_first(
    names: &ModelNames,
    functions: &[FunctionProto],
    table: &Functions,
) -> Result<Vec<usize>, NodeFinding> {
    let called = |function: &FunctionProto| {
        let mut called = Vec::new();
        let mut visit = |node: &NodeProto| called.extend(table.called(names, node).ok().flatten());
        each_node(&function.nodes, &mut visit);
        for default in &function.defaults {
            each_graph(&default.value, &mut |graph| each_node(&graph.nodes, &mut visit));
        }
        called.dedup();
        called
    };
    let calls: Vec<Vec<usize>> = functions.iter().map(called).collect();
    let mut order = Vec::with_capacity(functions.len());
    let (mut done, mut open) = (vec![false; functions.len()], vec![false; functions.len()]);
    for start in 0..functions.len() {
        let mut path = vec![(start, 0)];
        while let Some((function, next)) = path.last_mut() {
            let (at, i) = (*function, *next);
            *next += 1;
            if i == 0 && done[at] {
                path.pop();
                continue;
            }
            open[at] = true;
            match calls[at].get(i) {
                Some(&called) if open[called] => {
                    let first = path.iter().position(|step| step.0 == called).unwrap_or_default();
                    let steps = path[first..].iter().map(|step| step.0).chain([called]);
                    let cycle: Vec<String> = steps.map(|step| table.keys[step].describe(names)).collect();
                    let message = format!("functions call each other recursively: {}", shortened(&cycle));
                    return Err(NodeFinding::new(Code::OnnxRecursion, functions[called].at, message));
                }
                Some(&called) => path.push((called, 0)),
                None => {
                    (open[at], done[at]) = (false, true);
                    order.push(at);
                    path.pop();
                }
            }
        }
    }
    Ok(order)
}

/// The steps of a cycle; the middle of a long one is omitted.
fn shortened(steps: &[String]) -> String {
    const SHOWN: usize = 8;
    match steps.len() {
        0..=SHOWN => steps.join(" → "),
        len => format!("{} → … → {} ({} calls)", steps[..SHOWN - 2].join(" → "), steps[len - 1], len - 1),
    }
}
