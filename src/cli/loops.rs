//! Networks with loops on the command line: flattening, checking, evaluating.

use std::collections::BTreeMap;
use std::path::Path;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::{EvalError, Evaluator};
use crate::graph::stats::{NNEF, Setting};
use crate::layout::Removed;
use crate::loops::{Evaluation, Network};
use crate::source::{Location, Sources};
use crate::tensor::json::{self, Style};
use crate::tensor::{Tensor, TensorError};
use crate::{Graph, Options};

use super::args::{self, Language, Verification};
use super::inputs::opened::{Checked, Opened};
use super::io::{self, Unread};
use super::models::Expanded;
use super::pipeline::{self, Source};
use super::report::Reporter;
use super::request::Request;
use super::tensors::Written;
use super::{Failure, RunResult, Status, flatten, stats, tensors};

/// Reads a network.
fn read(input: Opened, language: &Language, sources: &mut Sources) -> Result<(Option<Network>, Diagnostics), Unread> {
    let input = input.text(language.limits.text())?;
    Ok(Network::read(&input.name, input.text, sources, language.strict))
}

/// The options of the library.
fn options(language: &Language) -> Options {
    Options {
        strict: language.strict,
        unroll: language.unroll,
        max_trips: language.max_trips,
        ..language.limits.options()
    }
}

/// The sources, the network as far as it could be read, and a graph with warnings, or the errors.
type Processed = (Sources, Option<Network>, Result<(Graph, Diagnostics), Diagnostics>);

/// Reads and unrolls a network.
fn process(input: Opened, language: &Language) -> Result<Processed, Unread> {
    let mut sources = Sources::new();
    let (net, mut diagnostics) = read(input, language, &mut sources)?;
    let Some(net) = net.filter(|_| !diagnostics.has_errors()) else { return Ok((sources, None, Err(diagnostics))) };
    let result = match unrolled(&net, language) {
        Ok((graph, found)) => {
            diagnostics.extend(found);
            Ok((graph, diagnostics))
        }
        Err(errors) => {
            diagnostics.extend(errors);
            Err(diagnostics)
        }
    };
    Ok((sources, Some(net), result))
}

/// The flat graph of a network, with warnings, or the errors.
fn unrolled(net: &Network, language: &Language) -> Expanded {
    net.unroll(&options(language)).map(|expansion| (expansion.graph, expansion.diagnostics))
}

/// A network, as far as it could be read.
struct Networks {
    sources: Sources,
    net: Option<Network>,
}

impl Source for Networks {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn verify(&self, graph: &Graph, request: &Request, reporter: &mut Reporter) -> Result<bool, Failure> {
        let (language, verification) = (request.language, request.verification);
        match self.net.as_ref().filter(|_| verification.verify) {
            Some(net) => verify(net, graph, language, verification, &self.sources, reporter),
            None => Ok(true),
        }
    }

    fn stats(&self, graph: &Graph, removed: Option<Removed>, _: &Request, reporter: &mut Reporter) {
        stats::tell(None, (graph, Setting::without_data(NNEF)), removed, reporter);
    }
}

/// Flattens a network.
pub(crate) fn flatten(input: Opened, request: Request, reporter: &mut Reporter) -> RunResult {
    let flat = process(input, request.language).map(|(sources, net, result)| (Networks { sources, net }, result));
    pipeline::run(flat, request, reporter)
}

/// The largest difference between a flat graph and its network that rounding explains: the network
/// computes in the types that it declares, the graph in double precision.
const TOLERANCE: f64 = 1e-4;

/// Evaluates a network and its flat graph on the same inputs, from a file or random, and compares the
/// outputs. Returns whether they agree.
fn verify(
    net: &Network,
    graph: &Graph,
    language: &Language,
    verification: &Verification,
    sources: &Sources,
    reporter: &mut Reporter,
) -> Result<bool, Failure> {
    let read = |path| tensors::read(path, graph, &language.limits);
    let given = match verification.inputs.as_deref().map(read).transpose() {
        Ok(given) => given.unwrap_or_default(),
        Err(unread) => return flatten::report_unread(unread, reporter).map(|_| false),
    };
    let seed = verification.seed.unwrap_or(0);
    match compare(net, graph, (&given, seed), language) {
        Ok(Compared::Equal(items, largest)) => {
            super::verify::tell(items, largest, reporter);
            Ok(true)
        }
        Ok(Compared::TooFewTrips(why)) => {
            super::verify::tell_nothing(&why, reporter);
            Ok(true)
        }
        Err(found) => {
            reporter.all(sources, found);
            reporter.summary();
            Ok(false)
        }
    }
}

