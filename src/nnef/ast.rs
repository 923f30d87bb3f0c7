//! The syntax tree: flat vectors addressed by typed ids.
//!
//! Nodes are not boxed, so that trees of any depth can be dropped without recursion, and children
//! precede their parents. Every node has a byte span in its file. `nodes.rs` says how they are stored.

mod marks;
mod module;
mod nodes;
mod numbers;
mod stored;
mod walk;

use crate::graph::Primitive;
pub(crate) use crate::graph::operators::{BinaryOp, Builtin, UnaryOp};
use crate::room::{self, position_id, table_id};
use crate::source::Span;
use crate::source::names::Name;
pub(crate) use marks::Marks;
pub(crate) use module::{
    Assignment, Body, Extension, Fragment, Generic, GraphDecl, Group, Module, Param, Params, ResultDecl, Results,
    Targets, TopLevelItem,
};
use nodes::Nodes;
pub(crate) use nodes::{Args, Arguments};
pub(crate) use numbers::{MANY, Numbers};
#[cfg(test)]
pub(crate) use stored::write_number;
pub(crate) use stored::{Bytes, TreePart};

position_id! {
    /// An expression, by the position of its node.
    ExprId
}

/// A call, by the position of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallId(u32);

table_id! {
    /// A type specification, as an index into [`Ast::types`].
    pub(crate) TypeSpecId;
    /// A comprehension, as an index into [`Ast::comprehensions`].
    pub(crate) ComprehensionId;
    /// A loop, as an index into [`Ast::loops`].
    pub(crate) LoopId;
    /// A long literal array, as an index into [`Ast::numbers`].
    pub(crate) NumbersId;
}

/// A run of consecutive entries in one of the list tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListRange {
    /// First entry.
    pub(crate) start: u32,
    /// Number of entries.
    pub(crate) len: u32,
}

impl ListRange {
    /// Adds entries to a table.
    #[inline]
    pub(crate) fn append<T: Copy>(table: &mut Vec<T>, entries: &[T]) -> ListRange {
        let start = table.len() as u32;
        table.extend_from_slice(entries);
        ListRange { start, len: entries.len() as u32 }
    }

    /// The entries as a range for slicing.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// An identifier and its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ident {
    /// The identifier.
    pub(crate) name: Name,
    /// Its location.
    pub(crate) span: Span,
}

/// The elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Element {
    /// Elements of a primitive type: `tensor<scalar>`, `tensor<?>`, …
    Of(Primitive),
    /// Of any type: `tensor<>`.
    Any,
    /// Not known: the draft's bare `tensor`, or the result of an operation that is not declared.
    Unknown,
}

/// A type specification (3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeSpec {
    /// A primitive type.
    Primitive(Primitive),
    /// A tensor.
    Tensor(Element),
    /// `t[]`.
    Array(TypeSpecId),
    /// `(t, t, ...)`; items are in [`Ast::type_lists`].
    Tuple(ListRange),
}

/// An expression, a default literal, or the left side of an assignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expr {
    /// An expression that could not be parsed; the error is already reported.
    Error,
    /// An identifier.
    Name(Name),
    /// An integer literal (no sign).
    Int(i64),
    /// A literal with a point or an exponent.
    Scalar(f64),
    /// `true`, `false`.
    Logical(bool),
    /// A string literal, unescaped.
    String(Name),
    /// `[a, b]`; items are in [`Ast::lists`].
    Array(ListRange),
    /// A literal array of integers only, in [`Ast::ints`]. At least one item; signs are applied.
    IntArray(ListRange),
    /// A literal array of scalars only, in [`Ast::scalars`]. At least one item; signs are applied.
    ScalarArray(ListRange),
    /// A long literal array of integers only, or of scalars only.
    Numbers(NumbersId),
    /// `(a, b)` or, where the dialect has them, bare `a, b`; items are in [`Ast::lists`].
    Tuple(ListRange),
    /// `-a`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: ExprId,
    },
    /// `a + b`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        lhs: ExprId,
        /// Right operand.
        rhs: ExprId,
        /// Byte offset of the operator.
        at: u32,
    },
    /// `yes if condition else no`
    Select {
        /// The condition.
        condition: ExprId,
        /// The value where it holds.
        yes: ExprId,
        /// The value where it does not.
        no: ExprId,
    },
    /// `base[index]`
    Index {
        /// What is subscripted.
        base: ExprId,
        /// The position.
        index: ExprId,
    },
    /// `base[begin:end]`
    Slice {
        /// What is subscripted.
        base: ExprId,
        /// First item; 0 when absent.
        begin: Option<ExprId>,
        /// One past the last item; the length when absent.
        end: Option<ExprId>,
    },
    /// `[for i in a if c yield e]` (draft: `[e for i in a if c]`)
    Comprehension(ComprehensionId),
    /// `with .. for .. while .. do ..`: only as the whole right side of an assignment.
    Loop(LoopId),
    /// `length_of(a)`
    Builtin {
        /// The function.
        function: Builtin,
        /// Its argument.
        argument: ExprId,
    },
    /// `f(a, b = c)`
    Call(CallId),
}

