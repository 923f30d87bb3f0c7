//! What was written is read back in its notation, evaluated on the inputs of its source, and compared with what that
//! computes.
//!
//! One is evaluated after the other, and all that is in memory at a time counts in the limit of the run: both graphs, the
//! tensors of the evaluation that runs, and behind the first one its outputs.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use super::model_run::{ModelRun, random_inputs};
use super::opened::Opened;
use super::passes::selected;
use super::settings::{Passes, Settings};
use super::source::{Backing, Evaluable, Source, Values};
use super::table::loops::Networks;
use super::table::{Notation, documents};
use super::{Findings, Refusal, models};
use crate::diagnostics::{Code, Diagnostic, memory_text, suggest};
use crate::dictionary::NearOperation;
use crate::dictionary::differences::{Differing, IN_NNEF, IN_ONNX, Seen};
use crate::eval::{Difference, compare, tolerance};
use crate::live::Held;
use crate::loops::Network;
use crate::model::GRAPH;
use crate::onnx::{Document, ModelInput};
use crate::options::{Internal, Options};
use crate::progress::{self, Phase};
use crate::source::{Location, Sources};
use crate::tensor::value::{NamedValues, RunValue, ValueForm, members};
use crate::tensor::{DType, Tensor};
use crate::{Dialect, Graph, Lower, write};

/// A result that was written, in a temporary place.
pub(crate) struct ReadBack<'w> {
    /// The name of the output, for messages.
    pub(crate) name: &'w str,
    /// Its notation.
    pub(crate) to: &'static write::Notation,
    /// The folder of the external data of a model, if it is not that of the temporary file.
    pub(crate) folder: Option<&'w Path>,
}

/// The bytes that are in use for each byte of a text while it is read: itself, its tree, and the items of its graph.
const TEXT: u64 = 3;

/// The options with which a result is read back: those of its source are in it. Its text may be longer.
fn plain(settings: &Settings, dialect: Option<Dialect>) -> Settings {
    let options = Options {
        strict: false,
        dialect,
        lower: Lower::Custom,
        internal: Internal { profile: settings.options.internal.profile, ..Internal::default() },
        keep: Vec::new(),
        keep_unused: false,
        migrate: false,
        shapes: Default::default(),
        unroll: false,
        flat: false,
        max_text: settings.options.max_text.max(settings.options.max_memory),
        ..settings.options.clone()
    };
    let mut model = settings.model.clone();
    (model.graph, model.text) = (model.graph.max(options.max_text), model.text.max(options.max_text));
    let passes = Passes::default();
    Settings { options, model, bound: Vec::new(), kept: Vec::new(), layouts: Vec::new(), passes, ..settings.clone() }
}

