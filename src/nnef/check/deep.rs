//! Expressions that are nested deeply.
//!
//! A level of recursion takes a kilobyte of stack, which is memory that nothing touched before:
//! below some levels it costs more time than the checks. There all that stands below an expression
//! is checked in a loop, from the bottom up, and what stands above takes the types from a table.

use rustc_hash::FxHashMap;

use super::bodies::{BodyCheck, Context};
use crate::graph::standard::EXTERNAL;
use crate::nnef::ast::{CallId, Expr, ExprId};
use crate::nnef::types::Type;

/// How many levels of an expression are checked by recursion.
const SHALLOW: u32 = 32;

/// How deep the expression at hand is nested, and what was checked below it.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    depth: u32,
    below: FxHashMap<ExprId, Type>,
}

/// An expression to be checked: what can be around it, and whether all below it is checked.
type Open = (ExprId, Context, bool);

impl BodyCheck<'_, '_> {
    /// The type of an expression that was checked before its turn.
    #[inline]
    pub(super) fn checked_before(&mut self, id: ExprId) -> Option<Type> {
        if self.nesting.below.is_empty() { None } else { self.nesting.below.remove(&id) }
    }

    /// Checks an expression that is no leaf one level further down.
    #[inline]
    pub(super) fn further_down(&mut self, id: ExprId, context: Context) -> Type {
        self.nesting.depth += 1;
        // What an external declares depends on what is around it.
        let ty = match self.nesting.depth > SHALLOW && !self.new_symbols {
            true => self.bottom_up(id, context),
            false if self.ast.expr(id).continues_left() => self.spine(id, context),
            false => self.operand(id, context),
        };
        self.nesting.depth -= 1;
        ty
    }

    /// Checks all below an expression, and then the expression.
    fn bottom_up(&mut self, root: ExprId, context: Context) -> Type {
        let around = std::mem::take(&mut self.nesting.below);
        let mut open: Vec<Open> = vec![(root, context, false)];
        while let Some((id, context, ready)) = open.pop() {
            if ready {
                let ty = self.node(id, context);
                self.nesting.below.insert(id, ty);
            } else {
                open.push((id, context, true));
                let first = open.len();
                self.push_below(id, context, &mut open);
                // The first one is checked first.
                open[first..].reverse();
            }
        }
        let below = std::mem::replace(&mut self.nesting.below, around);
        below.get(&root).copied().unwrap_or(Type::Unknown)
    }

    /// Adds what is checked before an expression, as far as it is no leaf. Comprehensions and loops
    /// are entered when it is their turn, as their names mean something within them only.
    fn push_below(&self, id: ExprId, context: Context, open: &mut Vec<Open>) {
        let ast = self.ast;
        let mut push = |id: ExprId, context: Context| {
            if !ast.expr(id).is_leaf() {
                open.push((id, context, false));
            }
        };
        match ast.expr(id) {
            Expr::Select { condition, yes, no } => {
                let branch = context.of_branch();
                push(yes, branch);
                push(condition, Context::default());
                push(no, branch);
            }
            Expr::Call(call) if self.declares_symbols(call) => {}
            _ => ast.each_operand(id, |id| push(id, Context::default())),
        }
    }

    /// Whether names that are not known are dimension symbols in the arguments of a call: only the
    /// shape of an input may bring up a symbol that was not declared.
    pub(super) fn declares_symbols(&self, call: CallId) -> bool {
        let name = self.ast.call(call).name.name;
        self.in_graph() && self.checked().text(name).ends_with(EXTERNAL)
    }

    /// Checks an expression below which all is checked.
    fn node(&mut self, id: ExprId, context: Context) -> Type {
        let ty = match self.ast.expr(id) {
            expr if expr.continues_left() => self.above(id, None),
            _ => self.leaf(id, context),
        };
        self.set_type(id, ty);
        ty
    }
}
