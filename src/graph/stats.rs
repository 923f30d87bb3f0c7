//! Statistics of a graph: the numbers of operations, parameters and multiply-adds.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod elements;
mod products;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::json;

use super::{Graph, Kind, Operation, TensorId, Value};
use crate::diagnostics::visible::clean;
use crate::graph::Primitive;
use crate::graph::standard::VARIABLE;
pub(crate) use elements::bytes_of;
use products::Count;
#[cfg(feature = "onnx")]
pub(crate) use products::has_products;
pub(crate) use products::{Known, NNEF, ONNX};

/// What is known about a graph beside its operations.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// Which operations without a rule have no products.
    pub(crate) known: Known,
    /// The number of bytes of the data of a variable, by its label, if there are data.
    pub(crate) stored: &'a dyn Fn(&str) -> Option<u64>,
}

impl Setting<'_> {
    /// A graph without data of its variables.
    pub(crate) fn without_data(known: Known) -> Self {
        Setting { known, stored: &|_| None }
    }
}

/// Statistics of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// The number of operations of each name.
    pub(crate) operations: BTreeMap<String, u64>,
    /// The number of items of all variables.
    pub(crate) parameters: u64,
    /// The bytes of all variables: of their data, else of the element types that they declare. A number of NNEF without
    /// data has four bytes, a logical has one.
    pub(crate) bytes: u64,
    /// The number of multiplications whose results are added up; see [`products`].
    pub(crate) multiply_adds: u64,
    /// The variables and operations that are not counted, by name: a shape is unknown, or there is no rule.
    pub(crate) uncounted: BTreeMap<String, u64>,
}

/// The operation that introduces a weight in ONNX.
const INITIALIZER: &str = "initializer";

/// The width to which the names in a table are aligned at most.
const MOST_COLUMNS: usize = 60;

/// The number of names of operations that the table lists as not counted.
const MOST_LISTED: usize = 20;

/// What is counted for the operations of a kind.
#[derive(Clone, Copy)]
enum Counted {
    Nothing,
    Weights,
    Products(Count),
    /// It is not known whether there are products.
    Unknown,
}

impl Stats {
    /// The statistics of a graph.
    pub(crate) fn new(graph: &Graph, setting: Setting) -> Self {
        let mut stats = Stats::default();
        let counted = |kind: &Kind| match graph.text_of(kind.name) {
            VARIABLE | INITIALIZER => Counted::Weights,
            name => match products::rule(kind.standard, name) {
                Some(count) => Counted::Products(count),
                None if kind.standard || (setting.known)(name) => Counted::Nothing,
                None => Counted::Unknown,
            },
        };
        let mut kinds: Vec<_> = graph.kinds.iter().map(|kind| (counted(kind), 0u64, 0u64)).collect();
        for operation in &graph.operations {
            let kind = graph.kind_id(operation).index();
            let Some((counted, count, uncounted)) = kinds.get_mut(kind) else { continue };
            let complete = match counted {
                Counted::Nothing => true,
                Counted::Unknown => false,
                Counted::Weights => stats.variable(graph, operation, setting),
                Counted::Products(count) => stats.products(count(graph, operation)),
            };
            *count = count.saturating_add(1);
            *uncounted = uncounted.saturating_add(u64::from(!complete));
        }
        for (kind, (_, count, uncounted)) in graph.kinds.iter().zip(kinds) {
            let add = |to: &mut BTreeMap<String, u64>, count: u64| {
                if count > 0 {
                    let sum = to.entry(graph.text_of(kind.name).to_owned()).or_default();
                    *sum = sum.saturating_add(count);
                }
            };
            add(&mut stats.operations, count);
            add(&mut stats.uncounted, uncounted);
        }
        stats
    }

    /// Adds multiply-adds. Returns whether they are known.
    fn products(&mut self, count: Option<u64>) -> bool {
        self.multiply_adds = self.multiply_adds.saturating_add(count.unwrap_or(0));
        count.is_some()
    }

    /// Adds the items of a variable. Returns whether they are known.
    fn variable(&mut self, graph: &Graph, operation: &Operation, setting: Setting) -> bool {
        let mut complete = true;
        for tensor in graph.tensors_of(operation) {
            let Some(items) = shape(graph, tensor).as_deref().map(product) else {
                complete = false;
                continue;
            };
            let stored = || match graph.attribute(operation, "label")? {
                Value::String(label) => (setting.stored)(label),
                _ => None,
            };
            let declared = || match graph.attribute(operation, "type")? {
                Value::Symbol(text) => bytes_of(text.split('[').next().unwrap_or(text), items),
                _ => None,
            };
            let implied = || match graph.dtype(tensor) {
                Some(Primitive::Logical) => items,
                _ => items.saturating_mul(4),
            };
            self.parameters = self.parameters.saturating_add(items);
            self.bytes = self.bytes.saturating_add(stored().or_else(declared).unwrap_or_else(implied));
        }
        complete
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
            "unknown": self.uncounted.values().sum::<u64>(),
            "not_counted": self.uncounted,
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
        let widths = kinds.keys().map(|name| clean(name).chars().count()).filter(|width| *width <= MOST_COLUMNS);
        let width = widths.max().unwrap_or(0).max("multiply-adds".len());
        let known = |count: u64| if before.is_some() { grouped(count) } else { "?".to_owned() };
        let row = |name: &str, before: &str, after: &str| format!("{name:width$}  {before:>12}  {after:>12}\n");
        let mut text = row("operation", "before", "after");
        for (name, (before, after)) in &kinds {
            text.push_str(&row(&clean(name), &known(*before), &grouped(*after)));
        }
        text.push_str(&row("total", &known(before.map_or(0, Stats::total)), &grouped(self.total())));
        let numbers = [("parameters", self.parameters), ("bytes", self.bytes), ("multiply-adds", self.multiply_adds)];
        for (name, number) in numbers {
            text.push_str(&row(name, "", &grouped(number)));
        }
        text.push_str(&self.uncounted_line());
        text
    }

    /// The line of a table that lists what is not counted.
    fn uncounted_line(&self) -> String {
        let mut line = String::new();
        for (name, count) in self.uncounted.iter().take(MOST_LISTED) {
            let separator = if line.is_empty() { "not counted: " } else { ", " };
            let _ = write!(line, "{separator}{} ({})", clean(name), grouped(*count));
        }
        if let Some(others) = self.uncounted.len().checked_sub(MOST_LISTED).filter(|others| *others > 0) {
            let _ = write!(line, ", and {others} others");
        }
        if !line.is_empty() {
            line.push('\n');
        }
        line
    }
}

/// A number with spaces between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && digits.len().saturating_sub(i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn shape(graph: &Graph, tensor: TensorId) -> Option<Vec<i64>> {
    graph.shape(tensor)?.known()
}

fn product(extents: &[i64]) -> u64 {
    extents.iter().fold(1u64, |all, extent| all.saturating_mul(u64::try_from(*extent).unwrap_or(0)))
}

#[cfg(test)]
mod tests;
