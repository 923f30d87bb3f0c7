//! From syntax trees back to text, in one canonical form.
//!
//! Parsing the printed text gives the same tree: parentheses are printed only where precedence requires
//! them, strings are escaped again, and scalars have a point or an exponent.

mod loops;
mod module;

use super::ast::{Ast, Element, Expr, ExprId, Numbers, TypeSpec, TypeSpecId};
use super::dialect::Rules;
#[cfg(test)]
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::operators::UNARY_PRECEDENCE;
use crate::room::with_stack;
use crate::source::literals::{push_int, push_scalar, push_string};
use crate::source::names::Names;
pub(crate) use module::{print_extension, print_fragment, print_module};

/// The precedence of expressions that are not operators.
const ATOM: u8 = UNARY_PRECEDENCE + 1;

/// The texts before, between and after the items of a list.
struct ListLayout {
    before: &'static str,
    between: &'static str,
    behind: &'static str,
}

const ONE_LINE: ListLayout = ListLayout { before: "", between: ", ", behind: "" };

/// Prints an expression.
#[cfg(test)]
pub(crate) fn print_expr(ast: &Ast, names: &Names, dialect: Dialect, id: ExprId, out: &mut String) {
    Printer { ast, names, rules: dialect.rules(), out }.expr(id, 0);
}

/// Prints a scalar so that it reads back as the same number, infinities included.
pub(crate) fn print_scalar(value: f64, out: &mut String) {
    match value {
        f64::INFINITY => out.push_str("1e999"),
        f64::NEG_INFINITY => out.push_str("-1e999"),
        value => push_scalar(out, value),
    }
}

/// Prints one tree into a buffer.
struct Printer<'a> {
    ast: &'a Ast,
    names: &'a Names,
    rules: &'static Rules,
    out: &'a mut String,
}

