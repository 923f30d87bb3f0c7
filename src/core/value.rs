//! Compile-time values, and their conversion to values of the graph.

use std::sync::Arc;

use super::budget::{Budget, Failure, Outcome};
use super::list::List;
use super::symbolic::Symbolic;
use crate::diagnostics::Code;
use crate::graph::{self, Common, Extent, Graph, Kept, TensorId};

/// A compile-time value of 24 bytes. Clones are cheap.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// An integer.
    Int(i64),
    /// A scalar.
    Scalar(f64),
    /// A logical.
    Logical(bool),
    /// A tensor of the graph.
    Tensor(TensorId),
    /// A dimension symbol.
    Symbol(Arc<Symbolic>),
    /// A string.
    String(List),
    /// An array.
    Array(List),
    /// A tuple.
    Tuple(List),
}

/// The maximum nesting of arrays in an attribute of the flat graph. Its readers are recursive.
pub(crate) const MAX_VALUE_DEPTH: usize = 1000;

/// The maximum nesting of lists in a literal that is shared with the graph as a whole. Values inside of these
/// lists are numbers, strings, and arrays of numbers.
pub(crate) const LITERAL_DEPTH: u8 = 2;

/// The bytes that an array of the graph takes in addition to its items.
const LIST_BYTES: u64 = 64;

impl Value {
    /// The kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "an integer",
            Value::Scalar(_) => "a scalar",
            Value::Logical(_) => "a logical",
            Value::Tensor(_) => "a tensor",
            Value::Symbol(_) => "a symbol",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Tuple(_) => "a tuple",
        }
    }

    /// Whether dropping the value has no effect, as for most values. Such values can be forgotten, which is
    /// faster: it avoids the branches of the drop code.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Value::Tensor(_) | Value::Int(_) | Value::Scalar(_) | Value::Logical(_))
    }

    /// A dimension symbol.
    pub(crate) fn symbol(name: &str) -> Value {
        Value::Symbol(Arc::new(Symbolic::symbol(name)))
    }

    /// An extent: an integer, or an expression on symbols.
    pub(crate) fn extent(extent: &Extent) -> Value {
        match extent.known() {
            Some(extent) => Value::Int(extent),
            None => Value::Symbol(Arc::new(Symbolic::extent(extent.clone()))),
        }
    }

    /// The integer, if it is one.
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// Stores a plain value ([`Value::is_plain`]) in the graph, as an argument.
    #[inline]
    pub(super) fn keep(&self, graph: &mut Graph) -> Kept {
        match self {
            Value::Tensor(tensor) => Kept::tensor(*tensor),
            Value::Int(i) => graph.keep(graph::Value::Int(*i)),
            Value::Scalar(s) => graph.keep(graph::Value::Scalar(*s)),
            Value::Logical(b) => graph.keep(graph::Value::Logical(*b)),
            _ => graph.keep(graph::Value::Logical(false)),
        }
    }

    /// Adds the frozen value ([`Value::freeze`]) to the arguments of the operation that is built next.
    #[inline(never)]
    pub(super) fn push(&self, graph: &mut Graph, budget: &Budget, common: &mut Common) -> Outcome<()> {
        if let Value::Array(list) = self {
            let outcome = list.with_tensors(|tensors| {
                count_kept(list, budget)?;
                graph.push_tensors(tensors);
                common.add(None);
                Ok(())
            });
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
        graph.push_operand(self.freeze(budget)?, common);
        Ok(())
    }

    /// Converts the value to one of the graph. Its memory is counted for the rest of the expansion: lists that
    /// share a buffer here do not share it in the graph.
    pub(crate) fn freeze(&self, budget: &Budget) -> Outcome<graph::Value> {
        self.freeze_within(budget, 0)
    }

    fn freeze_within(&self, budget: &Budget, depth: usize) -> Outcome<graph::Value> {
        if depth > MAX_VALUE_DEPTH {
            let message = format!("an attribute is nested deeper than {MAX_VALUE_DEPTH}");
            return Err(Failure::new(Code::TooDeep, message));
        }
        if let Value::String(list) | Value::Array(list) | Value::Tuple(list) = self {
            count_kept(list, budget)?;
        }
        let items = |list: &List| -> Outcome<Arc<[graph::Value]>> {
            if depth + usize::from(LITERAL_DEPTH) <= MAX_VALUE_DEPTH
                && let Some(items) = list.literal_values()
            {
                items.iter().try_for_each(|item| count_literal(item, budget))?;
                return Ok(items);
            }
            let freeze =
                |value: &Value| stacker::maybe_grow(64 * 1024, 1024 * 1024, || value.freeze_within(budget, depth + 1));
            list.to_values().iter().map(freeze).collect()
        };
        Ok(match self {
            Value::Int(i) => graph::Value::Int(*i),
            Value::Scalar(s) => graph::Value::Scalar(*s),
            Value::Logical(b) => graph::Value::Logical(*b),
            Value::Tensor(t) => graph::Value::Tensor(*t),
            Value::Symbol(symbolic) if symbolic.is_unknown() => return Err(unknown_extent()),
            Value::Symbol(symbolic) => graph::Value::Symbol(symbolic.text()),
            Value::String(list) => graph::Value::String(list.to_shared_text()),
            Value::Array(list) => match list.packed() {
                Some(packed) => packed,
                None => graph::Value::Array(items(list)?),
            },
            Value::Tuple(list) => graph::Value::Tuple(items(list)?),
        })
    }
}

