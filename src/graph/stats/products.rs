//! Multiply-adds: a rule for each operation that computes sums of products, in NNEF, its registries, ONNX and torch.
//!
//! A rule needs the shapes of operands or results. Elements outside the borders of a tensor count, as all tools
//! that count multiply-adds do it.

use super::amount::Amount;
use super::extents::shape;
use crate::dictionary::{self, Products, Vocabulary};
use crate::extents::Formula;
use crate::graph::dims::Dim;
use crate::graph::{Graph, Key, Operand, Operation, TensorId, Value};

/// Counts the multiply-adds of an operation; none if they are not known.
pub(super) type Count = fn(&Graph, &Operation) -> Option<Amount>;

/// Whether an operation without a rule that does not belong to the standard of NNEF is known to have no products.
pub(crate) type Known = fn(&str) -> bool;

/// Graphs of NNEF, which may have operations of registries and of torch.
pub(crate) const NNEF: Known = |name| FAMILIES.iter().any(|prefix| name.starts_with(prefix));

/// The view of a model of ONNX: operators without a domain are those of ONNX.
pub(crate) const ONNX: Known = |name| !name.contains('.');

/// The beginnings of names of operations that are known: those with products have a rule.
const FAMILIES: &[&str] = &["tract_", "nn_", "F_", "torch_", "Tensor_"];

/// The rule of an operation, if it has products. `standard` states whether it belongs to the standard of NNEF.
pub(super) fn rule(standard: bool, name: &str) -> Option<Count> {
    let vocabulary = if standard { Vocabulary::Standard } else { Vocabulary::Foreign };
    dictionary::find(vocabulary, name)?.products.map(function)
}

/// The function of a rule.
fn function(rule: Products) -> Count {
    match rule {
        Products::ForEachResult => for_each_result,
        Products::ForEachInput => for_each_input,
        Products::SeparableResult => |graph, operation| separable(graph, operation, result(graph, operation)?),
        Products::SeparableInput => {
            |graph, operation| separable(graph, operation, operand(graph, operation, INPUT, 0)?)
        }
        Products::Linear => linear,
        Products::Matmul => matmul,
        Products::ByAttribute => by_attribute,
        Products::AlongAxes => along_axes,
        Products::Einsum => einsum,
        Products::Recurrent => recurrent,
        Products::Attention => attention,
        Products::NotCounted => |_, _| None,
    }
}

/// The names of operands in the notations.
type OperandNames = &'static [&'static str];
const INPUT: OperandNames = &["input", "X", "x", "query", "q", "Q"];
const FILTER: OperandNames = &["filter", "W", "w", "weight"];
const LEFT: OperandNames = &["A", "a", "mat1", "batch1", "input"];
const RIGHT: OperandNames = &["B", "b", "mat2", "batch2", "other", "vec", "tensor"];
const KEYS: OperandNames = &["k", "K", "key"];
const VALUES: OperandNames = &["v", "V", "value"];

/// An argument that has one of these names, or this position if it has no name.
fn argument<'g>(graph: &'g Graph, operation: &Operation, names: OperandNames, position: usize) -> Option<Operand<'g>> {
    let by_position = || {
        let unnamed = graph.arguments(operation).filter(|(key, _)| *key == Key::Positional);
        unnamed.map(|(_, operand)| operand).nth(position)
    };
    names.iter().find_map(|name| graph.argument(operation, name)).or_else(by_position)
}

/// The shape of an operand.
fn operand(graph: &Graph, operation: &Operation, names: OperandNames, position: usize) -> Option<Vec<Dim>> {
    match argument(graph, operation, names, position)? {
        Operand::Tensor(tensor) => shape(graph, tensor),
        Operand::Tensors(_) | Operand::Value(_) => None,
    }
}

fn result(graph: &Graph, operation: &Operation) -> Option<Vec<Dim>> {
    shape(graph, graph.tensors_of(operation).next()?)
}