impl ReadBack<'_> {
    /// Reads a file, or the folder of a model of NNEF.
    ///
    /// # Errors
    ///
    /// It cannot be read back.
    pub(crate) fn at(&self, path: &Path, settings: &Settings) -> Result<Side, Refusal> {
        let _text = self.room_for_text(path, settings)?;
        self.side(settings, |notation, settings| {
            let opened = Opened::open(path)?;
            let folder = self.folder.filter(|_| opened.is_file());
            (notation.read)(opened.known_as(self.name, folder), settings)
        })
    }

    /// Reads a model of NNEF in an archive.
    ///
    /// # Errors
    ///
    /// It cannot be read back.
    pub(crate) fn archived(&self, archive: File, settings: &Settings) -> Result<Side, Refusal> {
        self.side(settings, |notation, settings| {
            let written = models::archived(self.name, archive, settings)?;
            Ok(documents::source_of(written, notation.dialect.unwrap_or(Dialect::V1)))
        })
    }

    /// Counts the bytes of a text, its tree and its items while it is read, which limits of texts do not count: it may be as
    /// long as the memory of the run.
    fn room_for_text(&self, path: &Path, settings: &Settings) -> Result<Held, Refusal> {
        let is_binary = self.to.on_terminal.is_some();
        let file = if path.is_dir() { path.join(GRAPH) } else { path.to_owned() };
        let bytes = if is_binary { 0 } else { file.metadata().map_or(0, |file| file.len()) };
        let (held, bytes, limit) = (Held::default(), TEXT.saturating_mul(bytes), settings.options.max_memory);
        if !held.fits(bytes, limit) {
            let limit = memory_text(held.exceeded(bytes, limit));
            let message = format!("to read back what was written takes more than {limit} of memory");
            let refuse =
                |at| Diagnostic::new(Code::MemoryBudget, at, message).help("raise the limit with --max-memory");
            return Err(Refusal::of(self.name.to_owned(), String::new(), refuse));
        }
        held.set(bytes);
        Ok(held)
    }

    fn side(
        &self,
        settings: &Settings,
        read: impl FnOnce(&Notation, &Settings) -> Result<Box<dyn Source>, Refusal>,
    ) -> Result<Side, Refusal> {
        let Some(notation) = Notation::named(self.to.name) else {
            return Err(Refusal::Unfit(format!("--verify reads no results in the notation `{}`", self.to.name)));
        };
        let settings = plain(settings, notation.dialect);
        let side = read(notation, &settings).and_then(|source| Side::of(source.evaluable(&settings)?, &settings));
        side.map_err(|refusal| {
            let message = format!("what was written cannot be read back: {}", first(&refusal));
            let refuse = |at| Diagnostic::new(Code::VerifyDifference, at, message);
            Refusal::of(self.name.to_owned(), String::new(), refuse)
        })
    }
}

/// The message of the first error of a refusal.
fn first(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Found(found) => {
            let error = found.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            error.map_or_else(String::new, |error| error.to_string())
        }
        other => other.to_string(),
    }
}

/// Whether a refusal is for an error with a code.
fn has_code(refusal: &Refusal, code: Code) -> bool {
    matches!(refusal, Refusal::Found(found) if found.diagnostics.iter().any(|error| error.code == code))
}

fn refused(sources: Sources, diagnostic: Diagnostic) -> Refusal {
    Refusal::Found(Box::new(Findings::one(sources, diagnostic)))
}

/// One of the two that are compared.
pub(crate) enum Side {
    Graph(Box<dyn Backing>, Box<Graph>),
    Network(Box<Networks>),
    Model(Box<ModelRun>),
}

/// Where the data of the variables of a graph are.
#[derive(Clone, Copy)]
pub(crate) enum Labels<'l> {
    /// In its own model, with the quantizations of it.
    Own,
    /// In its own files; nothing is rounded.
    Files,
    /// A text alone was written: they are those of its source, which may be in no files.
    Source(Option<&'l dyn Backing>),
}

/// Tensors by name.
type NamedTensors = Vec<(String, Tensor)>;

/// The tensors among values: all that inputs and outputs of graphs and networks are.
fn tensors(values: &[(String, RunValue)]) -> NamedTensors {
    let tensor = |(name, value): &(String, RunValue)| Some((name.clone(), (**value.tensor()?).clone()));
    values.iter().filter_map(tensor).collect()
}

/// Tensors as values.
fn values<T: Into<RunValue>>(tensors: impl IntoIterator<Item = (String, T)>) -> NamedValues {
    tensors.into_iter().map(|(name, tensor)| (name, tensor.into())).collect()
}

/// The names of inputs, with their types if these are fixed.
type Inputs = Vec<(String, Option<DType>)>;

/// How the outputs are computed.
struct VerifyRun<'r> {
    seed: u64,
    quantized: bool,
    settings: &'r Settings,
}

impl Side {
    /// The source of a result.
    ///
    /// # Errors
    ///
    /// It cannot be evaluated.
    pub(crate) fn source(source: Box<dyn Source>, settings: &Settings) -> Result<Side, Refusal> {
        Side::of(source.reference(settings)?, settings)
    }

