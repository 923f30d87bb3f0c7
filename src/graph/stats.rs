//! Statistics of a graph: the numbers of operations, parameters and multiply-adds.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Graph, Operand, Operation, TensorId, Value};
use crate::graph::Primitive;

/// Statistics of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// The number of operations of each name.
    pub(crate) operations: BTreeMap<String, u64>,
    /// The number of items of all variables.
    pub(crate) parameters: u64,
    /// The bytes of all variables: four for a scalar or an integer, one for a logical.
    pub(crate) bytes: u64,
    /// The number of multiplications by weights; see [`PRODUCTS`].
    pub(crate) multiply_adds: u64,
    /// The number of variables and operations that are not counted because a shape is unknown.
    pub(crate) unknown: u64,
}

/// The operations that introduce weights, in NNEF and in ONNX.
const VARIABLES: &[&str] = &["variable", "initializer"];

impl Stats {
    /// The statistics of a graph.
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut stats = Stats::default();
        let mut kinds = vec![0u64; graph.kinds.len()];
        for operation in &graph.operations {
            kinds[graph.kind_id(operation).index()] += 1;
            let name = graph.operation_name(operation);
            if VARIABLES.contains(&name) {
                stats.variable(graph, operation);
            } else if let Some((_, count)) = PRODUCTS.iter().find(|(product, _)| *product == name) {
                match count(graph, operation) {
                    Some(count) => stats.multiply_adds = stats.multiply_adds.saturating_add(count),
                    None => stats.unknown += 1,
                }
            }
        }
        for (kind, count) in graph.kinds.iter().zip(kinds).filter(|(_, count)| *count > 0) {
            *stats.operations.entry(graph.text_of(kind.name).to_owned()).or_default() += count;
        }
        stats
    }

    fn variable(&mut self, graph: &Graph, operation: &Operation) {
        for tensor in graph.tensors_of(operation) {
            let Some(items) = shape(graph, tensor).as_deref().map(product) else {
                self.unknown += 1;
                continue;
            };
            let size = if graph.tensors[tensor.index()].dtype == Some(Primitive::Logical) { 1 } else { 4 };
            self.parameters = self.parameters.saturating_add(items);
            self.bytes = self.bytes.saturating_add(items.saturating_mul(size));
        }
    }

    /// The number of operations.
    pub(crate) fn total(&self) -> u64 {
        self.operations.values().sum()
    }

    /// The statistics as JSON; `before` are those of the document before it was flattened, if known.
    pub(crate) fn to_json(&self, before: Option<&Stats>) -> serde_json::Value {
        json!({
            "operations": { "before": before.map(|before| &before.operations), "after": self.operations },
            "total": { "before": before.map(Stats::total), "after": self.total() },
            "parameters": self.parameters,
            "bytes": self.bytes,
            "multiply_adds": self.multiply_adds,
            "unknown": self.unknown,
        })
    }

    /// The statistics as a text table.
    pub(crate) fn to_text(&self, before: Option<&Stats>) -> String {
        let mut kinds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let none = Stats::default();
        for (name, count) in &before.unwrap_or(&none).operations {
            kinds.entry(name).or_default().0 = *count;
        }
        for (name, count) in &self.operations {
            kinds.entry(name).or_default().1 = *count;
        }
        let width = kinds.keys().map(|name| name.chars().count()).max().unwrap_or(0).max("multiply-adds".len());
        let known = |count: u64| if before.is_some() { grouped(count) } else { "?".to_owned() };
        let row = |name: &str, before: &str, after: &str| format!("{name:width$}  {before:>12}  {after:>12}\n");
        let mut text = row("operation", "before", "after");
        for (name, (before, after)) in &kinds {
            text.push_str(&row(name, &known(*before), &grouped(*after)));
        }
        text.push_str(&row("total", &known(before.map_or(0, Stats::total)), &grouped(self.total())));
        let numbers = [("parameters", self.parameters), ("bytes", self.bytes), ("multiply-adds", self.multiply_adds)];
        for (name, number) in numbers {
            text.push_str(&row(name, "", &grouped(number)));
        }
        if self.unknown > 0 {
            text.push_str(&row("not counted", "", &grouped(self.unknown)));
        }
        text
    }
}

/// A number with spaces between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Counts the multiply-adds of an operation; none if a shape is unknown.
type Count = fn(&Graph, &Operation) -> Option<u64>;

/// The operations that compute sums of products.
pub(crate) const PRODUCTS: &[(&str, Count)] = &[
    ("conv", for_each_result),
    ("planewise_conv", for_each_result),
    ("deconv", for_each_input),
    ("planewise_deconv", for_each_input),
    ("separable_conv", |graph, operation| separable(graph, operation, result(graph, operation)?)),
    ("separable_deconv", |graph, operation| separable(graph, operation, argument(graph, operation, "input")?)),
    ("linear", for_each_result),
    ("matmul", matmul),
];

fn shape(graph: &Graph, tensor: TensorId) -> Option<Vec<i64>> {
    graph.shape(tensor)?.known()
}

fn product(extents: &[i64]) -> u64 {
    extents.iter().fold(1u64, |all, extent| all.saturating_mul(u64::try_from(*extent).unwrap_or(0)))
}

fn argument(graph: &Graph, operation: &Operation, name: &str) -> Option<Vec<i64>> {
    match graph.argument(operation, name)? {
        Operand::Tensor(tensor) => shape(graph, tensor),
        Operand::Tensors(_) | Operand::Value(_) => None,
    }
}

fn result(graph: &Graph, operation: &Operation) -> Option<Vec<i64>> {
    shape(graph, graph.tensors_of(operation).next()?)
}

/// The number of weights of one output channel.
fn weights(graph: &Graph, operation: &Operation) -> Option<u64> {
    Some(product(argument(graph, operation, "filter")?.get(1..)?))
}

fn for_each_result(graph: &Graph, operation: &Operation) -> Option<u64> {
    Some(product(&result(graph, operation)?).saturating_mul(weights(graph, operation)?))
}

fn for_each_input(graph: &Graph, operation: &Operation) -> Option<u64> {
    Some(product(&argument(graph, operation, "input")?).saturating_mul(weights(graph, operation)?))
}

/// Each position of the result, or of the input of a transposed operation, uses all weights of both filters once.
fn separable(graph: &Graph, operation: &Operation, mut places: Vec<i64>) -> Option<u64> {
    *places.get_mut(1)? = 1;
    let filter = |name| argument(graph, operation, name).map(|filter| product(&filter));
    Some(product(&places).saturating_mul(filter("plane_filter")?.saturating_add(filter("point_filter")?)))
}

fn matmul(graph: &Graph, operation: &Operation) -> Option<u64> {
    let a = argument(graph, operation, "A")?;
    let flag = graph.argument(operation, "transposeA").or_else(|| graph.argument(operation, "trA"));
    let transposed = match flag {
        Some(Operand::Value(Value::Logical(transposed))) => *transposed,
        Some(_) => return None,
        None => false,
    };
    let inner = if transposed { a.len().checked_sub(2)? } else { a.len().checked_sub(1)? };
    Some(product(&result(graph, operation)?).saturating_mul(product(&[*a.get(inner)?])))
}

#[cfg(test)]
mod tests;
