//! Traversals of a tree without recursion.

use smallvec::SmallVec;

use super::{Ast, Expr, ExprId};
use crate::source::names::Name;

impl Ast {
    /// The operators and subscripts above an expression's leftmost operand, outermost first, and that
    /// operand. Chains of them can be as long as the text, so a loop walks them instead of recursion.
    pub(crate) fn left_spine(&self, id: ExprId) -> (SmallVec<[ExprId; 8]>, ExprId) {
        let mut above = SmallVec::new();
        let mut leaf = id;
        while let Some(left) = self.nodes.left(leaf) {
            above.push(leaf);
            leaf = left;
        }
        (above, leaf)
    }

    /// Calls a function with the direct subexpressions, in source order. Those of comprehensions and
    /// loops are left out because they have scopes of their own.
    pub(crate) fn each_operand(&self, id: ExprId, mut f: impl FnMut(ExprId)) {
        match self.expr(id) {
            Expr::Array(items) | Expr::Tuple(items) => self.items(items).iter().copied().for_each(f),
            Expr::Unary { operand, .. } => f(operand),
            Expr::Binary { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(f),
            Expr::Select { condition, yes, no } => [yes, condition, no].into_iter().for_each(f),
            Expr::Index { base, index } => [base, index].into_iter().for_each(f),
            Expr::Slice { base, begin, end } => [Some(base), begin, end].into_iter().flatten().for_each(f),
            Expr::Builtin { argument, .. } => f(argument),
            Expr::Call(call) => self.items(self.call(call).args.values).iter().copied().for_each(f),
            _ => {}
        }
    }

    /// The name, if an expression is one.
    #[inline]
    pub(crate) fn name(&self, id: ExprId) -> Option<Name> {
        if let Expr::Name(name) = self.expr(id) { Some(name) } else { None }
    }

    /// Calls a function with every name of a left side and its node.
    pub(crate) fn each_target(&self, target: ExprId, mut f: impl FnMut(ExprId, Name)) {
        if let Expr::Name(name) = self.expr(target) {
            return f(target, name);
        }
        let mut open: SmallVec<[ExprId; 4]> = smallvec::smallvec![target];
        while let Some(id) = open.pop() {
            match self.expr(id) {
                Expr::Name(name) => f(id, name),
                Expr::Array(items) | Expr::Tuple(items) => open.extend_from_slice(self.items(items)),
                _ => {}
            }
        }
    }
}
