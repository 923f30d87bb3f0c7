//! `nnef-flatten run`: evaluates documents, and what the evaluation of graphs of other notations shares.

use std::path::Path;

use crate::diagnostics::Diagnostics;
use crate::eval::{Evaluator, Quantizations, Variables};
use crate::model::Model;
use crate::source::Sources;
use crate::tensor::Tensor;
use crate::{Document, Graph};

use super::args::{self, Language};
use super::inputs::opened::Opened;
use super::report::Reporter;
use super::{RunResult, Status, flatten, io, layouts, models, tensors};

/// Evaluates a document in one of the dialects of NNEF.
pub(crate) fn document(
    input: Opened,
    arguments: &args::Run,
    (path, to): tensors::Written,
    language: &Language,
    reporter: &mut Reporter,
) -> RunResult {
    // The evaluator runs scans; loops of NNEF text have to be expanded.
    let opened = models::open(input, &language.limits).and_then(|opened| {
        let processed = flatten::process_for_use(opened.input, language)?;
        Ok((opened.origin, processed))
    });
    let (origin, (mut document, result)) = match opened {
        Ok(opened) => opened,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let Some(mut graph) = reporter.accepted(document.sources(), result) else { return Ok(Status::Refused) };
    let inputs = match prepared(&mut graph, arguments, language, reporter) {
        Ok(inputs) => inputs,
        Err(ended) => return ended,
    };
    let data = match models::data(&origin, &[&graph], &language.limits) {
        Ok(data) => data,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let quantizations = match data.as_deref().filter(|_| origin.is_model()) {
        None => Some(Quantizations::default()),
        Some(model) => match quantizations(model, &mut document, &graph, reporter) {
            Ok(quantizations) => quantizations,
            Err(unread) => return flatten::report_unread(unread, reporter),
        },
    };
    let Some(quantizations) = quantizations else { return Ok(Status::Refused) };
    let variables = tensors::variables(data.as_deref());
    let evaluator = Evaluator::with_limits(language.limits.evaluation_of(data.as_deref())).quantized(quantizations);
    evaluate(&evaluator, &graph, (&inputs, &*variables), document.sources(), (path, to), reporter)
}

/// Assigns the layouts of the options to a graph, and reads the values of its inputs.
///
/// # Errors
///
/// The result of the command if it cannot continue; the reason is already reported.
pub(super) fn prepared(
    graph: &mut Graph,
    arguments: &args::Run,
    language: &Language,
    reporter: &mut Reporter,
) -> Result<Vec<(String, Tensor)>, RunResult> {
    if !layouts::assign(graph, &arguments.layout, reporter) {
        reporter.summary();
        return Err(Ok(Status::Refused));
    }
    let Some(path) = arguments.inputs.as_deref() else { return Ok(Vec::new()) };
    tensors::read(path, graph, &language.limits).map_err(|unread| flatten::report_unread(unread, reporter))
}

/// The quantizations of a model's graph; `None` if they are invalid, which is reported.
fn quantizations(
    model: &Model,
    document: &mut Document,
    graph: &Graph,
    reporter: &mut Reporter,
) -> Result<Option<Quantizations>, io::Unread> {
    let Some(text) = models::quant(model)? else { return Ok(Some(Quantizations::default())) };
    let mut found = Diagnostics::default();
    let checked = match document.quantizations(&text.name, &text.text, graph, &mut found) {
        Some(quantizations) => Ok((quantizations, found)),
        None => Err(found),
    };
    Ok(reporter.accepted(document.sources(), checked))
}

/// Evaluates a graph and writes its outputs.
pub(super) fn evaluate(
    evaluator: &Evaluator,
    graph: &Graph,
    (inputs, variables): (&[(String, Tensor)], &dyn Variables),
    sources: &Sources,
    (path, to): (Option<&Path>, args::RunTo),
    reporter: &mut Reporter,
) -> RunResult {
    match evaluator.run(graph, inputs, variables) {
        Ok(evaluation) => {
            reporter.summary();
            let outputs: Vec<(String, &Tensor)> =
                evaluation.outputs.iter().map(|(name, tensor)| (name.clone(), &**tensor)).collect();
            tensors::write(&outputs, path, to).map(|()| Status::Done)
        }
        Err(error) => {
            reporter.one(sources, &error.diagnostic(graph));
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}
