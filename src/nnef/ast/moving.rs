//! Statements that move from one tree to another.

use super::{Arg, Assignment, Ast, Call, CallId, Comprehension, ComprehensionId, Expr, ExprId, Iterator, ListRange};
use super::{Loop, LoopId, Marks, NumbersId, Recurrence};

impl Ast {
    /// Takes a statement out whose nodes are all that there is from the marks on, as a tree of its
    /// own; types stay.
    pub(crate) fn take_statement(&mut self, marks: Marks, assignment: &Assignment) -> (Ast, Assignment) {
        if marks.exprs == 0 {
            // There is nothing else: the tables are moved, not copied.
            let (types, type_spans) = (std::mem::take(&mut self.types), std::mem::take(&mut self.type_spans));
            let type_lists = std::mem::take(&mut self.type_lists);
            let rest = Ast { types, type_spans, type_lists, ..Ast::default() };
            return (std::mem::replace(self, rest), *assignment);
        }
        let mut part = Ast::default();
        let assignment = part.append(self, marks, assignment);
        marks.rewind(self);
        (part, assignment)
    }

    /// Copies a statement whose nodes are all that another tree has from some marks on behind the
    /// nodes of this one.
    pub(crate) fn append(&mut self, of: &Ast, from: Marks, assignment: &Assignment) -> Assignment {
        let moved = Moved { from, to: Marks::of(self) };
        self.exprs.extend(of.exprs[from.exprs..].iter().map(|expr| moved.expr(*expr)));
        self.spans.extend_from_slice(&of.spans[from.exprs..]);
        self.lists.extend(of.lists[from.lists..].iter().map(|id| moved.id(*id)));
        self.ints.extend_from_slice(&of.ints[from.ints..]);
        self.scalars.extend_from_slice(&of.scalars[from.scalars..]);
        self.numbers.extend_from_slice(&of.numbers[from.numbers..]);
        self.calls.extend(of.calls[from.calls..].iter().map(|call| {
            let args = range(call.args, from.args, moved.to.args);
            Call { args, ..*call }
        }));
        self.args.extend(of.args[from.args..].iter().map(|arg| Arg { value: moved.id(arg.value), ..*arg }));
        let comprehensions = &of.comprehensions[from.comprehensions..];
        self.comprehensions.extend(comprehensions.iter().map(|of| moved.comprehension(of)));
        self.iterators.extend(
            of.iterators[from.iterators..].iter().map(|of| Iterator { iterable: moved.id(of.iterable), ..*of }),
        );
        self.loops.extend(of.loops[from.loops..].iter().map(|of| moved.of_loop(of)));
        let recurrences = &of.recurrences[from.recurrences..];
        self.recurrences.extend(recurrences.iter().map(|of| Recurrence { initial: moved.id(of.initial), ..*of }));
        Assignment { target: moved.id(assignment.target), value: moved.id(assignment.value), ..*assignment }
    }
}

/// Nodes that begin at some marks of one tree begin at others of another one.
struct Moved {
    from: Marks,
    to: Marks,
}

impl Moved {
    fn id(&self, id: ExprId) -> ExprId {
        ExprId::at(id.index() - self.from.exprs + self.to.exprs)
    }

    fn optional(&self, id: Option<ExprId>) -> Option<ExprId> {
        id.map(|id| self.id(id))
    }

    fn expr(&self, expr: Expr) -> Expr {
        let Moved { from, to } = self;
        match expr {
            Expr::Array(items) => Expr::Array(range(items, from.lists, to.lists)),
            Expr::Tuple(items) => Expr::Tuple(range(items, from.lists, to.lists)),
            Expr::IntArray(items) => Expr::IntArray(range(items, from.ints, to.ints)),
            Expr::ScalarArray(items) => Expr::ScalarArray(range(items, from.scalars, to.scalars)),
            Expr::Numbers(id) => Expr::Numbers(NumbersId(place(id.0, from.numbers, to.numbers))),
            Expr::Unary { op, operand } => Expr::Unary { op, operand: self.id(operand) },
            Expr::Binary { op, lhs, rhs, at } => Expr::Binary { op, lhs: self.id(lhs), rhs: self.id(rhs), at },
            Expr::Select { condition, yes, no } => {
                Expr::Select { condition: self.id(condition), yes: self.id(yes), no: self.id(no) }
            }
            Expr::Index { base, index } => Expr::Index { base: self.id(base), index: self.id(index) },
            Expr::Slice { base, begin, end } => {
                Expr::Slice { base: self.id(base), begin: self.optional(begin), end: self.optional(end) }
            }
            Expr::Comprehension(id) => {
                Expr::Comprehension(ComprehensionId(place(id.0, from.comprehensions, to.comprehensions)))
            }
            Expr::Loop(id) => Expr::Loop(LoopId(place(id.0, from.loops, to.loops))),
            Expr::Builtin { function, argument } => Expr::Builtin { function, argument: self.id(argument) },
            Expr::Call(id) => Expr::Call(CallId(place(id.0, from.calls, to.calls))),
            leaf @ (Expr::Error
            | Expr::Name(_)
            | Expr::Int(_)
            | Expr::Scalar(_)
            | Expr::Logical(_)
            | Expr::String(_)) => leaf,
        }
    }

    fn comprehension(&self, of: &Comprehension) -> Comprehension {
        Comprehension {
            iterators: range(of.iterators, self.from.iterators, self.to.iterators),
            filter: self.optional(of.filter),
            item: self.id(of.item),
        }
    }

    fn of_loop(&self, of: &Loop) -> Loop {
        Loop {
            recurrences: range(of.recurrences, self.from.recurrences, self.to.recurrences),
            iterators: range(of.iterators, self.from.iterators, self.to.iterators),
            before: self.optional(of.before),
            count: self.optional(of.count),
            statements: range(of.statements, self.from.lists, self.to.lists),
            results: range(of.results, self.from.lists, self.to.lists),
            after: self.optional(of.after),
            ..*of
        }
    }
}

/// A place in a table.
fn place(place: u32, from: usize, to: usize) -> u32 {
    (place as usize - from + to) as u32
}

/// Entries of a table. None may stand anywhere.
fn range(range: ListRange, from: usize, to: usize) -> ListRange {
    let start = if range.len == 0 { to as u32 } else { place(range.start, from, to) };
    ListRange { start, ..range }
}
