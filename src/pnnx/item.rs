//! What operands and results stand for while graphs are created.

use std::ops::Deref;
use std::sync::Arc;

use super::tokens::Literal;
use crate::graph::TensorId;

/// The expansion of an operand or of a node of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExpandedItem {
    /// A tensor.
    Tensor(TensorId),
    /// A literal.
    Literal(Literal),
    /// A constant text, which is a setting of operators.
    Text(Arc<str>),
    /// The items of a list.
    List(List),
    /// None: the error has been reported.
    Refused,
}

/// The items of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List {
    items: Arc<[ExpandedItem]>,
    /// The nesting: 1 without lists in it.
    depth: u32,
    /// The number of items, with those of lists in it.
    count: u64,
}

/// The maximum nesting of lists. Functions on items are recursive.
pub(crate) const MAX_DEPTH: u32 = 64;

impl List {
    /// A list; none if it is nested too deep.
    pub(crate) fn new(items: &[ExpandedItem]) -> Option<List> {
        let lists =
            || items.iter().filter_map(|item| if let ExpandedItem::List(list) = item { Some(list) } else { None });
        let depth = lists().map(|list| list.depth).max().unwrap_or(0) + 1;
        let count = lists().fold(items.len() as u64, |count, list| count.saturating_add(list.count));
        (depth <= MAX_DEPTH).then(|| List { items: items.into(), depth, count })
    }
}

impl Deref for List {
    type Target = [ExpandedItem];

    fn deref(&self) -> &[ExpandedItem] {
        &self.items
    }
}

impl ExpandedItem {
    /// The number of items of a list, with those of lists in it; 0 if it is not a list.
    pub(crate) fn count(&self) -> u64 {
        match self {
            ExpandedItem::List(list) => list.count,
            _ => 0,
        }
    }
}