    fn of(evaluable: Evaluable, settings: &Settings) -> Result<Side, Refusal> {
        match evaluable {
            Evaluable::Graph(mut flat) => match selected(flat.result, &mut *flat.backing, settings)? {
                Ok((graph, found)) if !found.has_errors() => Ok(Side::Graph(flat.backing, Box::new(graph))),
                Ok((_, found)) | Err(found) => {
                    Err(Refusal::Found(Box::new(Findings::new(flat.backing.sources().clone(), found))))
                }
            },
            Evaluable::Network(networks, found) if !found.has_errors() => Ok(Side::Network(networks)),
            Evaluable::Network(networks, found) => {
                Err(Refusal::Found(Box::new(Findings::new(networks.sources, found))))
            }
            Evaluable::Model(run) if run.document.is_some() && !run.found.has_errors() => Ok(Side::Model(run)),
            Evaluable::Model(run) => Err(Refusal::Found(Box::new(run.findings()))),
        }
    }

    /// The graph, if it is one.
    pub(crate) fn graph(&mut self) -> Option<&mut Graph> {
        if let Side::Graph(_, graph) = self { Some(graph) } else { None }
    }

    /// The inputs of a model, if it is one.
    pub(crate) fn model(&self) -> Option<Vec<ModelInput>> {
        if let Side::Model(run) = self { Some(run.inputs()) } else { None }
    }

    /// The names of its inputs, with their types if these are fixed.
    fn inputs(&self) -> Inputs {
        match self {
            Side::Graph(_, graph) => graph.inputs.iter().map(|input| (graph.tensor_name(*input), None)).collect(),
            Side::Network(networks) => networks.net.iter().flat_map(Network::typed_inputs).collect(),
            Side::Model(run) => {
                let dtype = |input: &ModelInput| input.form.as_ref().and_then(ValueForm::dtype);
                run.inputs().into_iter().map(|input| (input.name.clone(), dtype(&input))).collect()
            }
        }
    }

    /// The extents that are 1 in random values for the inputs that are not given, each once.
    fn open_extents(&self, given: &[(String, RunValue)]) -> Vec<String> {
        let inputs = self.model().into_iter().flatten();
        let is_random = |input: &ModelInput| !input.has_default && given.iter().all(|(name, _)| *name != input.name);
        let open: IndexSet<String> = inputs.filter(is_random).flat_map(|input| input.open_extents).collect();
        open.into_iter().collect()
    }

    /// The number of outputs of a network, if it is one.
    fn outputs_of_network(&self) -> Option<usize> {
        if let Side::Network(networks) = self { networks.net.as_ref().map(|net| net.outputs.len()) } else { None }
    }

    fn sources(&self) -> Sources {
        match self {
            Side::Graph(backing, _) => backing.sources().clone(),
            Side::Network(networks) => networks.sources.clone(),
            Side::Model(run) => run.sources.clone(),
        }
    }

    /// Given values, and random ones for the other inputs; none for networks, which do not make any.
    fn random(
        &self,
        given: &[(String, RunValue)],
        seed: u64,
        settings: &Settings,
    ) -> Result<Option<NamedValues>, Refusal> {
        let made = match self {
            Side::Network(_) => return Ok(None),
            Side::Graph(_, graph) => {
                let made = graph.random_inputs_within(settings.evaluation, &tensors(given), seed);
                made.map(values).map_err(|error| Box::new(error.diagnostic(graph)))
            }
            Side::Model(run) => match &run.document {
                Some(document) => random_inputs(document, given, seed, settings),
                None => Ok(given.to_vec()),
            },
        };
        made.map(Some).map_err(|error| refused(self.sources(), *error))
    }

    /// The outputs on inputs.
    fn outputs(&mut self, inputs: &[(String, RunValue)], run: &VerifyRun) -> Result<NamedValues, Refusal> {
        match self {
            Side::Graph(backing, graph) => {
                let sources = backing.sources().clone();
                evaluated(backing.values(graph, run.settings)?, &sources, graph, inputs, run)
            }
            Side::Network(networks) => {
                let outputs = networks.outputs(&tensors(inputs), run.settings);
                let outputs = outputs
                    .map_err(|found| Refusal::Found(Box::new(Findings::new(networks.sources.clone(), found))))?;
                Ok(values(outputs.outputs))
            }
            Side::Model(model) => match model.evaluate(inputs, run.settings) {
                Some(outputs) => Ok(outputs),
                None => {
                    let found = std::mem::take(&mut model.found);
                    Err(Refusal::Found(Box::new(Findings::new(model.sources.clone(), found))))
                }
            },
        }
    }
}

