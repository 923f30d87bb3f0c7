//! Fuses element-wise regions of a flat graph to expressions.
//!
//! By the rule of pnnx, an operation joins the region of its user if its result is used exactly once. With
//! recomputation, it joins the regions of all its users, as long as the expressions are small.

use super::expression_table::{Counterpart, Op};
use super::number::Meaning;
use super::tokens::Literal;
use super::tree::{Expression, NodeId, Term};
use crate::graph::standard::CONSTANT;
use crate::graph::{Graph, Key, Operand, Operation, Output, Primitive, TensorId, Value};
use crate::source::Span;

/// A part of a graph; parts are ordered by their last operations.
#[derive(Clone, Debug)]
pub(crate) enum GraphPart {
    /// A region of element-wise operations: its result, and the tensors that are its operands.
    Region { output: TensorId, expression: Expression, inputs: Vec<TensorId> },
    /// Any other operation, by its index in the graph.
    Other(usize),
}

/// How regions are formed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FusionRule {
    /// A result that is used several times ends its region.
    #[default]
    Once,
    /// A result that is used several times is computed in each region that uses it.
    Recompute,
}

/// The maximum number of operations that are recomputed for each use.
const AGAIN: u32 = 64;
/// The maximum number of operations of a region with recomputation.
const LARGEST: u32 = 4096;

/// The operation of expressions for an element-wise NNEF operation, if there is one.
pub(crate) fn operation_of(nnef: &str) -> Option<Op> {
    // These operations have two names; expressions exported by torch have the longer one.
    let named = match nnef {
        "max" => "maximum",
        "min" => "minimum",
        name => name,
    };
    let same = |op: &Op| matches!(op.row().nnef, Counterpart::Same(name) if name == nnef);
    Op::named(named).filter(same).or_else(|| Op::all().find(same))
}

/// How operands of an operation of NNEF are those of one in expressions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OperandForm {
    /// In their order.
    Same,
    /// In reverse order.
    Swapped,
    /// With an exponent.
    Power(f64),
}

/// The operation of expressions that computes what an operation of NNEF computes, for all numbers: the root of NNEF is a
/// power, which is that of expressions for operands that are never negative. The largest and the least operand are NaN only if the second one of NNEF is, so that the first one is a number.
fn exact(graph: &Graph, operation: &Operation) -> Option<(Op, OperandForm)> {
    let name = graph.operation_name(operation);
    let is_number = || {
        let first = graph.keys(operation).iter().position(|key| *key == Key::Param(0));
        let is_nan = |number| matches!(number, Literal::Float(number) if number.is_nan());
        first.is_some_and(|at| literal(graph, graph.operand(operation, at)).is_some_and(|number| !is_nan(number)))
    };
    let is_root = || match graph.operand(operation, 0) {
        Operand::Tensor(radicand) => graph.never_negative(radicand),
        _ => false,
    };
    match name {
        "sqrt" | "rsqrt" if is_root() => Op::named(name).map(|op| (op, OperandForm::Same)),
        "sqrt" => Op::named("pow").map(|op| (op, OperandForm::Power(0.5))),
        "rsqrt" => Op::named("pow").map(|op| (op, OperandForm::Power(-0.5))),
        "max" if is_number() => Op::named("maximum").map(|op| (op, OperandForm::Swapped)),
        "min" if is_number() => Op::named("minimum").map(|op| (op, OperandForm::Swapped)),
        name => operation_of(name).map(|op| (op, OperandForm::Same)),
    }
}

/// The regions and the other operations of a graph. Constants of rank 0 become literals; inputs, variables and other
/// constants are not parts.
pub(crate) fn fuse(graph: &Graph, rule: FusionRule) -> Vec<GraphPart> {
    let mut fusion = Fusion::new(graph, rule);
    (0..graph.operations.len()).filter_map(|at| fusion.part(at)).collect()
}

struct Fusion<'g> {
    graph: &'g Graph,
    /// For each operation, its element-wise operation in expressions.
    ops: Vec<Option<(Op, OperandForm)>>,
    /// For each operation, whether it joins the regions of its users.
    joins: Vec<bool>,
}

impl<'g> Fusion<'g> {
    fn new(graph: &'g Graph, rule: FusionRule) -> Self {
        let op_of = |operation: &Operation| {
            let op = exact(graph, operation).filter(|_| graph.kind(operation).standard);
            op.filter(|(op, _)| is_fusible(graph, operation, *op))
        };
        let ops: Vec<Option<(Op, OperandForm)>> = graph.operations.iter().map(op_of).collect();
        let joins = vec![false; ops.len()];
        let mut fusion = Fusion { graph, ops, joins };
        fusion.join(rule);
        fusion
    }

    /// Determines which operations join the regions of their users.
    fn join(&mut self, rule: FusionRule) {
        let graph = self.graph;
        // For each tensor, the number of uses, and of uses by element-wise operations.
        let mut uses = vec![(0u32, 0u32); graph.tensors.len()];
        for (operation, op) in graph.operations.iter().zip(&self.ops) {
            for operand in graph.operands_of(operation) {
                operand.each_tensor(&mut |tensor| {
                    let (all, fused) = &mut uses[tensor.index()];
                    *all += 1;
                    *fused += u32::from(op.is_some());
                });
            }
        }
        for output in &graph.outputs {
            uses[output.index()].0 = u32::MAX;
        }
        // For each operation, the number of operations of its region up to it.
        let mut sizes = vec![0u32; graph.operations.len()];
        for (at, operation) in graph.operations.iter().enumerate() {
            let Some(result) = self.ops[at].and_then(|_| graph.tensors_of(operation).next()) else { continue };
            let before: u32 = self.joined(operation).fold(0, |sum, before| sizes[before].saturating_add(sum));
            sizes[at] = before.saturating_add(1);
            let (all, fused) = uses[result.index()];
            self.joins[at] = match rule {
                FusionRule::Once => all == 1 && fused == 1,
                FusionRule::Recompute => all == fused && all > 0 && sizes[at] <= if all == 1 { LARGEST } else { AGAIN },
            };
        }
    }