/// The result of a comparison without a difference.
enum Compared {
    /// The number of compared items, and the largest difference.
    Equal(usize, f64),
    /// The trip limit does not suffice, for the reason in the text.
    TooFewTrips(String),
}

/// Compares a network with its graph.
fn compare(
    net: &Network,
    graph: &Graph,
    (given, seed): (&[(String, Tensor)], u64),
    language: &Language,
) -> Result<Compared, Diagnostics> {
    let refuse = |diagnostic: Diagnostic| {
        let mut found = Diagnostics::default();
        found.report(diagnostic);
        found
    };
    let fail = |code: Code, message: String| refuse(Diagnostic::new(code, Location::default(), message));
    let unfit = |error: TensorError| fail(Code::EvalInput, error.0);
    let of_graph = |error: EvalError| refuse(error.diagnostic(graph));
    let made = graph.random_inputs(given, seed).map_err(of_graph)?;
    let (mut inputs, mut rounded) = (Vec::new(), Vec::new());
    for (name, tensor) in made {
        let Some(dtype) = net.input_type(&name).map(|ty| ty.dtype) else { continue };
        let value = tensor.into_type(dtype).map_err(unfit)?;
        rounded.push((name.clone(), value.clone()));
        inputs.push((name, value));
    }
    let flat = Evaluator::with_limits(language.limits.evaluation())
        .run(graph, &rounded, &BTreeMap::new())
        .map_err(of_graph)?
        .outputs;
    // If the number of trips depends on data, the graph has a further output that states whether the trip
    // limit sufficed.
    if let Some((name, finished)) = flat.get(net.outputs.len())
        && finished.to_scalars().contains(&0.0)
    {
        let why = format!("on these inputs the number of trips is not sufficient (`{name}` is false)");
        return Ok(Compared::TooFewTrips(why));
    }
    let outputs = net.evaluate(inputs, &options(language))?.outputs;
    let (mut items, mut largest) = (0, 0.0_f64);
    for ((name, value), (_, computed)) in outputs.iter().zip(&flat) {
        let wanted = value.clone().widened();
        let apart = wanted.difference(computed).unwrap_or(f64::INFINITY);
        if apart > TOLERANCE {
            let message = format!("output `{name}` differs by {apart:e} from what the network computes");
            return Err(fail(Code::VerifyDifference, message));
        }
        (items, largest) = (items + wanted.len(), largest.max(apart));
    }
    Ok(Compared::Equal(items, largest))
}

/// The flat graph of a network.
pub(crate) fn graph(input: Opened, language: &Language) -> Result<(Sources, Expanded), Unread> {
    process(input, language).map(|(sources, _, result)| (sources, result))
}

/// Reads a network and checks the rules; its loops need not be unrolled unless that is asked for.
pub(crate) fn check(input: Opened, language: &Language) -> Result<Checked, Unread> {
    let mut sources = Sources::new();
    let (net, mut diagnostics) = read(input, language, &mut sources)?;
    if let Some(net) = net {
        diagnostics.extend(match net.check(language.strict) {
            found if language.unroll && !found.has_errors() => {
                unrolled(&net, language).map_or_else(|found| found, |(_, found)| found)
            }
            found => found,
        });
    }
    Ok((sources, !diagnostics.has_errors(), diagnostics))
}

/// Evaluates a network and writes the values of its outputs.
pub(crate) fn run(
    input: Opened,
    arguments: &args::Run,
    (path, _): Written,
    language: &Language,
    reporter: &mut Reporter,
) -> RunResult {
    let inputs = arguments.inputs.as_deref();
    let mut sources = Sources::new();
    let (net, mut diagnostics) = match read(input, language, &mut sources) {
        Ok(read) => read,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let mut values = None;
    if let Some(net) = net.filter(|_| !diagnostics.has_errors()) {
        let given = match inputs.map(|path| io::read(path, language.limits.text())).transpose() {
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
) -> Result<Evaluation, Diagnostics> {
    let inputs = match given {
        Some(given) => net.read_inputs(&given.name, given.text, sources)?,
        None => Vec::new(),
    };
    net.evaluate(inputs, &options(language))
}

fn write(values: &[(String, Tensor)], path: Option<&Path>) -> Result<(), Failure> {
    let named = || values.iter().map(|(name, tensor)| (name.as_str(), tensor));
    let mut content = |out: &mut dyn std::io::Write| json::write(named(), Style::Network, out);
    match path {
        Some(path) => io::write_file(path, &mut content),
        None => io::write_stdout(&mut content),
    }
}
