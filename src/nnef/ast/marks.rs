//! Places in the tables of a tree, to return to.

use super::Ast;

/// How long the tables of expressions are: where what is added next begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) exprs: usize,
    pub(crate) lists: usize,
    pub(crate) ints: usize,
    pub(crate) scalars: usize,
    pub(crate) numbers: usize,
    pub(crate) calls: usize,
    pub(crate) args: usize,
    pub(crate) comprehensions: usize,
    pub(crate) iterators: usize,
    pub(crate) loops: usize,
    pub(crate) recurrences: usize,
}

impl Marks {
    /// The ends of all tables.
    pub(crate) fn of(ast: &Ast) -> Self {
        Marks {
            exprs: ast.exprs.len(),
            lists: ast.lists.len(),
            ints: ast.ints.len(),
            scalars: ast.scalars.len(),
            numbers: ast.numbers.len(),
            calls: ast.calls.len(),
            args: ast.args.len(),
            comprehensions: ast.comprehensions.len(),
            iterators: ast.iterators.len(),
            loops: ast.loops.len(),
            recurrences: ast.recurrences.len(),
        }
    }

    /// Whether there is nothing before them.
    pub(super) fn is_start(self) -> bool {
        self == Marks::default()
    }

    /// Takes everything behind them out of a tree.
    pub(crate) fn rewind(self, ast: &mut Ast) {
        ast.exprs.truncate(self.exprs);
        ast.spans.truncate(self.exprs);
        ast.lists.truncate(self.lists);
        ast.ints.truncate(self.ints);
        ast.scalars.truncate(self.scalars);
        ast.numbers.truncate(self.numbers);
        ast.calls.truncate(self.calls);
        ast.args.truncate(self.args);
        ast.comprehensions.truncate(self.comprehensions);
        ast.iterators.truncate(self.iterators);
        ast.loops.truncate(self.loops);
        ast.recurrences.truncate(self.recurrences);
    }
}

impl Ast {
    /// Forgets all nodes of expressions; types stay.
    pub(crate) fn clear(&mut self) {
        Marks::default().rewind(self);
    }

    /// Takes all nodes of expressions out; types stay.
    pub(super) fn take_nodes(&mut self) -> Ast {
        let Ast { types, type_spans, type_lists, .. } = self;
        let kept = Ast {
            types: std::mem::take(types),
            type_spans: std::mem::take(type_spans),
            type_lists: std::mem::take(type_lists),
            ..Ast::default()
        };
        std::mem::replace(self, kept)
    }
}
