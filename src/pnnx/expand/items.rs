//! Expressions whose operands may be literals, as those of a line of PNNX are.

use super::{ExpansionContext, expand};
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::names::NameId;
use crate::library::build::Builder;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::tokens::Literal;
use crate::pnnx::tree::{Expression, Term};
use crate::source::{FileId, Location, Span};

/// Expands an expression whose operands may be literals.
pub(crate) fn expand_items(
    builder: &mut Builder,
    expression: &Expression,
    operands: &[ExpandedItem],
    name: NameId,
    (file, at): (FileId, Option<Location>),
    options: &Options,
    found: &mut Diagnostics,
) -> ExpandedItem {
    let root = expression.root();
    let mut tensors = Vec::new();
    // Literals are substituted for operands in the expression.
    let mut places: Vec<Term> = Vec::new();
    for (number, item) in (0..).zip(operands) {
        places.push(match item {
            ExpandedItem::Tensor(tensor) => {
                tensors.push(*tensor);
                Term::Argument(tensors.len() as u64 - 1)
            }
            ExpandedItem::Literal(literal) => Term::Literal(*literal),
            ExpandedItem::List(_) if root.is_some_and(|root| root.term == Term::Argument(number)) => {
                return item.clone();
            }
            ExpandedItem::List(_) => {
                if let Some((_, node)) = expression.nodes().find(|(_, node)| node.term == Term::Argument(number)) {
                    let at = at.unwrap_or(Location::new(file, node.span));
                    let message = format!("the operand @{number} is a list, which has no counterpart in NNEF here");
                    found.report(Diagnostic::new(Code::ExpressionCounterpart, at, message));
                    return ExpandedItem::Refused;
                }
                // Nothing uses it.
                Term::Literal(Literal::None)
            }
            ExpandedItem::Text(_) if root.is_some_and(|root| root.term == Term::Argument(number)) => {
                return item.clone();
            }
            ExpandedItem::Text(_) => {
                let at = at.unwrap_or(Location::new(file, root.map_or(Span::default(), |root| root.span)));
                let message = format!("the operand @{number} is a text, which has no counterpart in NNEF here");
                found.report(Diagnostic::new(Code::ExpressionCounterpart, at, message));
                return ExpandedItem::Refused;
            }
            ExpandedItem::Refused => return ExpandedItem::Refused,
        });
    }
    let expression = expression.with_operands(&places);
    let (shaped, strict, max_ops) = (tensors.len(), options.strict, options.max_ops);
    let context = ExpansionContext { file, at, operands: &tensors, shaped, name, share: false, strict, max_ops };
    expand(builder, &expression, context, found)
}