fn integer(graph: &Graph, operation: &Operation, name: &str) -> Option<i64> {
    match graph.attribute(operation, name)? {
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

/// Each item of the result is a sum over the weights of one output channel, which is the first axis of the filter.
fn for_each_result(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let weights = Amount::product(operand(graph, operation, FILTER, 1)?.get(1..)?);
    Some(Amount::product(&result(graph, operation)?).times(&weights))
}

/// Each item of the input is multiplied by the weights of its channel, whichever axis of the filter that is.
fn for_each_input(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let (input, filter) = (operand(graph, operation, INPUT, 0)?, operand(graph, operation, FILTER, 1)?);
    let channels = u64::try_from(input.get(1)?.known()?).ok()?;
    let weights = Amount::product(&filter).known()?.checked_div(channels).unwrap_or(0);
    Some(Amount::product(&input).times(&Amount::from(weights)))
}

/// Each position of the result, or of the input of a transposed operation, uses all weights of both filters once.
fn separable(graph: &Graph, operation: &Operation, mut places: Vec<Dim>) -> Option<Amount> {
    *places.get_mut(1)? = Dim::Int(1);
    let filter = |names| operand(graph, operation, names, 0).map(|filter| Amount::product(&filter));
    let mut weights = filter(&["plane_filter"])?;
    weights.add(&filter(&["point_filter"])?);
    Some(Amount::product(&places).times(&weights))
}

/// A matrix of so many rows and columns for each index of the batch.
struct Matrices {
    batch: Vec<Dim>,
    rows: Dim,
    columns: Dim,
}

impl Matrices {
    /// The matrices in the last two axes of an operand. A vector is one row.
    fn new(mut shape: Vec<Dim>, transposed: bool) -> Option<Matrices> {
        let last = shape.pop()?;
        let before = shape.pop().unwrap_or(Dim::Int(1));
        let (rows, columns) = if transposed { (last, before) } else { (before, last) };
        Some(Matrices { batch: shape, rows, columns })
    }

    /// The multiply-adds of the product with other matrices; batches are aligned at their last axes.
    fn times(&self, other: &Matrices) -> Amount {
        let (long, short) = match self.batch.len() >= other.batch.len() {
            true => (&self.batch, &other.batch),
            false => (&other.batch, &self.batch),
        };
        let others = short.iter().rev().chain(std::iter::repeat(&Dim::Int(1)));
        let extent = |(extent, other): (&Dim, &Dim)| match (extent, other) {
            (Dim::Int(1), other) => other.clone(),
            (Dim::Int(_), _) => extent.clone(),
            _ => extent.clone().broadcast(other.clone()).unwrap_or_else(|| extent.clone()),
        };
        let mut factors: Vec<Dim> = long.iter().rev().zip(others).map(extent).collect();
        factors.extend([self.rows.clone(), self.columns.clone(), other.columns.clone()]);
        Amount::product(&factors)
    }
}

fn matmul(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let transposed = |names: OperandNames| match names.iter().find_map(|name| graph.argument(operation, name)) {
        None => Some(false),
        Some(Operand::Value(Value::Logical(transposed))) => Some(*transposed),
        Some(Operand::Value(Value::Int(transposed))) => Some(*transposed != 0),
        Some(_) => None,
    };
    let (a, b) = (operand(graph, operation, LEFT, 0)?, operand(graph, operation, RIGHT, 1)?);
    // A vector on the right is a column.
    let column = b.len() == 1;
    let a = Matrices::new(a, transposed(&["transposeA", "trA", "transA"])?)?;
    Some(a.times(&Matrices::new(b, column || transposed(&["transposeB", "trB", "transB"])?)?))
}

/// A product with a filter whose rows are those of the result.
fn linear(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let (input, filter) = (operand(graph, operation, INPUT, 0)?, operand(graph, operation, FILTER, 1)?);
    Some(Matrices::new(input, false)?.times(&Matrices::new(filter, true)?))
}

/// A product with packed weights: the attribute `K` is the number of items of a sum.
fn by_attribute(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let terms = Amount::product(&[Dim::Int(integer(graph, operation, "K")?)]);
    Some(Amount::product(&result(graph, operation)?).times(&terms))
}

/// A product along axes that an attribute names: the second one is that of the sums in the first operand.
fn along_axes(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let axes = graph.attribute(operation, "axes")?.as_integers()?;
    let sums = usize::try_from(*axes.get(1)?).ok()?;
    let terms = Amount::product(operand(graph, operation, LEFT, 0)?.get(sums..=sums)?);
    Some(Amount::product(&result(graph, operation)?).times(&terms))
}

/// All combinations of indices, once for each operand but the first. Without a sum there is no product to add.
fn einsum(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let expression = ["expr", "equation"].iter().find_map(|name| graph.attribute(operation, name))?;
    let Value::String(text) = expression else { return None };
    let mut tensors: Vec<TensorId> = Vec::new();
    match graph.argument(operation, "inputs") {
        Some(inputs) => inputs.each_tensor(&mut |tensor| tensors.push(tensor)),
        None => graph.each_operand_tensor(operation, |tensor| tensors.push(tensor)),
    }
    let shapes = tensors.iter().map(|tensor| shape(graph, *tensor)).collect::<Option<Vec<_>>>()?;
    let mut formula = Formula::read(text, char::is_alphabetic).ok()?;
    // That of quantized numbers has terms for zero points and scales, too, which are arguments of their own.
    formula.operands.truncate(tensors.len());
    let equation = formula.of_ranks(&shapes.iter().map(Vec::len).collect::<Vec<_>>()).ok()?;
    let extents = equation.sizes(&shapes.iter().map(|shape| Some(&shape[..])).collect::<Vec<_>>()).ok()?;
    let factors = tensors.len().checked_sub(1)? as u64;
    let sums = extents.keys().any(|axis| !equation.result.contains(axis));
    let all: Vec<Dim> = extents.into_values().collect();
    Some(if sums { Amount::product(&all).times(&Amount::from(factors)) } else { Amount::from(0) })
}

/// Each step of each sequence uses all weights of inputs and states once.
fn recurrent(graph: &Graph, operation: &Operation) -> Option<Amount> {
    let input = operand(graph, operation, INPUT, 0)?;
    let (_, steps) = input.split_last()?;
    let mut weights = Amount::default();
    for (i, (key, operand)) in graph.arguments(operation).enumerate() {
        let name = match key {
            Key::Named(name) => graph.text_of(name),
            Key::Param(_) | Key::Positional => "",
        };
        let is_weight =
            matches!(name, "W" | "R") || name.starts_with("weight_") || name.is_empty() && (1..3).contains(&i);
        if let (true, Operand::Tensor(tensor)) = (is_weight, operand) {
            weights.add(&Amount::product(&shape(graph, tensor)?));
        }
    }
    (weights != Amount::default()).then(|| Amount::product(steps).times(&weights))
}

/// Products of queries and keys, then of weights and values. Keys of earlier steps are of unknown number.
fn attention(graph: &Graph, operation: &Operation) -> Option<Amount> {
    if graph.argument(operation, "past_key").is_some() {
        return None;
    }
    let queries = operand(graph, operation, INPUT, 0)?;
    let (keys, values) = (operand(graph, operation, KEYS, 1)?, operand(graph, operation, VALUES, 2)?);
    let (_, places) = queries.split_last()?;
    let at = keys.len().checked_sub(2)?;
    let count = Amount::product(keys.get(at..=at)?);
    // With the heads side by side in the last axis, several heads of queries may share one of values.
    let heads = |name| integer(graph, operation, name).and_then(|count| u64::try_from(count).ok());
    let sharing = match (heads("q_num_heads"), heads("kv_num_heads")) {
        (Some(queries), Some(values)) => queries.checked_div(values)?,
        _ => 1,
    };
    let size = Amount::product(values.get(values.len().checked_sub(1)?..)?);
    let mut each = Amount::product(places).times(&size).times(&Amount::from(sharing));
    each.add(&Amount::product(&queries));
    Some(each.times(&count))
}
