//! Checkpoints of a tree: table lengths to which it can be truncated.

use super::Ast;

macro_rules! marks {
    ($($table:ident),*) => {
        /// The lengths of the expression tables at a checkpoint.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Marks {
            nodes: (usize, usize),
            $($table: usize,)*
        }

        impl Marks {
            /// The current lengths of all tables.
            #[inline]
            pub(crate) fn of(ast: &Ast) -> Self {
                Marks { nodes: ast.nodes.mark(), $($table: ast.$table.len(),)* }
            }

            /// Truncates the tables of a tree to these lengths.
            pub(crate) fn rewind(self, ast: &mut Ast) {
                ast.nodes.truncate(self.nodes);
                $(ast.$table.truncate(self.$table);)*
            }
        }
    };
}

marks!(lists, ints, scalars, numbers, comprehensions, iterators, loops, recurrences);