/// Converts a value of a signature or a document: a literal number or string, or a list of these.
impl From<&graph::Value> for Value {
    fn from(value: &graph::Value) -> Value {
        match value {
            graph::Value::Int(i) => Value::Int(*i),
            graph::Value::Scalar(s) => Value::Scalar(*s),
            graph::Value::Logical(b) => Value::Logical(*b),
            graph::Value::Tensor(tensor) => Value::Tensor(*tensor),
            graph::Value::Symbol(text) => Value::Symbol(Arc::new(Symbolic::symbol(text))),
            list => {
                let items = List::of_literal(list).unwrap_or_else(|| List::from_values(Vec::new(), None));
                match list {
                    graph::Value::String(_) => Value::String(items),
                    graph::Value::Tuple(_) => Value::Tuple(items),
                    _ => Value::Array(items),
                }
            }
        }
    }
}

/// Counts the memory of a list in the graph.
fn count_kept(list: &List, budget: &Budget) -> Outcome<()> {
    count(list.len(), list.weight_of(list.len()), budget)
}

/// Counts the lists in an item of a literal. Although they are shared, they count each time, since each copy is
/// written.
fn count_literal(item: &graph::Value, budget: &Budget) -> Outcome<()> {
    let (len, bytes, items) = match item {
        graph::Value::Integers(items) => (items.len(), size_of_val(&items[..]), None),
        graph::Value::Scalars(items) => (items.len(), size_of_val(&items[..]), None),
        graph::Value::String(text) => (text.len(), text.len(), None),
        graph::Value::Array(items) | graph::Value::Tuple(items) => (items.len(), size_of_val(&items[..]), Some(items)),
        _ => return Ok(()),
    };
    count(len, bytes as u64, budget)?;
    items.iter().flat_map(|items| items.iter()).try_for_each(|item| count_literal(item, budget))
}

/// Counts a list of the graph, with the number of its items and their bytes.
fn count(len: usize, bytes: u64, budget: &Budget) -> Outcome<()> {
    let bytes = bytes.saturating_add(LIST_BYTES);
    budget.allow(len, bytes)?;
    budget.meter.keep(bytes);
    Ok(())
}

/// The advice for failures that are due to an unknown extent.
pub(crate) const GIVE_SHAPES: &str = "give the shapes of the inputs with --input-shape";

/// The failure of an attribute that depends on an unknown extent.
fn unknown_extent() -> Box<Failure> {
    let message = "this depends on an extent that is not known while expanding";
    Failure::new(Code::NotCompileTime, message).help(GIVE_SHAPES)
}