    /// The operations that join the region of this operation.
    fn joined<'a>(&'a self, operation: &'a Operation) -> impl Iterator<Item = usize> + 'a {
        self.graph.operands_of(operation).filter_map(|operand| self.joining(operand))
    }

    fn joining(&self, operand: Operand) -> Option<usize> {
        let Operand::Tensor(tensor) = operand else { return None };
        let producer = self.graph.tensors[tensor.index()].producer?.index();
        self.joins[producer].then_some(producer)
    }

    fn part(&mut self, at: usize) -> Option<GraphPart> {
        let operation = &self.graph.operations[at];
        if self.ops[at].is_none() {
            let source = ["external", "variable", CONSTANT].contains(&self.graph.operation_name(operation));
            return (!source).then_some(GraphPart::Other(at));
        }
        if self.joins[at] {
            return None;
        }
        let output = self.graph.tensors_of(operation).next()?;
        let (expression, inputs) = self.region(at);
        Some(GraphPart::Region { output, expression, inputs })
    }

    /// The expression of the region that ends with an operation, and its operands by first use.
    fn region(&self, root: usize) -> (Expression, Vec<TensorId>) {
        let mut expression = Expression::default();
        let mut inputs: indexmap::IndexSet<TensorId> = indexmap::IndexSet::new();
        let mut done: Vec<NodeId> = Vec::new();
        // Operations whose operands are being added, and how many have been added.
        let mut open: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((at, next)) = open.last_mut() {
            let operation = &self.graph.operations[*at];
            let count = self.graph.keys(operation).len();
            if *next == count {
                let first = done.len() - count;
                let term = self.ops[*at].map_or(Term::List, |(op, _)| Term::Call(op));
                match self.ops[*at].map(|(_, form)| form) {
                    Some(OperandForm::Swapped) => done[first..].reverse(),
                    Some(OperandForm::Power(exponent)) => {
                        let exponent = Term::Literal(Literal::Float(exponent));
                        done.push(expression.push(exponent, Span::default(), &[]));
                    }
                    Some(OperandForm::Same) | None => {}
                }
                let node = expression.push(term, operation.location().span, &done[first..]);
                done.truncate(first);
                done.push(node);
                open.pop();
                continue;
            }
            // Named arguments may be in any order.
            let key = Key::Param(*next as u32);
            let place = self.graph.keys(operation).iter().position(|known| *known == key).unwrap_or(*next);
            let operand = self.graph.operand(operation, place);
            *next += 1;
            if let Some(before) = self.joining(operand) {
                open.push((before, 0));
                continue;
            }
            let term = match (operand, literal(self.graph, operand)) {
                // Beside integers, a float would make the result one of floats.
                (_, Some(Literal::Int(value))) if !has_integers(self.graph, operation) => {
                    Term::Literal(Literal::Float(value as f64))
                }
                (_, Some(value)) => Term::Literal(value),
                (Operand::Tensor(tensor), None) => Term::Argument(inputs.insert_full(tensor).0 as u64),
                _ => Term::Literal(Literal::None),
            };
            done.push(expression.push(term, Span::default(), &[]));
        }
        (expression.in_order(), inputs.into_iter().collect())
    }
}

/// A literal number, or a constant of rank 0.
fn literal(graph: &Graph, operand: Operand) -> Option<Literal> {
    match operand {
        Operand::Value(Value::Scalar(value)) => Some(Literal::Float(*value)),
        Operand::Value(Value::Int(value)) => Some(Literal::Int(*value)),
        Operand::Tensor(tensor) => {
            let constant = graph.maker(tensor).filter(|operation| graph.operation_name(operation) == CONSTANT)?;
            graph.shape(tensor).filter(|shape| shape.rank() == 0)?;
            match graph.attribute(constant, "value")? {
                Value::Scalars(items) => items.first().copied().map(Literal::Float),
                Value::Integers(items) => items.first().copied().map(Literal::Int),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an operation has operands that are tensors of integers.
fn has_integers(graph: &Graph, operation: &Operation) -> bool {
    let is_integer =
        |operand| matches!(operand, Operand::Tensor(tensor) if graph.dtype(tensor) == Some(Primitive::Integer));
    graph.operands_of(operation).any(is_integer)
}

/// Whether an operation is unchanged if operands are broadcast with the last axes aligned: operands of lower rank must
/// have one item.
fn is_fusible(graph: &Graph, operation: &Operation, op: Op) -> bool {
    // Of integers, NNEF has quotients and powers that are integers.
    let is_real = matches!(op.meaning(), Meaning::Floats(_) | Meaning::Power);
    if is_real && has_integers(graph, operation) {
        return false;
    }
    let single = matches!(graph.outputs_of(operation).next(), Some(Output::Tensor(_)));
    let fits = |operand: &Operand| matches!(operand, Operand::Tensor(_)) || literal(graph, *operand).is_some();
    let shapes = || {
        graph.operands_of(operation).filter_map(|operand| match operand {
            Operand::Tensor(tensor) => graph.shape(tensor),
            _ => None,
        })
    };
    let rank = shapes().map(|shape| shape.rank()).max().unwrap_or(0);
    let ones = |shape: &crate::graph::Shape| shape.extents().iter().all(|extent| extent.known() == Some(1));
    let aligned = shapes().all(|shape| shape.rank() == rank || ones(shape));
    single && aligned && graph.operands_of(operation).all(|operand| fits(&operand))
}
