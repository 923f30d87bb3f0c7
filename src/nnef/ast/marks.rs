//! Places in the tables of a tree, to return to.

use super::Ast;

macro_rules! marks {
    ($($table:ident),*) => {
        /// How long the tables of expressions are: where what is added next begins.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Marks {
            $(pub(crate) $table: usize,)*
        }

        impl Marks {
            /// The ends of all tables.
            pub(crate) fn of(ast: &Ast) -> Self {
                Marks { $($table: ast.$table.len(),)* }
            }

            /// How many entries there are between earlier marks and these.
            pub(crate) fn since(self, earlier: Marks) -> Marks {
                Marks { $($table: self.$table - earlier.$table,)* }
            }

            /// Takes everything behind them out of a tree.
            pub(crate) fn rewind(self, ast: &mut Ast) {
                $(ast.$table.truncate(self.$table);)*
                ast.spans.truncate(self.exprs);
            }
        }
    };
}

marks!(exprs, lists, ints, scalars, numbers, calls, args, comprehensions, iterators, loops, recurrences);

impl Ast {
    /// Forgets all nodes of expressions; types stay.
    pub(crate) fn clear(&mut self) {
        Marks::default().rewind(self);
    }
}