impl Printer<'_> {
    /// Prints an expression, in parentheses if its precedence is lower than `place`.
    fn expr(&mut self, id: ExprId, place: u8) {
        with_stack(|| {
            if strength(self.ast.expr(id)) < place {
                self.out.push('(');
                self.bare(id);
                self.out.push(')');
            } else {
                self.bare(id);
            }
        });
    }

    fn bare(&mut self, id: ExprId) {
        match self.ast.expr(id) {
            // Loops are not parts of expressions; the formatter prints them.
            Expr::Error | Expr::Loop(_) => self.out.push_str("<error>"),
            Expr::Name(name) => self.out.push_str(self.names.text(name)),
            Expr::Int(value) => self.out.push_str(&value.to_string()),
            Expr::Scalar(value) => print_scalar(value, self.out),
            Expr::Logical(value) => self.out.push_str(if value { "true" } else { "false" }),
            Expr::String(value) => push_string(self.out, self.names.text(value)),
            Expr::Array(_) | Expr::Tuple(_) | Expr::Call(_) => self.list(id, ONE_LINE),
            Expr::IntArray(_) | Expr::ScalarArray(_) | Expr::Numbers(_) => self.list(id, ONE_LINE),
            Expr::Unary { op, operand } => {
                self.out.push_str(op.info().text);
                self.expr(operand, UNARY_PRECEDENCE);
            }
            Expr::Binary { .. } => self.chain(id),
            Expr::Select { condition, yes, no } => {
                self.expr(yes, 1);
                self.out.push_str(" if ");
                self.expr(condition, 0);
                self.out.push_str(" else ");
                self.expr(no, 0);
            }
            Expr::Index { .. } | Expr::Slice { .. } => self.subscripts(id),
            Expr::Comprehension(_) => self.comprehension(id),
            Expr::Builtin { function, argument } => {
                self.out.push_str(self.word(function.info().text));
                self.out.push('(');
                self.expr(argument, 0);
                self.out.push(')');
            }
        }
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    /// The number of items or arguments of an array, tuple or call; 0 for other expressions.
    fn count(&self, id: ExprId) -> usize {
        match self.ast.expr(id) {
            Expr::Array(range) | Expr::Tuple(range) | Expr::IntArray(range) | Expr::ScalarArray(range) => {
                range.len as usize
            }
            Expr::Numbers(numbers) => self.ast.numbers[numbers.index()].len(),
            Expr::Call(call) => self.ast.arguments(&self.ast.call(call)).len(),
            _ => 0,
        }
    }

    /// Whether a value is an operation applied to names, literals and lists of these, or such a list: what flat
    /// documents consist of. Numbers may depend on symbols.
    fn is_flat(&self, id: ExprId) -> bool {
        let mut open: Vec<ExprId> = match self.ast.expr(id) {
            Expr::Call(call) => {
                self.ast.arguments(&self.ast.call(call)).iter().map(|argument| argument.value).collect()
            }
            _ => vec![id],
        };
        while let Some(id) = open.pop() {
            match self.ast.expr(id) {
                Expr::Array(range) | Expr::Tuple(range) => open.extend(self.ast.items(range)),
                Expr::Unary { operand, .. } => open.push(operand),
                Expr::Binary { lhs, rhs, .. } => open.extend([lhs, rhs]),
                expr if expr.is_leaf() => {}
                _ => return false,
            }
        }
        true
    }

    /// One item of an array or tuple, or one argument of a call.
    fn item(&mut self, id: ExprId, index: usize) {
        match self.ast.expr(id) {
            Expr::Array(range) | Expr::Tuple(range) => self.expr(self.ast.items(range)[index], 0),
            Expr::IntArray(range) => push_int(self.out, self.ast.ints[range.range()][index]),
            Expr::ScalarArray(range) => print_scalar(self.ast.scalars[range.range()][index], self.out),
            Expr::Numbers(numbers) => match &self.ast.numbers[numbers.index()] {
                Numbers::Ints(items) => push_int(self.out, items[index]),
                Numbers::Scalars(items) => print_scalar(items[index], self.out),
            },
            Expr::Call(call) => {
                let call = self.ast.call(call);
                let Some(argument) = self.ast.arguments(&call).get(index) else { return };
                if let Some(name) = argument.name {
                    self.out.push_str(self.names.text(name.name));
                    self.out.push_str(" = ");
                }
                self.expr(argument.value, 0);
            }
            _ => {}
        }
    }

    /// Prints an array, a tuple or a call.
    fn list(&mut self, id: ExprId, layout: ListLayout) {
        self.callee(id);
        let round = matches!(self.ast.expr(id), Expr::Tuple(_) | Expr::Call(_));
        self.out.push(if round { '(' } else { '[' });
        for index in 0..self.count(id) {
            self.out.push_str(if index == 0 { layout.before } else { layout.between });
            self.item(id, index);
        }
        self.out.push_str(layout.behind);
        self.out.push(if round { ')' } else { ']' });
    }

    /// The name of a call with its type argument.
    fn callee(&mut self, id: ExprId) {
        let Expr::Call(call) = self.ast.expr(id) else { return };
        let call = self.ast.call(call);
        self.out.push_str(self.names.text(call.name.name));
        if let Some((primitive, _)) = call.generic {
            self.type_argument(primitive);
        }
    }

    /// A primitive type in angle brackets.
    fn type_argument(&mut self, primitive: Primitive) {
        self.out.push('<');
        self.out.push_str(self.word(primitive.text()));
        self.out.push('>');
    }

    /// Prints a chain of binary operators, iterating over its left spine.
    fn chain(&mut self, id: ExprId) {
        let mut spine = Vec::new();
        let mut first = id;
        let mut place = 0;
        while let Expr::Binary { op, lhs, rhs, .. } = self.ast.expr(first) {
            if op.info().precedence < place {
                break;
            }
            spine.push((op, rhs));
            (first, place) = (lhs, op.info().precedence);
        }
        self.expr(first, place);
        for (op, rhs) in spine.into_iter().rev() {
            self.out.push(' ');
            self.out.push_str(op.info().text);
            self.out.push(' ');
            self.expr(rhs, op.info().precedence + 1);
        }
    }

    /// Prints a chain of subscripts by iteration.
    fn subscripts(&mut self, id: ExprId) {
        let mut spine = Vec::new();
        let mut first = id;
        while let Expr::Index { base, .. } | Expr::Slice { base, .. } = self.ast.expr(first) {
            spine.push(self.ast.expr(first));
            first = base;
        }
        self.expr(first, ATOM);
        for subscript in spine.into_iter().rev() {
            self.out.push('[');
            match subscript {
                Expr::Index { index, .. } => self.expr(index, 0),
                Expr::Slice { begin, end, .. } => {
                    if let Some(begin) = begin {
                        self.expr(begin, 0);
                    }
                    self.out.push(':');
                    if let Some(end) = end {
                        self.expr(end, 0);
                    }
                }
                _ => {}
            }
            self.out.push(']');
        }
    }

    fn comprehension(&mut self, id: ExprId) {
        let Expr::Comprehension(id) = self.ast.expr(id) else { return };
        let loops = self.ast.comprehensions[id.index()];
        let postfix = self.rules.postfix_comprehension;
        self.out.push('[');
        if postfix {
            self.expr(loops.item, 0);
            self.out.push(' ');
        }
        self.out.push_str("for ");
        for (index, iterator) in self.ast.iterators[loops.iterators.range()].iter().enumerate() {
            self.separate(index);
            self.out.push_str(self.names.text(iterator.name.name));
            self.out.push_str(" in ");
            self.expr(iterator.iterable, 1);
        }
        if let Some(filter) = loops.filter {
            self.out.push_str(" if ");
            self.expr(filter, 0);
        }
        if !postfix {
            self.out.push_str(" yield ");
            self.expr(loops.item, 0);
        }
        self.out.push(']');
    }

    fn spec(&mut self, id: TypeSpecId) {
        let mut base = id;
        let mut arrays = 0;
        while let TypeSpec::Array(item) = self.ast.type_spec(base) {
            arrays += 1;
            base = item;
        }
        match self.ast.type_spec(base) {
            TypeSpec::Primitive(primitive) => self.out.push_str(self.word(primitive.text())),
            TypeSpec::Tensor(element) => {
                self.out.push_str("tensor");
                match element {
                    Element::Unknown => {}
                    Element::Any => self.out.push_str("<>"),
                    Element::Of(primitive) => self.type_argument(primitive),
                }
            }
            TypeSpec::Tuple(range) => {
                self.out.push('(');
                for (index, item) in self.ast.type_lists[range.range()].iter().enumerate() {
                    self.separate(index);
                    with_stack(|| self.spec(*item));
                }
                self.out.push(')');
            }
            TypeSpec::Array(_) => self.out.push_str("<error>"),
        }
        for _ in 0..arrays {
            self.out.push_str("[]");
        }
    }

    /// A word of 1.0 as the dialect writes it.
    fn word(&self, word: &'static str) -> &'static str {
        self.rules.own_words.iter().find(|(_, of, _)| *of == word).map_or(word, |(own, ..)| own)
    }
}

/// The precedence of an expression.
fn strength(expr: Expr) -> u8 {
    match expr {
        Expr::Select { .. } => 0,
        Expr::Binary { op, .. } => op.info().precedence,
        Expr::Unary { .. } => UNARY_PRECEDENCE,
        Expr::Int(value) if value < 0 => UNARY_PRECEDENCE,
        Expr::Scalar(value) if value.is_sign_negative() => UNARY_PRECEDENCE,
        _ => ATOM,
    }
}
