//! Parts of expressions that were begun, and how deep they may be nested.

use super::Statement;
use crate::graph::Primitive;
use crate::nnef::ast::{BinaryOp, Builtin, ExprId, Ident, UnaryOp};
use crate::nnef::grammar::depth::MAX_NESTING;
use crate::source::Span;

/// How deep expressions can nest whatever else there is in the statement.
pub(super) const SHALLOW: u32 = 16;

/// A part of an expression that was begun: what is read next belongs to it. `start` is where it
/// starts in the text, `base` how much of lists that are collected is of others.
#[derive(Clone, Copy, Debug)]
pub(super) enum Open {
    /// An operator, its right side.
    Operator { op: BinaryOp, lhs: ExprId, start: u32, at: u32 },
    /// A prefix operator, its operand.
    Unary { op: UnaryOp, start: u32 },
    /// A select behind `if`.
    Condition { yes: ExprId, start: u32 },
    /// A select behind `else`.
    Otherwise { condition: ExprId, yes: ExprId, start: u32 },
    /// Parentheses or a tuple.
    Parentheses { start: u32, base: u32 },
    /// The items of an array.
    Array { start: u32, base: u32 },
    /// The arguments of a call. Whether the last one is there already, without its value.
    Call { name: Ident, generic: Option<(Primitive, Span)>, base: u32, named: bool },
    /// The argument of a built-in function.
    Builtin { function: Builtin, start: u32 },
    /// A subscript up to its colon or bracket.
    Subscript { base: ExprId, start: u32 },
    /// A subscript behind its colon.
    Range { base: ExprId, start: u32, begin: Option<ExprId> },
    /// What an iterator of a comprehension runs over.
    Iterable { name: Ident, start: u32, base: u32 },
    /// The filter of a comprehension.
    Filter { start: u32, base: u32 },
    /// The item of a comprehension.
    Item { start: u32, base: u32, filter: Option<ExprId> },
}

impl Open {
    /// Whether it is one for [`depth`](crate::nnef::grammar::depth) as long as it is open, and not
    /// up to the next comma.
    fn is_bracket(self) -> bool {
        !matches!(self, Open::Unary { .. } | Open::Condition { .. } | Open::Otherwise { .. })
    }
}

/// How deep the expression at hand is nested. Operators between operands are no levels.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// All that is open.
    pub(super) depth: u32,
    /// Brackets that are open.
    brackets: usize,
    /// Selects and prefix operators so far.
    others: usize,
}

impl Levels {
    /// No fewer than are counted before anything recurses, where what stands beside each other is
    /// added up, too.
    fn count(&self) -> usize {
        self.brackets + self.others
    }
}

impl Statement<'_, '_, '_> {
    /// Begins a part; gives up where the nesting may be too deep.
    #[inline]
    pub(super) fn open(&mut self, open: Open) -> Option<()> {
        self.levels.depth += 1;
        match open.is_bracket() {
            true => self.levels.brackets += 1,
            false => self.levels.others += 1,
        }
        if self.levels.depth > SHALLOW && self.levels.count() > MAX_NESTING {
            return None;
        }
        crate::room::push(&mut self.reader.open, open);
        Some(())
    }

    /// Ends the part that was begun last.
    #[inline]
    pub(super) fn close(&mut self) {
        if let Some(open) = self.reader.open.pop() {
            self.levels.depth -= 1;
            self.levels.brackets -= usize::from(open.is_bracket());
        }
    }

    /// Goes on to the next stage of the part that was begun last.
    #[inline]
    pub(super) fn replace(&mut self, open: Open) {
        if let Some(last) = self.reader.open.last_mut() {
            *last = open;
        }
    }

    /// Whether a bracket with a signed number in it is not too deep here.
    pub(super) fn has_room_for_numbers(&self) -> bool {
        self.levels.depth < SHALLOW || self.levels.count() + 2 <= MAX_NESTING
    }
}