/// The outputs of a graph with the data behind it; its diagnostics have their places in `sources`.
fn evaluated(
    mut values: Values,
    sources: &Sources,
    graph: &Graph,
    inputs: &[(String, RunValue)],
    run: &VerifyRun,
) -> Result<NamedValues, Refusal> {
    values.seed = Some(run.seed);
    let quantizations = std::mem::replace(&mut values.quantizations, Ok(Default::default()));
    let quantizations = if run.quantized { quantizations } else { Ok(Default::default()) };
    let failed = |found| Refusal::Found(Box::new(Findings::new(values.sources.clone(), found)));
    let (quantizations, _) = quantizations.map_err(failed)?;
    match values.run(graph, &tensors(inputs), (quantizations, run.settings)) {
        Ok(evaluation) => Ok(self::values(evaluation.outputs)),
        Err(error) => Err(refused(sources.clone(), error.diagnostic(graph))),
    }
}

/// The outputs of what was written, with the data of the variables that belong to it.
fn outputs_of_written(
    source: &mut Side,
    written: &mut Side,
    labels: Labels,
    inputs: &[(String, RunValue)],
    run: &VerifyRun,
) -> Result<NamedValues, Refusal> {
    let (Labels::Source(flat), Side::Graph(backing, graph)) = (labels, &mut *written) else {
        return written.outputs(inputs, run);
    };
    let sources = backing.sources().clone();
    let values = match (flat.and_then(Backing::weights), source) {
        (Some(weights), _) => Values::of(&sources, Some(weights)),
        (None, Side::Graph(backing, _)) => backing.values(graph, run.settings)?,
        (None, _) => Values::of(&sources, None),
    };
    evaluated(values, &sources, graph, inputs, run)
}

/// The result of a comparison without a difference.
pub(crate) enum Verified {
    Equal {
        /// The number of compared items.
        items: usize,
        /// The largest difference.
        largest: f64,
        /// The extents that random inputs have 1 for: symbols, or axes such as `x[0]`.
        open_extents: Vec<String>,
    },
    /// The inputs do not suffice for a comparison, for the reason in the text.
    Nothing(String),
}

/// The inputs of what was written, by the names in its source, and the other way round. Notations spell some names in
/// different ways: such inputs are matched by their order. Those with values are gone.
struct Pairs {
    /// The inputs of the source in their order.
    names: Vec<String>,
    source: FxHashMap<String, Option<DType>>,
    to_written: FxHashMap<String, (String, Option<DType>)>,
    to_source: FxHashMap<String, String>,
}

impl Pairs {
    fn new(source: Inputs, written: Inputs) -> Self {
        let known: FxHashMap<&str, Option<DType>> = written.iter().map(|(name, of)| (name.as_str(), *of)).collect();
        let names: FxHashMap<String, Option<DType>> = source.iter().cloned().collect();
        let mut others = written.iter().filter(|(name, _)| !names.contains_key(name));
        let mut to_written = FxHashMap::default();
        for (name, _) in &source {
            let same = known.get(name.as_str()).map(|of| (name.clone(), *of));
            if let Some(pair) = same.or_else(|| others.next().cloned()) {
                to_written.insert(name.clone(), pair);
            }
        }
        let to_source = to_written.iter().map(|(from, (to, _))| (to.clone(), from.clone())).collect();
        let in_order = source.into_iter().map(|(name, _)| name).collect();
        Pairs { names: in_order, source: names, to_written, to_source }
    }