impl Expr {
    /// Whether it has no subexpressions: names, literals and errors.
    pub(crate) fn is_leaf(self) -> bool {
        use Expr::*;
        self.is_number_array() || matches!(self, Name(_) | Int(_) | Scalar(_) | Logical(_) | String(_) | Error)
    }

    /// Whether it is a literal array of integers only, or of scalars only.
    pub(crate) fn is_number_array(self) -> bool {
        matches!(self, Expr::IntArray(_) | Expr::ScalarArray(_) | Expr::Numbers(_))
    }

    /// Whether it has a left operand or a base, which [`Ast::left_spine`] descends into.
    pub(crate) fn continues_left(self) -> bool {
        matches!(self, Expr::Binary { .. } | Expr::Index { .. } | Expr::Slice { .. })
    }
}

/// A call of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The operation.
    pub(crate) name: Ident,
    /// The explicit type argument, `f<scalar>(..)`.
    pub(crate) generic: Option<(Primitive, Span)>,
    /// Its arguments, resolved by [`Ast::arguments`].
    pub(crate) args: Args,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arg {
    /// The parameter, for a named argument.
    pub(crate) name: Option<Ident>,
    /// The value.
    pub(crate) value: ExprId,
}

/// `[for i in a, j in b if filter yield item]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comprehension {
    /// The iterators, in [`Ast::iterators`].
    pub(crate) iterators: ListRange,
    /// The filter.
    pub(crate) filter: Option<ExprId>,
    /// The item.
    pub(crate) item: ExprId,
}

/// One `i in a` of a comprehension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Iterator {
    /// The variable.
    pub(crate) name: Ident,
    /// The array it iterates over.
    pub(crate) iterable: ExprId,
}

/// `with s: type = initial` of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recurrence {
    /// The variable.
    pub(crate) name: Ident,
    /// Its type.
    pub(crate) ty: Option<TypeSpecId>,
    /// Its value in the first trip.
    pub(crate) initial: ExprId,
}

/// `with s = a for x : xs while c do..(i -> n) { t = f(s, x); yield t; } while d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// The values passed from one trip to the next, in [`Ast::recurrences`].
    pub(crate) recurrences: ListRange,
    /// The iterated arrays and their variables, in [`Ast::iterators`].
    pub(crate) iterators: ListRange,
    /// The condition that is tested before a trip.
    pub(crate) before: Option<ExprId>,
    /// Whether it is written with `unroll` instead of `do`: always unrolled.
    pub(crate) unroll: bool,
    /// The number of the trip.
    pub(crate) index: Option<Ident>,
    /// The number of trips, or an upper bound of it.
    pub(crate) count: Option<ExprId>,
    /// Whether the body is in braces.
    pub(crate) block: bool,
    /// The statements of the body, target and value in turn, in [`Ast::lists`].
    pub(crate) statements: ListRange,
    /// The results of a trip, in [`Ast::lists`]; a single call may supply several results.
    pub(crate) results: ListRange,
    /// The condition that is tested after a trip.
    pub(crate) after: Option<ExprId>,
}

