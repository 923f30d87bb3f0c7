//! The syntax tree: flat vectors addressed by typed ids.
//!
//! Nodes are not boxed, so that trees of any depth can be dropped without recursion, and children
//! precede their parents in [`Ast::exprs`]. Every node has a byte span in its file.

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

mod marks;
mod module;
mod moving;
mod numbers;

mod walk;

use std::num::NonZeroU32;

use crate::graph::Primitive;
pub use crate::graph::operators::{BinaryOp, Builtin, UnaryOp};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;
pub(crate) use marks::Marks;
pub use module::{
    Assignment, Assignments, Body, Extension, Fragment, GenericDecl, GraphDecl, Item, Module, Param, Params,
    ResultDecl, Results, Version,
};
pub(crate) use numbers::MANY;
pub use numbers::{Numbers, NumbersId};

/// An expression, as an index into [`Ast::exprs`]. That there is none takes no room: nodes are
/// what a large text makes most of, and memory that is touched costs as much time as reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(NonZeroU32);

impl ExprId {
    /// The expression at a position.
    pub fn new(index: usize) -> Self {
        ExprId(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// The position in its table.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

id_type!(
    /// A type specification, as an index into [`Ast::types`].
    TypeSpecId
);
id_type!(
    /// A call, as an index into [`Ast::calls`].
    CallId
);
id_type!(
    /// A comprehension, as an index into [`Ast::comprehensions`].
    ComprehensionId
);

id_type!(
    /// A loop, as an index into [`Ast::loops`].
    LoopId
);

/// A run of consecutive entries in one of the list tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListRange {
    /// First entry.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

impl ListRange {
    /// The entries as a range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// An identifier at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The identifier.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// What stands between the angle brackets of a tensor type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementSpec {
    /// `tensor<scalar>`, `tensor<?>`, …
    Of(Primitive),
    /// `tensor<>`: any.
    Any,
    /// The draft's bare `tensor`.
    Untyped,
}

/// A type specification (3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSpec {
    /// A primitive type.
    Primitive(Primitive),
    /// A tensor.
    Tensor(ElementSpec),
    /// `t[]`.
    Array(TypeSpecId),
    /// `(t, t, ...)`; items are in [`Ast::type_lists`].
    Tuple(ListRange),
    /// A specification that could not be read; reported already.
    Error,
}

/// An expression, a default literal, or the left side of an assignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expr {
    /// Could not be read; reported already.
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
    /// Whether it is a name or a literal: nothing is below it.
    pub fn is_leaf(self) -> bool {
        use Expr::*;
        self.is_number_array() || matches!(self, Name(_) | Int(_) | Scalar(_) | Logical(_) | String(_) | Error)
    }

    /// Whether it is a literal array of numbers of one kind.
    pub fn is_number_array(self) -> bool {
        matches!(self, Expr::IntArray(_) | Expr::ScalarArray(_) | Expr::Numbers(_))
    }

    /// Whether it has a left side, which [`Ast::left_spine`] goes down.
    pub fn continues_left(self) -> bool {
        matches!(self, Expr::Binary { .. } | Expr::Index { .. } | Expr::Slice { .. })
    }
}

/// A call of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operation.
    pub name: Ident,
    /// The explicit type argument, `f<scalar>(..)`.
    pub generic: Option<(Primitive, Span)>,
    /// Arguments, in [`Ast::args`].
    pub args: ListRange,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// The parameter, for a named argument.
    pub name: Option<Ident>,
    /// The value.
    pub value: ExprId,
}

/// `[for i in a, j in b if filter yield item]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comprehension {
    /// The iterators, in [`Ast::iterators`].
    pub iterators: ListRange,
    /// The filter.
    pub filter: Option<ExprId>,
    /// The item.
    pub item: ExprId,
}

/// One `i in a` of a comprehension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iterator {
    /// The variable.
    pub name: Ident,
    /// What it runs over.
    pub iterable: ExprId,
}

