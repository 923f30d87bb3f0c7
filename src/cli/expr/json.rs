//! The description of an expression as JSON.

use std::fmt::Write;

use super::told::Told;
use crate::pnnx::evaluate::ExpressionValue;
use crate::pnnx::number::Number;
use crate::pnnx::tree::{Expression, Term, TraversalStep, push_leaf};
use crate::tensor::Tensor;
use crate::tensor::json::{Style, write_one};

impl Told {
    /// The JSON object; `text` is the source text of the expression.
    pub(super) fn json(&self, text: &str) -> String {
        let expression = &self.parsed.expression;
        let mut out = String::with_capacity(text.len() * 8);
        let _ = write!(out, "{{\"tokens\": [");
        let spans: Vec<_> = self.parsed.tokens.iter().map(|token| token.span).collect();
        separated(&mut out, &spans, |out, span| push_string(out, text.get(span.range()).unwrap_or_default()));
        out.push_str("], \"spans\": [");
        separated(&mut out, &spans, |out, span| {
            let _ = write!(out, "[{}, {}]", span.start, span.end);
        });
        out.push_str("], \"tree\": ");
        tree(expression, &mut out);
        out.push_str(", \"rpn\": [");
        let rpn: Vec<String> = expression.rpn().collect();
        separated(&mut out, &rpn, |out, text| push_string(out, text));
        let _ = write!(out, "], \"canonical\": \"{}\", \"argument_order\": [", expression.canonical());
        separated(&mut out, &expression.argument_order(), |out, number| out.push_str(&number.to_string()));
        let (operations, distinct) = (expression.operations(), expression.classes().1);
        let _ = write!(out, "], \"operations\": {operations}, \"distinct_operations\": {distinct}");
        let _ = write!(out, ", \"renumbered\": \"{}\"", expression.renumbered().canonical());
        let _ = write!(out, ", \"infix\": \"{}\"", expression.infix());
        if let Some(folded) = &self.folded {
            let _ = write!(out, ", \"folded\": \"{}\"", folded.canonical());
        }
        if let Some((values, batch)) = &self.values {
            out.push_str(", \"value\": ");
            out.push_str(if *batch { "[" } else { "" });
            separated(&mut out, values, value);
            out.push_str(if *batch { "]" } else { "" });
        }
        out.push_str("}\n");
        out
    }
}

fn separated<T>(out: &mut String, items: &[T], mut each: impl FnMut(&mut String, &T)) {
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        each(out, item);
    }
}

/// A token as a string: accepted texts have no character that JSON escapes.
fn push_string(out: &mut String, text: &str) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// The tree as nested arrays.
fn tree(expression: &Expression, out: &mut String) {
    expression.walk(out, &mut |term, step, out| match (step, term) {
        (TraversalStep::Before, Term::Call(op)) => out.push_str(&["[\"", op.row().name, "\""].concat()),
        (TraversalStep::Before, Term::List) => out.push_str("[\"[]\""),
        (TraversalStep::Before, leaf) => {
            out.push('"');
            push_leaf(out, leaf);
            out.push('"');
        }
        (TraversalStep::Operand(_), _) => out.push_str(", "),
        (TraversalStep::After, term) => out.push_str(if term.is_operation() { "]" } else { "" }),
    });
}

/// A value as a number or nested arrays.
pub(super) fn value(out: &mut String, of: &ExpressionValue) {
    match of {
        ExpressionValue::Number(Number::Int(int)) => out.push_str(&int.to_string()),
        ExpressionValue::Number(Number::Bool(truth)) => out.push_str(if *truth { "true" } else { "false" }),
        ExpressionValue::Number(Number::Float(float)) => {
            if let Ok(tensor) = Tensor::scalars(&[], vec![*float]) {
                nested(out, &tensor);
            }
        }
        ExpressionValue::Tensor(tensor) => nested(out, tensor),
        ExpressionValue::List(items) => {
            out.push('[');
            separated(out, items, value);
            out.push(']');
        }
    }
}

fn nested(out: &mut String, tensor: &Tensor) {
    let mut bytes = Vec::new();
    // Writing into memory does not fail.
    let _ = write_one(tensor, Style::Graph, &mut bytes);
    out.push_str(&String::from_utf8_lossy(&bytes));
}
