//! `nnef-flatten run`: evaluates inputs.

use std::path::Path;

use crate::diagnostics::Diagnostics;
use crate::input::Findings;
use crate::input::layouts;
use crate::input::model_run::ModelRun;
use crate::input::passes::selected;
use crate::input::settings::Settings;
use crate::input::source::{Evaluable, Flat};
use crate::input::table::loops::Networks;
use crate::sink::ByteSink;
use crate::tensor::json::{self, Style};

use super::args::{self, Language};
use super::io;
use super::outcome::{RunResult, Status};
use super::report::Reporter;
use super::tensors::{self, Written};
use super::{inputs, options};

/// Evaluates an input and writes its outputs.
pub(crate) fn run(path: &Path, arguments: &args::Run, language: &Language, reporter: &mut Reporter) -> RunResult {
    let file = arguments.output.as_deref().filter(|path| !io::is_stdout(path));
    let to = tensors::form(file, arguments.to)?;
    tensors::fits_stdout(file, to)?;
    let written = (file, to, language.limits.output());
    reporter.need_values();
    let mut input = inputs::open(path, language)?;
    input.usable(&options::name(&to), reporter)?;
    let (source, settings, language) = input.read()?;
    match source.evaluable(&settings)? {
        Evaluable::Graph(flat) => graph(*flat, arguments, &language, written, &settings, reporter),
        Evaluable::Network(networks, found) => network((*networks, found), arguments, written, &settings, reporter),
        Evaluable::Model(run) => model(*run, arguments, &language, written, &settings, reporter),
    }
}

/// Evaluates a flat graph with the layouts of the options, and the data of its input.
fn graph(
    Flat { mut backing, mut result }: Flat,
    arguments: &args::Run,
    language: &Language,
    written: Written,
    settings: &Settings,
    reporter: &mut Reporter,
) -> RunResult {
    result = selected(result, &mut *backing, settings)?;
    let (Ok((_, found)) | Err(found)) = &mut result;
    language.locate(found, |option, name| backing.add_source(option, name.to_owned()));
    let Some(mut graph) = reporter.accepted(backing.sources(), result) else { return Ok(Status::Refused) };
    layouts::assign(&mut graph, &arguments.layout)?;
    let inputs = match arguments.inputs.as_deref() {
        Some(path) => tensors::read(path, &graph, &language.limits)?,
        None => Vec::new(),
    };
    let mut values = backing.values(&graph, settings)?;
    let quantizations = std::mem::replace(&mut values.quantizations, Ok(Default::default()));
    let sources = values.sources;
    let Some(quantizations) = reporter.accepted(sources, quantizations) else { return Ok(Status::Refused) };
    match values.run(&graph, &inputs, (quantizations, settings)) {
        Ok(evaluation) => {
            reporter.summary();
            tensors::write(&evaluation.outputs, written)?;
            Ok(Status::Done)
        }
        Err(error) => {
            reporter.one(sources, &error.diagnostic(&graph));
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}

/// Evaluates a model of ONNX.
fn model(
    mut run: ModelRun,
    arguments: &args::Run,
    language: &Language,
    written: Written,
    settings: &Settings,
    reporter: &mut Reporter,
) -> RunResult {
    let inputs = match arguments.inputs.as_deref().filter(|_| run.document.is_some()) {
        Some(path) => tensors::read_model(path, &run.inputs(), &language.limits)?,
        None => Vec::new(),
    };
    let outputs = run.evaluate(&inputs, settings);
    let Findings { mut sources, mut diagnostics, .. } = run.findings();
    language.locate(&mut diagnostics, |option, name| sources.add(option, name.to_owned()));
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&sources, diagnostics).errors == 0;
    reporter.summary();
    let Some(outputs) = outputs.filter(|_| accepted) else { return Ok(Status::Refused) };
    tensors::write_exact(&outputs, written)?;
    Ok(Status::Done)
}

/// Evaluates a network with loops; `found` has what was found when it was read.
fn network(
    (mut networks, mut found): (Networks, Diagnostics),
    arguments: &args::Run,
    (path, _, limit): Written,
    settings: &Settings,
    reporter: &mut Reporter,
) -> RunResult {
    let mut outputs = None;
    if networks.net.is_some() && !found.has_errors() {
        let read = |path: &Path| io::read(path, settings.options.max_text);
        let given = arguments.inputs.as_deref().map(read).transpose()?;
        let evaluated = networks.evaluate(given, settings);
        outputs = found.take(evaluated.map(|evaluation| (evaluation.outputs, evaluation.diagnostics)));
    }
    let accepted = reporter.all(&networks.sources, found).errors == 0;
    reporter.summary();
    let Some(outputs) = outputs.filter(|_| accepted) else { return Ok(Status::Refused) };
    let named = || outputs.iter().map(|(name, tensor)| (name.as_str(), tensor));
    let mut content = |out: &mut dyn ByteSink| json::write(named(), Style::Network, out);
    match path {
        Some(path) => io::write_file(path, limit, &mut content)?,
        None => io::write_stdout(limit, &mut content)?,
    }
    Ok(Status::Done)
}