/// The node tables of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ast {
    /// Expressions, children before parents. A span excludes surrounding parentheses.
    nodes: Nodes,
    /// Item lists of arrays and tuples, and values of arguments.
    pub(crate) lists: Vec<ExprId>,
    /// Items of packed integer arrays.
    pub(crate) ints: Vec<i64>,
    /// Items of packed scalar arrays.
    pub(crate) scalars: Vec<f64>,
    /// Long literal arrays.
    pub(crate) numbers: Vec<Numbers>,
    /// Comprehensions.
    pub(crate) comprehensions: Vec<Comprehension>,
    /// Iterators of comprehensions.
    pub(crate) iterators: Vec<Iterator>,
    /// Loops.
    pub(crate) loops: Vec<Loop>,
    /// Recurrences of loops.
    pub(crate) recurrences: Vec<Recurrence>,
    /// Type specifications.
    pub(crate) types: Vec<TypeSpec>,
    /// The span of each type specification.
    pub(crate) type_spans: Vec<Span>,
    /// Item lists of tuple types.
    pub(crate) type_lists: Vec<TypeSpecId>,
}

impl Ast {
    /// An empty tree with capacity for a number of nodes of flat statements.
    pub(crate) fn with_room(nodes: usize) -> Self {
        let mut ast = Ast::default();
        ast.nodes.reserve(nodes, nodes);
        ast.lists.reserve(nodes / 2);
        ast
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All expressions in the order of their nodes.
    pub(crate) fn exprs(&self) -> impl std::iter::Iterator<Item = ExprId> + use<> {
        (0..self.len()).map(ExprId::at)
    }

    /// The names of called operations and the texts of strings, which can name fragments, with their byte offsets.
    pub(crate) fn references(&self) -> impl std::iter::Iterator<Item = (u32, Name)> {
        self.exprs().filter_map(|id| match self.expr(id) {
            Expr::Call(call) => Some(self.call(call).name).map(|name| (name.span.start, name.name)),
            Expr::String(text) => Some((self.span(id).start, text)),
            _ => None,
        })
    }

    /// Adds an expression.
    #[inline(always)]
    pub(crate) fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        self.nodes.push(expr, span)
    }

    /// Adds a call; `end` is the byte offset of its end.
    #[inline]
    pub(crate) fn push_call(
        &mut self,
        name: Ident,
        generic: Option<(Primitive, Span)>,
        args: &[Arg],
        end: u32,
    ) -> ExprId {
        let values = ListRange { start: self.lists.len() as u32, len: args.len() as u32 };
        room::reserve(&mut self.lists, args.len());
        self.lists.extend(args.iter().map(|arg| arg.value));
        self.nodes.push_call(name, generic, (args, values), end)
    }

    /// Adds a type specification.
    pub(crate) fn push_type(&mut self, spec: TypeSpec, span: Span) -> TypeSpecId {
        self.types.push(spec);
        self.type_spans.push(span);
        TypeSpecId(self.types.len() as u32 - 1)
    }

    /// Adds a list of items.
    pub(crate) fn push_list(&mut self, items: &[ExprId]) -> ListRange {
        ListRange::append(&mut self.lists, items)
    }

    /// The expression of an id.
    #[inline(always)]
    pub(crate) fn expr(&self, id: ExprId) -> Expr {
        self.nodes.expr(id)
    }

    /// The span of an expression.
    #[inline]
    pub(crate) fn span(&self, id: ExprId) -> Span {
        self.nodes.span(id)
    }

    /// The items of an array or tuple.
    pub(crate) fn items(&self, range: ListRange) -> &[ExprId] {
        &self.lists[range.range()]
    }

    /// A call.
    #[inline]
    pub(crate) fn call(&self, id: CallId) -> Call {
        self.nodes.call(id)
    }

    /// The arguments of a call.
    #[inline]
    pub(crate) fn arguments(&self, call: &Call) -> Arguments<'_> {
        Arguments { values: self.items(call.args.values), names: self.nodes.argument_names(call.args) }
    }

    /// The statements of a loop's body: targets and values.
    pub(crate) fn loop_statements(&self, of: &Loop) -> impl DoubleEndedIterator<Item = (ExprId, ExprId)> {
        self.items(of.statements).chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// A type specification.
    pub(crate) fn type_spec(&self, id: TypeSpecId) -> TypeSpec {
        self.types[id.index()]
    }
}

/// A graph has millions of expressions and assignments.
const _: () = assert!(size_of::<Expr>() == 16 && size_of::<Assignment>() == 16);
