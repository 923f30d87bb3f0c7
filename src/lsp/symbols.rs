//! The names of a text: what each stands for, and where it occurs.

use crate::source::Span;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolKind {
    /// A fragment, an operation of a library, or a function.
    Operation,
    /// A parameter of an operation, or an attribute.
    Parameter,
    /// A tensor, or another value of a body.
    Local,
    /// A graph.
    Graph,
    /// A symbol that stands for an extent.
    Extent,
}

/// Where a name is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// In the text itself: the definitions are among the occurrences.
    Here,
    /// In a text of the program, under its name: the standard library, or a registry.
    Library(&'static str, Span),
    /// In a file of declarations that the options name.
    File(String, Span),
}

/// A name with a meaning.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) kind: SymbolKind,
    pub(super) home: Home,
    /// The body in which it is known: names in one body differ. None for what is known everywhere.
    pub(super) body: Option<u32>,
    /// Why it cannot be renamed.
    pub(super) fixed: Option<&'static str>,
}

/// Identifies a symbol of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SymbolId(u32);

/// A place where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) span: Span,
    pub(super) symbol: SymbolId,
    /// Whether it gives the name its meaning.
    pub(super) defines: bool,
}

/// All names of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolIndex {
    symbols: Vec<Symbol>,
    /// Sorted by their starts, when the index is complete.
    occurrences: Vec<Occurrence>,
}

impl SymbolIndex {
    pub(super) fn add(&mut self, symbol: Symbol) -> SymbolId {
        self.symbols.push(symbol);
        SymbolId(self.symbols.len() as u32 - 1)
    }

    pub(super) fn occurs(&mut self, symbol: SymbolId, span: Span, defines: bool) {
        self.occurrences.push(Occurrence { span, symbol, defines });
    }

    /// Sorts the occurrences, after the last one.
    pub(super) fn complete(mut self) -> Self {
        self.occurrences.sort_by_key(|occurrence| (occurrence.span.start, occurrence.span.end));
        self
    }

    /// A symbol; none for an id of another text.
    pub(super) fn symbol(&self, id: SymbolId) -> Option<&Symbol> {
        self.symbols.get(id.0 as usize)
    }

    /// The occurrence at an offset: also at its end, where a cursor stands after typing it.
    pub(super) fn at(&self, offset: u32) -> Option<(Occurrence, &Symbol)> {
        let after = self.occurrences.partition_point(|occurrence| occurrence.span.start <= offset);
        let found = *self.occurrences.get(after.checked_sub(1)?)?;
        let symbol = self.symbol(found.symbol)?;
        (offset <= found.span.end).then_some((found, symbol))
    }

    /// The occurrences in a span, in the order of the text.
    pub(super) fn within(&self, span: Span) -> impl Iterator<Item = (&Occurrence, &Symbol)> {
        let first = self.occurrences.partition_point(|occurrence| occurrence.span.start < span.start);
        let found = self.occurrences.iter().skip(first).take_while(move |occurrence| occurrence.span.start < span.end);
        found.filter_map(|occurrence| Some((occurrence, self.symbol(occurrence.symbol)?)))
    }

    /// All occurrences of a symbol, in the order of the text.
    pub(super) fn of(&self, symbol: SymbolId) -> impl Iterator<Item = &Occurrence> {
        self.occurrences.iter().filter(move |occurrence| occurrence.symbol == symbol)
    }

    /// The definition that an occurrence refers to: the last one before it, else the first one.
    pub(super) fn definition(&self, of: &Occurrence) -> Option<Span> {
        let defining = || self.of(of.symbol).filter(|occurrence| occurrence.defines);
        let before = defining().take_while(|occurrence| occurrence.span.start <= of.span.start).last();
        before.or_else(|| defining().next()).map(|occurrence| occurrence.span)
    }

    /// A symbol with a name that is known where another symbol is. Operations and graphs have names of their own.
    pub(super) fn clash(&self, symbol: &Symbol, name: &str) -> Option<&Symbol> {
        let space = |kind| match kind {
            SymbolKind::Parameter | SymbolKind::Local | SymbolKind::Extent => SymbolKind::Local,
            other => other,
        };
        self.symbols.iter().find(|other| {
            let meets = symbol.body.zip(other.body).is_none_or(|(body, other)| body == other);
            meets && other.name == name && space(other.kind) == space(symbol.kind)
        })
    }
}
