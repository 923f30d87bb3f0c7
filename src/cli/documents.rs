//! Documents and models of NNEF for commands that write no graph.

use crate::source::Sources;

use super::args::Language;
use super::inputs::opened::{Checked, Opened};
use super::io::Unread;
use super::{flatten, models};

/// Checks a document or a model of NNEF.
pub(crate) fn check(input: Opened, language: &Language) -> Result<Checked, Unread> {
    let opened = models::open(input, &language.limits)?;
    let (mut document, mut result) = flatten::process_for_use(opened.input, language)?;
    if let Ok((graph, found)) = &mut result
        && let Some(model) = models::whole(&opened.origin, &language.limits)?
    {
        models::examine(&model, &mut document, graph, found)?;
    }
    let (accepted, found) = match result {
        Ok((_, found)) => (!found.has_errors(), found),
        Err(errors) => (false, errors),
    };
    Ok((document.sources().clone(), accepted, found))
}

/// The flat graph of a document.
pub(crate) fn graph(input: Opened, language: &Language) -> Result<(Sources, models::Expanded), Unread> {
    let (document, result) = flatten::process_for_use(models::open(input, &language.limits)?.input, language)?;
    Ok((document.sources().clone(), result))
}
