//! Values of literals.

use smallvec::SmallVec;

use crate::core::list::List;
use crate::core::value::{LITERAL_DEPTH, Value};
use crate::graph;
use crate::nnef::ast::{Ast, Expr, ExprId, UnaryOp};
use crate::nnef::check::Checked;
use crate::nnef::document::ModuleId;
use crate::room::with_stack;

/// The graph's value of a literal: a number, a logical, a string, or a list of literals that nests at
/// most `depth` levels; `None` for any other expression.
pub(super) fn literal_within(checked: &Checked, ast: &Ast, expr: Expr, depth: u8) -> Option<graph::Value> {
    Some(match expr {
        Expr::Int(i) => graph::Value::Int(i),
        Expr::Scalar(s) => graph::Value::Scalar(s),
        Expr::Logical(b) => graph::Value::Logical(b),
        Expr::String(name) => graph::Value::String(checked.text(name).into()),
        Expr::IntArray(range) => graph::Value::Integers(ast.ints[range.range()].into()),
        Expr::ScalarArray(range) => graph::Value::Scalars(ast.scalars[range.range()].into()),
        Expr::Numbers(numbers) => graph::Value::from(&ast.numbers[numbers.index()]),
        Expr::Array(list) | Expr::Tuple(list) if depth > 0 && list.len > 0 => {
            // A text that is not ASCII is divided into characters, which is done once, and not for each access.
            let divided = |expr| matches!(expr, Expr::String(name) if !checked.text(name).is_ascii());
            let item = |&item: &ExprId| {
                literal_within(checked, ast, ast.expr(item), depth - 1).filter(|_| !divided(ast.expr(item)))
            };
            let items: SmallVec<[graph::Value; 4]> = ast.items(list).iter().map(item).collect::<Option<_>>()?;
            match expr {
                Expr::Tuple(_) => graph::Value::Tuple(items[..].into()),
                _ => graph::Value::Array(items[..].into()),
            }
        }
        _ => return None,
    })
}

/// The value of a literal without deeply nested lists; `None` for any other expression.
#[inline]
pub(super) fn simple_literal(checked: &Checked, ast: &Ast, expr: Expr) -> Option<Value> {
    Some(match expr {
        Expr::Int(i) => Value::Int(i),
        Expr::Scalar(s) => Value::Scalar(s),
        expr => Value::from(&literal_within(checked, ast, expr, LITERAL_DEPTH)?),
    })
}

/// The value of a default, a literal of the module that declares it.
pub(super) fn literal(checked: &Checked, module: ModuleId, id: ExprId) -> Value {
    let ast = &checked.module(module).ast;
    if let Some(value) = simple_literal(checked, ast, ast.expr(id)) {
        return value;
    }
    with_stack(|| match ast.expr(id) {
        Expr::Unary { op: UnaryOp::Minus, operand } => match literal(checked, module, operand) {
            Value::Int(i) => Value::Int(i.wrapping_neg()),
            Value::Scalar(s) => Value::Scalar(-s),
            other => other,
        },
        Expr::Unary { operand, .. } => literal(checked, module, operand),
        Expr::Array(items) | Expr::Tuple(items) => {
            let values = ast.items(items).iter().map(|&item| literal(checked, module, item)).collect();
            let list = List::from_values(values, None);
            if matches!(ast.expr(id), Expr::Tuple(_)) { Value::Tuple(list) } else { Value::Array(list) }
        }
        Expr::Name(name) => Value::symbol(checked.text(name)),
        _ => Value::Array(List::from_values(Vec::new(), None)),
    })
}
