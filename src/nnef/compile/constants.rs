//! Values of literals.

use crate::core::list::List;
use crate::core::value::Value;
use crate::nnef::ast::{Ast, Expr, ExprId, UnaryOp};
use crate::nnef::check::Checked;
use crate::nnef::document::ModuleId;
use crate::room::with_stack;

/// The value of a literal that has no parts.
pub(super) fn simple_literal(checked: &Checked, ast: &Ast, expr: Expr) -> Option<Value> {
    Some(match expr {
        Expr::Int(i) => Value::Int(i),
        Expr::Scalar(s) => Value::Scalar(s),
        Expr::Logical(b) => Value::Logical(b),
        Expr::String(name) => Value::String(List::from_text(checked.text(name), None)),
        Expr::IntArray(range) => Value::Array(List::of_ints(&ast.ints[range.range()])),
        Expr::ScalarArray(range) => Value::Array(List::of_scalars(&ast.scalars[range.range()])),
        Expr::Numbers(numbers) => Value::Array(List::of_numbers(&ast.numbers[numbers.index()])),
        _ => return None,
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
