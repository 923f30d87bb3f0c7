//! Documents and models of NNEF: flattened, checked, and as graphs.

use crate::graph::names::NameId;
use crate::graph::stats::{NNEF, Setting};
use crate::layout::Removed;
use crate::model::Target;
use crate::source::Sources;
use crate::{Dialect, Document, Graph};

use super::args::Language;
use super::encode::Encode;
use super::inputs::opened::{Checked, Opened};
use super::io::Unread;
use super::models::{self, Expanded, Origin, Text, Whole};
use super::pipeline::{self, Source};
use super::report::Reporter;
use super::request::{Request, path};
use super::{Failure, RunResult, flatten, passes, stats, verify};

/// A document, which may be that of a model.
struct Documents {
    origin: Origin,
    document: Document,
}

impl Source for Documents {
    fn sources(&self) -> &Sources {
        self.document.sources()
    }

    fn apart(&mut self, result: &Expanded, request: &Request) -> Result<Vec<NameId>, Unread> {
        passes::apart(&self.origin, &mut self.document, result, (request.output, request.language))
    }

    fn whole(&mut self, target: Target, result: &mut Expanded, request: &Request) -> Result<Whole, Unread> {
        Whole::new(target, &self.origin, &mut self.document, result, &request.language.limits)
    }

    fn encode(&mut self, result: &Expanded, request: &Request) -> Result<Option<Encode>, Unread> {
        let graph = result.as_ref().ok().map(|(graph, _)| (&self.origin, graph, &mut self.document));
        Encode::of_input(request.to(), path(request.output), request.language, graph)
    }

    fn verify(&self, graph: &Graph, request: &Request, reporter: &mut Reporter) -> Result<bool, Failure> {
        let (language, verification) = (request.language, request.verification);
        Ok(!verification.verify
            || verify::verify(&self.origin, &self.document, graph, language, verification, reporter)?)
    }

    fn stats(&self, graph: &Graph, removed: Option<Removed>, request: &Request, reporter: &mut Reporter) {
        let migrated = request.to().dialect == Some(Dialect::V1);
        let before = stats::before(&self.document, request.language, migrated);
        // Data that cannot be read are reported where they are needed.
        let data = models::data(&self.origin, &[graph], &request.language.limits).ok().flatten();
        let stored = |label: &str| data.as_ref()?.stored_data(label);
        stats::tell(before.as_ref(), (graph, Setting { known: NNEF, stored: &stored }), removed, reporter);
    }
}

/// Flattens a document or a model of NNEF.
pub(crate) fn flatten(input: Opened, request: Request, reporter: &mut Reporter) -> RunResult {
    let language = request.language;
    let flat = models::open(input, &language.limits).and_then(|Text { input, origin }| {
        let (document, mut result) = flatten::process(input, language, request.to())?;
        if let Ok((graph, _)) = &mut result {
            models::infer_shapes(&origin, graph, &language.limits);
        }
        Ok((Documents { origin, document }, result))
    });
    pipeline::run(flat, request, reporter)
}

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
pub(crate) fn graph(input: Opened, language: &Language) -> Result<(Sources, Expanded), Unread> {
    let (document, result) = flatten::process_for_use(models::open(input, &language.limits)?.input, language)?;
    Ok((document.sources().clone(), result))
}
