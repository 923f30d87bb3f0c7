//! Places in the tables of a tree, to return to.

use super::Ast;

macro_rules! marks {
    ($($table:ident),*) => {
        /// How long the tables of expressions are: where what is added next begins.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Marks {
            nodes: (usize, usize),
            $($table: usize,)*
        }

        impl Marks {
            /// The ends of all tables.
            #[inline]
            pub(crate) fn of(ast: &Ast) -> Self {
                Marks { nodes: ast.nodes.mark(), $($table: ast.$table.len(),)* }
            }

            /// Takes everything behind them out of a tree.
            pub(crate) fn rewind(self, ast: &mut Ast) {
                ast.nodes.truncate(self.nodes);
                $(ast.$table.truncate(self.$table);)*
            }
        }
    };
}

marks!(lists, ints, scalars, numbers, comprehensions, iterators, loops, recurrences);
