//! The call graph of functions: cycles, and the size of expanded calls.

use super::finding::NodeFinding;
use super::lookup::Functions;
use super::marks::NameMarks;
use crate::diagnostics::Code;
use crate::graph::names::{NameId, TensorNames};
use crate::onnx::model::{ExpandedCall, FunctionProto, ModelNames, NodeProto};
use crate::onnx::walk::{each_graph, each_node};

/// The bytes of a name, with its length, which counts twice since vectors grow by doubling.
pub(in crate::onnx) const NAME: u64 = (TensorNames::BYTES + 2 * size_of::<u32>()) as u64;

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

    /// The size of several copies.
    fn times(self, count: u64) -> Size {
        let Size { nodes, calls, bytes } = self;
        let times = |number: u64| number.saturating_mul(count);
        Size { nodes: times(nodes), calls: times(calls), bytes: times(bytes) }
    }
}

/// Calls of a function in another one.
#[derive(Clone, Copy, Debug)]
pub(in crate::onnx) struct CalledFunction {
    pub(in crate::onnx) function: usize,
    /// The number of calls among the nodes.
    nodes: u64,
    /// The number of calls in graphs of the defaults of attributes.
    defaults: u64,
}

impl CalledFunction {
    /// The number of calls.
    pub(in crate::onnx) fn count(self) -> u64 {
        self.nodes.saturating_add(self.defaults)
    }
}

/// The calls in a function.
#[derive(Debug, Default)]
pub(in crate::onnx) struct FunctionCalls {
    pub(in crate::onnx) called: Vec<CalledFunction>,
    /// The size of what is not expanded.
    own: Size,
}

impl FunctionCalls {
    fn of(names: &ModelNames, table: &Functions, function: &FunctionProto) -> Self {
        let mut calls = FunctionCalls::default();
        each_node(&function.nodes, &mut |node| {
            let called = table.called(names, node).ok().flatten();
            called.into_iter().for_each(|called| calls.add(called, 1, 0));
            if !called.is_some_and(|called| table.expanded[called]) {
                calls.own.add(Size { nodes: 1, calls: 0, bytes: node.bytes() as u64 });
            }
        });
        let mut visit = |node: &NodeProto| {
            let called = table.called(names, node).ok().flatten();
            called.into_iter().for_each(|called| calls.add(called, 0, 1));
        };
        for default in &function.defaults {
            each_graph(&default.value, &mut |graph| each_node(&graph.nodes, &mut visit));
        }
        calls
    }

    fn add(&mut self, function: usize, nodes: u64, defaults: u64) {
        match self.called.last_mut().filter(|last| last.function == function) {
            Some(last) => (last.nodes, last.defaults) = (last.nodes + nodes, last.defaults + defaults),
            None => self.called.push(CalledFunction { function, nodes, defaults }),
        }
    }
}

/// The calls between functions.
#[derive(Debug, Default)]
pub(in crate::onnx) struct CallGraph {
    /// The calls in each function.
    pub(in crate::onnx) calls: Vec<FunctionCalls>,
    /// The size of an expanded call of each function.
    pub(in crate::onnx) sizes: Vec<Size>,
    /// The functions in topological order: each after the functions that it calls.
    pub(in crate::onnx) order: Vec<usize>,
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

impl CallGraph {
    /// The calls between functions.
    ///
    /// # Errors
    ///
    /// Functions call each other in cycles.
    pub(in crate::onnx) fn new(
        names: &ModelNames,
        functions: &[FunctionProto],
        table: &Functions,
    ) -> Result<CallGraph, Vec<NodeFinding>> {
        let calls: Vec<_> = functions.iter().map(|function| FunctionCalls::of(names, table, function)).collect();
        let order = callees_first(names, functions, table, &calls)?;
        let mut sizes = vec![Size::default(); functions.len()];
        let mut outputs = NameMarks::default();
        for &function in &order {
            let of = &functions[function];
            let FunctionCalls { called, own } = &calls[function];
            let mut size = *own;
            for call in called.iter().filter(|call| table.expanded[call.function]) {
                size.add(sizes[call.function].times(call.nodes));
                size.add(Size { nodes: 0, calls: call.nodes, bytes: 0 });
            }
            // What a call takes, excluding the copies of nodes: names of locals, and places of operands.
            outputs.start();
            outputs.extend(&of.outputs);
            let results = of.nodes.iter().flat_map(|node| &node.outputs);
            let locals = results.filter(|result| **result != NameId::ROOT && !outputs.contains(**result)).count();
            let operands = (of.inputs.len() + of.outputs.len()) * size_of::<NameId>() + size_of::<ExpandedCall>();
            let bytes = (locals as u64).saturating_mul(NAME).saturating_add(operands as u64);
            size.add(Size { bytes, ..Size::default() });
            sizes[function] = size;
        }
        Ok(CallGraph { calls, sizes, order })
    }
}

/// The functions in topological order: each after the functions that it calls. Of cycles that share functions, one is told.
fn callees_first(
    names: &ModelNames,
    functions: &[FunctionProto],
    table: &Functions,
    calls: &[FunctionCalls],
) -> Result<Vec<usize>, Vec<NodeFinding>> {
    let mut found = Vec::new();
    let mut order = Vec::with_capacity(functions.len());
    let (mut done, mut open) = (vec![false; functions.len()], vec![false; functions.len()]);
    let mut path = Vec::new();
    for start in 0..functions.len() {
        path.push((start, 0));
        while let Some((function, next)) = path.last_mut() {
            let (at, i) = (*function, *next);
            *next += 1;
            if i == 0 && done[at] {
                path.pop();
                continue;
            }
            open[at] = true;
            match calls[at].called.get(i).map(|call| call.function) {
                Some(called) if open[called] => {
                    // What is on the cycle is not looked at again, so that no function is on two that are told.
                    let first = path.iter().rposition(|step| step.0 == called).unwrap_or_default();
                    let steps: Vec<usize> = path.drain(first..).map(|step| step.0).collect();
                    steps.iter().for_each(|&step| (open[step], done[step]) = (false, true));
                    let cycle = steps.into_iter().chain([called]).map(|step| table.keys[step].describe(names));
                    let cycle: Vec<String> = cycle.collect();
                    let message = format!("functions call each other recursively: {}", shortened(&cycle));
                    found.push(NodeFinding::new(Code::OnnxRecursion, functions[called].at, message));
                }
                Some(called) => path.push((called, 0)),
                None => {
                    (open[at], done[at]) = (false, true);
                    order.push(at);
                    path.pop();
                }
            }
        }
    }
    if found.is_empty() { Ok(order) } else { Err(found) }
}

/// The steps of a cycle; the middle of a long one is omitted.
fn shortened(steps: &[String]) -> String {
    const SHOWN: usize = 8;
    match steps.len() {
        0..=SHOWN => steps.join(" → "),
        len => format!("{} → … → {} ({} calls)", steps[..SHOWN - 2].join(" → "), steps[len - 1], len - 1),
    }
}