    /// A value of an input in the coarsest of the types that it has on both sides.
    fn rounded(&self, name: &str, value: RunValue) -> RunValue {
        let types = [self.source.get(name).copied(), self.to_written.get(name).map(|(_, of)| *of)];
        let rounded = |value: Tensor, of: DType| match of.is_float() && value.dtype().is_float() {
            true => value.clone().into_type(of).unwrap_or(value),
            false => value,
        };
        value.with_tensors(&|value| types.into_iter().flatten().flatten().fold(value, rounded))
    }

    /// A value for each input that both have.
    fn for_written(&self, inputs: &[(String, RunValue)]) -> NamedValues {
        let typed = |(name, value): &(String, RunValue)| {
            let (to, of) = self.to_written.get(name)?;
            let exact = |of: DType| value.tensor().and_then(|value| (**value).clone().exactly(of).ok());
            let exact = of.and_then(exact).map(RunValue::from);
            Some((to.clone(), exact.unwrap_or_else(|| value.clone())))
        };
        inputs.iter().filter_map(typed).collect()
    }
}

/// Values for the inputs of a source: given ones, and random ones.
fn inputs(
    source: &Side,
    written: &Side,
    pairs: &Pairs,
    given: &[(String, RunValue)],
    seed: u64,
    settings: &Settings,
) -> Result<NamedValues, Refusal> {
    let made = match source.random(given, seed, settings)? {
        Some(made) => made,
        None => {
            if let Some((name, _)) = given.iter().find(|(name, _)| !pairs.source.contains_key(name)) {
                let known: Vec<&str> = pairs.names.iter().map(String::as_str).collect();
                let message = suggest::no_input("network", name, &known);
                return Err(refused(source.sources(), Diagnostic::new(Code::LoopInput, Location::default(), message)));
            }
            // What was written has the shapes that the network leaves open.
            let made = written.random(&pairs.for_written(given), seed, settings)?.unwrap_or_default();
            let from = |(name, value)| Some((pairs.to_source.get(&name)?.clone(), value));
            made.into_iter().filter_map(from).collect()
        }
    };
    let rounded = |(name, value): (String, RunValue)| (name.clone(), pairs.rounded(&name, value));
    Ok(made.into_iter().map(rounded).collect())
}

/// What is known of differences between a source and what was written of it.
#[derive(Default)]
struct KnownDifferences {
    strict: bool,
    /// Operations that were written for others.
    near: Vec<NearOperation>,
    /// Operators of the source, each with a row that names it.
    rows: Vec<(String, &'static Differing)>,
}

/// The most known differences in a message.
const MAX_KNOWN: usize = 3;

impl KnownDifferences {
    fn new(source: &Side, written: &Side, strict: bool) -> Self {
        let rows = |table: &'static [Differing], names: BTreeSet<String>| {
            let found = |row: &'static Differing| Some((row.among(names.iter().map(String::as_str))?.to_owned(), row));
            table.iter().filter_map(found).collect()
        };
        match (source, written) {
            (Side::Model(run), Side::Graph(_, graph)) => KnownDifferences {
                strict,
                near: if strict { Vec::new() } else { graph.near_operations() },
                rows: rows(IN_NNEF, run.document.as_ref().map(Document::operators).unwrap_or_default()),
            },
            (Side::Graph(_, graph), Side::Model(_)) => {
                // The source of a document is computed by its primitives: what they stand for has called them.
                let called = graph.origins().map(|call| graph.text_of(call.fragment));
                let names = graph.operations.iter().map(|operation| graph.operation_name(operation)).chain(called);
                KnownDifferences {
                    strict,
                    rows: rows(IN_ONNX, names.map(str::to_owned).collect()),
                    ..KnownDifferences::default()
                }
            }
            _ => KnownDifferences::default(),
        }
    }