/// `with s: type = initial` of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// The variable.
    pub name: Ident,
    /// Its type, in the types of the module: also for statements that have nodes of their own.
    pub ty: Option<TypeSpecId>,
    /// Its value in the first trip.
    pub initial: ExprId,
}

/// `with s = a for x : xs while c do..(i -> n) { t = f(s, x); yield t; } while d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// What trips hand on, in [`Ast::recurrences`].
    pub recurrences: ListRange,
    /// What they run over, in [`Ast::iterators`].
    pub iterators: ListRange,
    /// The condition that is tested before a trip.
    pub before: Option<ExprId>,
    /// Whether it is to be unrolled in any case.
    pub unroll: bool,
    /// The number of the trip.
    pub index: Option<Ident>,
    /// The number of trips, or a bound of it.
    pub count: Option<ExprId>,
    /// Whether the body is in braces.
    pub block: bool,
    /// The statements of the body, target and value in turn, in [`Ast::lists`].
    pub statements: ListRange,
    /// What it gives, in [`Ast::lists`]; a single call may stand for several results.
    pub results: ListRange,
    /// The condition that is tested after a trip.
    pub after: Option<ExprId>,
}

/// The node tables of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// Expressions, children first.
    pub exprs: Vec<Expr>,
    /// The span of each expression, parentheses around it not counted.
    pub spans: Vec<Span>,
    /// Item lists of arrays and tuples.
    pub lists: Vec<ExprId>,
    /// Items of packed integer arrays.
    pub ints: Vec<i64>,
    /// Items of packed scalar arrays.
    pub scalars: Vec<f64>,
    /// Long literal arrays.
    pub numbers: Vec<Numbers>,
    /// Calls.
    pub calls: Vec<Call>,
    /// Arguments of calls.
    pub args: Vec<Arg>,
    /// Comprehensions.
    pub comprehensions: Vec<Comprehension>,
    /// Iterators of comprehensions.
    pub iterators: Vec<Iterator>,
    /// Loops.
    pub loops: Vec<Loop>,
    /// Recurrences of loops.
    pub recurrences: Vec<Recurrence>,
    /// Type specifications.
    pub types: Vec<TypeSpec>,
    /// The span of each type specification.
    pub type_spans: Vec<Span>,
    /// Item lists of tuple types.
    pub type_lists: Vec<TypeSpecId>,
}

impl Ast {
    /// Adds an expression.
    #[inline]
    pub fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        room::push(&mut self.exprs, expr);
        room::push(&mut self.spans, span);
        ExprId::new(self.exprs.len() - 1)
    }

    /// Adds a type specification.
    pub fn push_type(&mut self, spec: TypeSpec, span: Span) -> TypeSpecId {
        self.types.push(spec);
        self.type_spans.push(span);
        TypeSpecId(self.types.len() as u32 - 1)
    }

    /// Adds a list of items.
    pub fn push_list(&mut self, items: &[ExprId]) -> ListRange {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(items);
        ListRange { start, len: items.len() as u32 }
    }

    /// The expression of an id.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.index()]
    }

    /// The span of an expression.
    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.index()]
    }

    /// The items of an array or tuple.
    pub fn items(&self, range: ListRange) -> &[ExprId] {
        &self.lists[range.range()]
    }

    /// A call.
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id.index()]
    }

    /// The arguments of a call.
    pub fn arguments(&self, call: &Call) -> &[Arg] {
        &self.args[call.args.range()]
    }

    /// The statements of a loop's body: targets and values.
    pub fn loop_statements(&self, of: &Loop) -> impl DoubleEndedIterator<Item = (ExprId, ExprId)> {
        self.items(of.statements).chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// A type specification.
    pub fn type_spec(&self, id: TypeSpecId) -> TypeSpec {
        self.types[id.index()]
    }
}

/// The nodes of flat text are counted in millions.
const _: () = assert!(size_of::<Expr>() == 16 && size_of::<Arg>() == 16 && size_of::<Call>() == 32);
const _: () = assert!(size_of::<Assignment>() == 16);
