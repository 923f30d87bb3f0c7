//! Rules on labels of variables (G1, G2). Labels that are literals are checked here, others once
//! they are evaluated.

use super::FragmentInfo;
use super::bodies::BodyCheck;
use crate::diagnostics::Code;
use crate::graph::Dialect;
use crate::nnef::ast::{Call, Expr};
use crate::nnef::document::ModuleId;

/// The code and message for a label that breaks a rule.
pub(crate) fn label_problem(label: &str, dialect: Dialect) -> Option<(Code, String)> {
    if label.is_empty() {
        return Some((Code::EmptyLabel, "the label of a variable is empty".into()));
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'\\');
    // Without a branch for each byte, since nearly all labels are as they should be.
    if label.bytes().fold(true, |allowed, byte| allowed & is_allowed(byte)) {
        return None;
    }
    let odd = label.bytes().position(|byte| !is_allowed(byte)).filter(|_| dialect == Dialect::V1)?;
    let odd = label[odd..].chars().next()?;
    Some((Code::LabelCharacters, format!("`{odd}` is not allowed in the label '{label}'")))
}

impl BodyCheck<'_, '_> {
    /// Checks the literal label of a variable.
    #[inline(never)]
    pub(super) fn literal_label(&mut self, call: &Call, info: &FragmentInfo, bound: u32) {
        let checked = self.checked();
        if info.module != ModuleId::STANDARD || Some(info.name) != checked.words.variable {
            return;
        }
        let label = info.params.iter().position(|param| Some(param.name) == checked.words.label);
        let Some(value) = label.and_then(|i| self.bound(bound, i)) else { return };
        let Expr::String(name) = self.ast.expr(value) else { return };
        if let Some((code, message)) = label_problem(checked.text(name), checked.document.dialect()) {
            let at = self.at(call.name.span);
            self.checker.checked.wrong_labels.insert(at);
            self.report(code, self.ast.span(value), message);
        }
    }
}