    /// Those that can be the cause of a difference.
    fn causes(&self, seen: Seen) -> Option<String> {
        let edges: &[f64] = if seen.not_finite { &[f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -0.0] } else { &[-0.0] };
        let differs = |near: &&NearOperation| edges.iter().any(|edge| (near.differs.at)(&[*edge; 2]));
        let near: Vec<String> = self.near.iter().filter(differs).map(NearOperation::described).collect();
        let rows = self.rows.iter().filter(|(_, row)| row.is_possible(self.strict, seen)).take(MAX_KNOWN);
        let rows: Vec<String> =
            rows.map(|(name, row)| format!("`{name}` differs in {}, since {}", row.at.text(), row.because)).collect();
        let near = (!near.is_empty()).then(|| format!("{}: --strict writes what the model computes", near.join(", ")));
        let rows = (!rows.is_empty()).then(|| format!("known differences: {}", rows.join("; ")));
        let told: Vec<String> = near.into_iter().chain(rows).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// What the tensors of a comparison have.
fn seen(values: &[&NamedValues]) -> Seen {
    let mut seen = Seen::default();
    for (_, tensor) in values.iter().flat_map(|values| values.iter()).flat_map(|(name, value)| members(name, value)) {
        seen.double |= matches!(tensor.dtype(), DType::Float64);
        let (integers, floats) = (tensor.dtype().is_integer(), tensor.dtype().is_float());
        if integers || floats {
            let items = tensor.to_scalars();
            seen.not_finite |= floats && items.iter().any(|item| !item.is_finite());
            seen.wide |= integers && items.iter().any(|item| item.abs() >= f64::from(1 << 24));
        }
    }
    seen
}

/// Evaluates what was written and its source on the same inputs, given and random, and compares their outputs.
///
/// # Errors
///
/// One of them cannot be evaluated, or they differ by more than rounding explains.
pub(crate) fn verify(
    source: &mut Side,
    mut written: Side,
    given: &[(String, RunValue)],
    seed: u64,
    labels: Labels,
    settings: &Settings,
) -> Result<Verified, Refusal> {
    progress::enter(Phase::Evaluating);
    let pairs = Pairs::new(source.inputs(), written.inputs());
    let inputs = inputs(source, &written, &pairs, given, seed, settings)?;
    let run = VerifyRun { seed, quantized: matches!(labels, Labels::Own), settings };
    let found = outputs_of_written(source, &mut written, labels, &pairs.for_written(&inputs), &run);
    let mut found = match found {
        Ok(found) => found,
        // Values that do not fit the source, either, are told of it, before anything is computed.
        Err(refusal) if has_code(&refusal, Code::EvalInput) => {
            return Err(source.outputs(&inputs, &run).err().unwrap_or(refusal));
        }
        Err(refusal) => return Err(refusal),
    };
    // Behind its outputs, only what is known of differences is needed of what was written.
    let known = KnownDifferences::new(source, &written, settings.options.strict);
    drop(written);
    let held = |(_, value): &(String, RunValue)| 8 * value.total_weight() as u64;
    let _held = Held::of(found.iter().map(held).sum());
    // If the number of trips of a network depends on data, the graph has a further output that states whether the trip
    // limit sufficed. If it did not, the network may run forever.
    if let Some(count) = source.outputs_of_network().filter(|count| found.len() > *count) {
        if let Some((name, _)) =
            found[count..].iter().find(|(_, done)| done.tensor().is_some_and(|done| done.to_scalars().contains(&0.0)))
        {
            let why = format!("on these inputs the number of trips is not sufficient (`{name}` is false)");
            return Ok(Verified::Nothing(why));
        }
        found.truncate(count);
    }
    let wanted = source.outputs(&inputs, &run)?;
    let tensors =
        |values: &NamedValues| values.iter().flat_map(|(name, value)| members(name, value)).collect::<Vec<_>>();
    match compare(&tensors(&wanted), &tensors(&found), tolerance) {
        Ok(Difference { items, largest, .. }) => {
            Ok(Verified::Equal { items, largest, open_extents: source.open_extents(given) })
        }
        Err(message) => {
            let at = if let Side::Graph(backing, _) = source { backing.start() } else { Location::default() };
            let why = known.causes(seen(&[&inputs, &wanted, &found]));
            let difference = Diagnostic::new(Code::VerifyDifference, at, message).help_if(why);
            Err(refused(source.sources(), difference))
        }
    }
}

#[cfg(test)]
mod tests;
