//! Symbols for extents that nothing determines.

use rustc_hash::FxHashSet;

use super::facts::{TensorExtents, ValueType};
use crate::graph::dims::{Dim, UNNAMED as PREFIX};
use crate::source::names::{Name, Names};

/// A point in the sequence of new symbols.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SymbolMark(u64);

/// Whether an extent mentions a symbol that was made since a mark.
fn is_local(dim: &Dim, SymbolMark(mark): SymbolMark) -> bool {
    let mut found = false;
    let number = |symbol: &str| symbol.strip_prefix(PREFIX).and_then(|number| number.parse::<u64>().ok());
    dim.each_symbol(&mut |symbol| found |= number(symbol).is_some_and(|number| number >= mark));
    found
}

/// A source of symbols that do not occur in the model.
#[derive(Debug)]
pub(super) struct FreshSymbols<'m> {
    texts: &'m Names,
    next: u64,
    /// The numbers of symbols that texts of the model have; none before the first new symbol.
    taken: Option<FxHashSet<u64>>,
}

/// What is left of a source of symbols that was lent.
#[derive(Debug)]
pub(super) struct SymbolNumbers {
    next: u64,
    taken: Option<FxHashSet<u64>>,
}

impl<'m> FreshSymbols<'m> {
    /// Symbols that are none of these texts.
    pub(super) fn new(texts: &'m Names) -> Self {
        FreshSymbols { texts, next: 0, taken: None }
    }

    /// The same source for something apart, until the numbers of its symbols are given back.
    pub(super) fn lend(&mut self) -> Self {
        FreshSymbols { texts: self.texts, next: self.next, taken: self.taken.take() }
    }

    /// The numbers of a source that was lent.
    pub(super) fn numbers(self) -> SymbolNumbers {
        SymbolNumbers { next: self.next, taken: self.taken }
    }

    /// Goes on after the symbols of a source that was lent.
    pub(super) fn take_back(&mut self, numbers: SymbolNumbers) {
        (self.next, self.taken) = (numbers.next, numbers.taken);
    }

    /// A new symbol.
    pub(super) fn symbol(&mut self) -> Dim {
        let texts = self.texts;
        let taken = self.taken.get_or_insert_with(|| {
            let texts = (0..texts.len()).map(|i| texts.text(Name::new(i)));
            texts.filter_map(|text| text.strip_prefix(PREFIX)?.parse().ok()).collect()
        });
        while taken.contains(&self.next) {
            self.next += 1;
        }
        self.next += 1;
        Dim::symbol(&format!("{PREFIX}{}", self.next - 1))
    }

    /// The point after the symbols that exist now.
    pub(super) fn mark(&self) -> SymbolMark {
        SymbolMark(self.next)
    }

    /// The type of a value of which many exist, one for each turn of a loop: extents with symbols that were made since
    /// the mark are unknown, since they differ from turn to turn, and so are items.
    pub(super) fn without_local(&self, ty: &ValueType, mark: SymbolMark) -> ValueType {
        match ty {
            ValueType::Tensor(facts) => {
                let global = |dim: &Dim| if is_local(dim, mark) { Dim::Unknown } else { dim.clone() };
                let shape = facts.shape.as_ref().map(|shape| shape.iter().map(global).collect());
                ValueType::tensor(facts.element, shape)
            }
            ValueType::Sequence(item) => ValueType::Sequence(Box::new(self.without_local(item, mark))),
            ValueType::Optional(content) => ValueType::Optional(Box::new(self.without_local(content, mark))),
            other => other.clone(),
        }
    }

    /// The extents with new symbols for unknown ones.
    pub(super) fn completed(&mut self, extents: TensorExtents) -> TensorExtents {
        if extents.iter().all(|extent| *extent != Dim::Unknown) {
            return extents;
        }
        extents.iter().map(|extent| if *extent == Dim::Unknown { self.symbol() } else { extent.clone() }).collect()
    }

    /// The type with new symbols for unknown extents of a tensor. Those of items of sequences differ from item to item
    /// and stay unknown.
    pub(super) fn complete(&mut self, ty: &mut ValueType) {
        if let ValueType::Tensor(facts) = ty {
            facts.shape = facts.shape.take().map(|shape| self.completed(shape));
        }
    }
}
