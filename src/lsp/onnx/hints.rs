//! Types and shapes behind the names of values.

use super::hover::type_of;
use super::text::OnnxText;
use crate::diagnostics::PlacePart;
use crate::lsp::analyzed::Hint;
use crate::onnx::infer::ValueType;
use crate::onnx::text::{Marked, NameRole};
use crate::source::Span;

/// The types of the results of nodes and of the inputs of functions in a span: the text itself has those of other values.
pub(super) fn hints(of: &OnnxText, within: Span) -> Vec<Hint> {
    let is_input = |mark: &Marked| {
        let scope = of.marks.scopes.get(mark.scope);
        matches!(mark.part, Some(PlacePart::Input(_))) && scope.is_some_and(|scope| scope.function.is_some())
    };
    let is_shown = |mark: &&Marked| {
        mark.role == NameRole::Definition && (matches!(mark.part, Some(PlacePart::Result(_))) || is_input(mark))
    };
    let known = |ty: &&ValueType| !matches!(ty, ValueType::Unknown | ValueType::Other);
    let hint = |mark: &Marked| {
        let ty = type_of(of, mark).filter(known)?;
        Some(Hint { offset: mark.span.end, label: format!(": {}", ty.text()) })
    };
    of.marks.within(within).iter().filter(is_shown).filter_map(hint).collect()
}
