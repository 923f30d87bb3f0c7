//! The signature of the operation that is called around a position.

use super::declaration::Declaration;
use super::place::WordsBefore;
use super::text::NnefText;
use crate::lsp::analyzed::CallSignature;
use crate::lsp::signature::spans_of;

/// The signature around an offset.
pub(super) fn signature(of: &NnefText, offset: u32) -> Option<CallSignature> {
    let words = WordsBefore::new(of.source().get(..offset as usize)?, of.document.dialect())?;
    let (operation, given) = words.call()?;
    let names = of.document.names();
    let declared = Declaration::find(&of.document, names.get(operation)?)?;
    let params = &declared.fragment.params;
    let active = match given.current {
        Some(current) => params.iter().position(|param| names.text(param.name.name) == current),
        None => (given.positions < params.len()).then_some(given.positions),
    };
    let label = declared.signature();
    let texts: Vec<String> = params.iter().map(|param| declared.param(param)).collect();
    let start = label.find('(').unwrap_or(0);
    Some(CallSignature { params: spans_of(&label, start, &texts), label, active, remark: declared.about() })
}
