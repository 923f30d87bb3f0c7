//! Networks with loops on the command line: flattening, checking, evaluating.

use std::path::Path;

use nnef_flatten::Graph;
use nnef_flatten::diagnostics::Diagnostics;
use nnef_flatten::loops::{self, Network, Options, Tensor};
use nnef_flatten::source::Sources;

use super::args::Language;
use super::io::{self, Unread};
use super::report::Reporter;
use super::{Failure, Outcome, Status, flatten};

/// Reads a network.
fn read(input: &Path, language: &Language, sources: &mut Sources) -> Result<(Option<Network>, Diagnostics), Unread> {
    let input = io::read(input)?;
    Ok(loops::read(&input.name, input.text, sources, language.strict))
}

/// The options of the library.
fn options(language: &Language) -> Options {
    let defaults = Options::default();
    Options {
        strict: language.strict,
        unroll: language.unroll,
        max_trips: language.max_trips,
        max_ops: language.max_ops.unwrap_or(defaults.max_ops),
        // As many steps for each operation allowed as elsewhere.
        max_steps: language.max_ops.map_or(defaults.max_steps, |ops| ops.saturating_mul(20)),
        ..defaults
    }
}

/// A graph and warnings, or the reasons for a refusal; and the texts that they speak of.
type Processed = (Sources, Result<(Graph, Diagnostics), Diagnostics>);

/// Reads and unrolls a network.
pub fn process(input: &Path, language: &Language) -> Result<Processed, Unread> {
    let mut sources = Sources::new();
    let (net, mut diagnostics) = read(input, language, &mut sources)?;
    let Some(net) = net.filter(|_| !diagnostics.has_errors()) else { return Ok((sources, Err(diagnostics))) };
    let result = match loops::unroll(&net, &options(language)) {
        Ok(expansion) => {
            diagnostics.extend(expansion.diagnostics);
            Ok((expansion.graph, diagnostics))
        }
        Err(errors) => {
            diagnostics.extend(errors);
            Err(diagnostics)
        }
    };
    Ok((sources, result))
}

/// Reads a network and checks the rules.
pub fn check(input: &Path, language: &Language) -> Result<(Sources, Diagnostics), Unread> {
    let mut sources = Sources::new();
    let (net, mut diagnostics) = read(input, language, &mut sources)?;
    if let Some(net) = net {
        diagnostics.extend(loops::check(&net, language.strict));
    }
    Ok((sources, diagnostics))
}

/// Evaluates a network and writes the values of its outputs.
pub fn run(
    input: &Path,
    inputs: Option<&Path>,
    language: &Language,
    path: Option<&Path>,
    reporter: &mut Reporter,
) -> Outcome {
    let mut sources = Sources::new();
    let (net, mut diagnostics) = match read(input, language, &mut sources) {
        Ok(read) => read,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let mut values = None;
    if let Some(net) = net.filter(|_| !diagnostics.has_errors()) {
        let given = match inputs.map(io::read).transpose() {
            Ok(given) => given,
            Err(unread) => return flatten::report_unread(unread, reporter),
        };
        match evaluate(&net, given, language, &mut sources) {
            Ok(evaluation) => {
                diagnostics.extend(evaluation.diagnostics);
                values = Some(evaluation.outputs);
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    reporter.all(&sources, diagnostics);
    reporter.summary();
    match values {
        Some(values) => write(&values, path).map(|()| Status::Done),
        None => Ok(Status::Refused),
    }
}

fn evaluate(
    net: &Network,
    given: Option<io::Input>,
    language: &Language,
    sources: &mut Sources,
) -> Result<loops::Evaluation, Diagnostics> {
    let inputs = match given {
        Some(given) => loops::read_inputs(&given.name, given.text, sources, net)?,
        None => Vec::new(),
    };
    loops::evaluate(net, inputs, &options(language))
}

fn write(values: &[(String, Tensor)], path: Option<&Path>) -> Result<(), Failure> {
    let mut content = |out: &mut dyn std::io::Write| loops::write_values(out, values);
    match path {
        Some(path) => io::write_file(path, &mut content),
        None => io::write_stdout(&mut content),
    }
}
