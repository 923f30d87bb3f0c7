//! The door of the library.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;

use super::model_run::named_values;
use super::opened::{NoteFile, Opened};
use super::passes::{outlined, selected};
use super::settings::Settings;
use super::source::{Evaluable, Flat, Source};
#[cfg(feature = "kernels")]
use super::summaries::summaries;
use super::table::Notation;
use super::{Findings, Refusal};
use crate::diagnostics::Diagnostics;
use crate::graph::Cut;
use crate::graph::stats::Stats;
use crate::onnx::UsedRules;
use crate::tensor::Tensor;
use crate::tensor::value::members;
use crate::write::encode::{Encode, Made, Within};
use crate::{Graph, Options, write};

/// What is opened: a path, or bytes under a name for messages. Its notation can be given by its name.
pub struct Given<'g> {
    from: From<'g>,
    notation: Option<&'g str>,
    beside: Option<NoteFile>,
}

enum From<'g> {
    Path(&'g Path),
    Bytes(&'g str, Bytes),
}

impl Given<'_> {
    /// Opens what is given, and finds the notation of the name.
    pub(crate) fn opened(self) -> Result<(Opened, Option<&'static Notation>), Refusal> {
        let known = |name: &str| {
            let unknown = || Refusal::Unfit(format!("there is no notation `{name}`"));
            Notation::named(name).ok_or_else(unknown)
        };
        let named = self.notation.map(known).transpose()?;
        let mut opened = match self.from {
            From::Path(path) => Opened::open(path)?,
            From::Bytes(name, bytes) => Opened::memory(name.to_owned(), bytes),
        };
        opened.beside = self.beside;
        Ok((opened, named))
    }

    /// Gives the notation by its name: `nnef`, `nnef-draft`, `loops`, `onnx`, `onnxtxt` or `pnnx`.
    ///
    /// ```
    /// use nnef_flatten::input::Given;
    /// use nnef_flatten::{Options, open};
    ///
    /// let given = Given::from(("node", "y = Relu (x)")).notation("nnef-draft");
    /// assert_eq!(open(given, &Options::default())?.notation(), "nnef-draft");
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn notation(self, name: &'static str) -> Self {
        Given { notation: Some(name), ..self }
    }

    /// Tells the paths of the files of external data that a model names, before they are read.
    ///
    /// ```
    /// use std::path::Path;
    /// use std::sync::{Arc, Mutex};
    /// use nnef_flatten::input::Given;
    /// use nnef_flatten::{Options, open};
    ///
    /// let told = Arc::new(Mutex::new(0));
    /// let count = Arc::clone(&told);
    /// let given = Given::from(Path::new("examples/onnx/heads.onnxtxt"));
    /// let given = given.noting(Arc::new(move |_: &Path| *count.lock().unwrap() += 1));
    /// open(given, &Options::default())?.check()?;
    /// assert_eq!(*told.lock().unwrap(), 0, "the model has its data itself");
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn noting(self, note: Arc<dyn Fn(&Path) + Send + Sync>) -> Self {
        Given { beside: Some(note), ..self }
    }
}

impl<'g> Given<'g> {
    /// Bytes that belong to something else, such as an object of another language: they are not copied. A model of ONNX
    /// refers to them until it is written.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use nnef_flatten::input::Given;
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }";
    /// let bytes: Arc<[u8]> = text.as_bytes().into();
    /// assert!(open(Given::owned_by("example", bytes), &Options::default())?.check()?.diagnostics.is_empty());
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn owned_by(name: &'g str, owner: impl AsRef<[u8]> + Send + 'static) -> Self {
        Given { from: From::Bytes(name, Bytes::from_owner(owner)), notation: None, beside: None }
    }
}

impl<'g> std::convert::From<&'g Path> for Given<'g> {
    fn from(path: &'g Path) -> Self {
        Given { from: From::Path(path), notation: None, beside: None }
    }
}

impl<'g, B: Into<Vec<u8>>> std::convert::From<(&'g str, B)> for Given<'g> {
    fn from((name, bytes): (&'g str, B)) -> Self {
        Given { from: From::Bytes(name, Bytes::from(bytes.into())), notation: None, beside: None }
    }
}

/// An input in one of the notations. Each verb uses it up, and returns all findings about it.
pub struct Input {
    pub(super) source: Box<dyn Source>,
    pub(super) notation: &'static Notation,
    pub(super) settings: Settings,
}

/// Opens a path, or bytes under a name for messages, and recognizes the notation. Limits on models and evaluations are
/// those of [`Options::untrusted`], if the options were made with it.
///
/// ```
/// use std::path::Path;
/// use nnef_flatten::{Options, open};
/// use nnef_flatten::input::Refusal;
///
/// let options = Options::untrusted();
/// let input = open(Path::new("examples/repeat.nnef"), &options)?;
/// assert!(!input.check()?.has_errors());
/// let Err(refused) = open(("weights", b"\x93NUMPY\x01\0"), &options) else { panic!() };
/// assert_eq!(
///     refused.to_string(),
///     "weights:1:1: E0004: this is an array of NumPy (.npy); it is the value of an input"
/// );
/// # Ok::<(), Refusal>(())
/// ```
///
/// # Errors
///
/// It cannot be read, is in the format of another program, or exceeds a limit.
pub fn open<'g>(given: impl Into<Given<'g>>, options: &Options) -> Result<Input, Refusal> {
    let (opened, named) = given.into().opened()?;
    let notation = Notation::of(&opened, named)?;
    let mut settings = Settings::new(options);
    if let Some(dialect) = named.and_then(|named| named.dialect) {
        settings.options.dialect = Some(dialect);
    }
    let source = (notation.read)(opened, &settings)?;
    let notation = source.dialect().map_or(notation, Notation::of_dialect);
    Ok(Input::new(source, notation, settings))
}

impl Input {
    pub(crate) fn new(source: Box<dyn Source>, notation: &'static Notation, settings: Settings) -> Self {
        Input { source, notation, settings }
    }

    /// Makes an input a constant with this value, whatever the verb is.
    ///
    /// ```
    /// use nnef_flatten::tensor::Tensor;
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "version 1.0; graph G( x, r ) -> ( y )
    ///     { x = external(shape = [2]); r = external(shape = []); s = r * 2.0; y = x * s; }";
    /// let input = open(("example", text), &Options::default())?;
    /// let (graph, _) = input.bind("r", Tensor::scalars(&[], vec![3.0])?).fold(true).flatten()?;
    /// let mut flat = Vec::new();
    /// graph.write_nnef(&mut flat)?;
    /// assert!(String::from_utf8_lossy(&flat).contains("s = constant(shape = [], value = [6.0]);"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bind(mut self, name: &str, value: Tensor) -> Self {
        self.settings.bound.push((name.to_owned(), value));
        self
    }

    /// Keeps the part of the flat graph between tensors.
    ///
    /// ```
    /// use nnef_flatten::{Cut, Options, open};
    ///
    /// let text = r#"<ir_version: 10, opset_import: ["" : 21]>
    /// g (float[2] x) => (float[2] y) { a = Exp (x) b = Neg (a) y = Sin (b) }"#;
    /// let cut = Cut { inputs: vec!["a".to_owned()], outputs: vec!["b".to_owned()] };
    /// let mut part = Vec::new();
    /// open(("m.onnxtxt", text), &Options::default())?.cut(cut).print("onnxtxt", &mut part)?;
    /// assert!(String::from_utf8_lossy(&part).contains("g (float[2] a) => (float[2] b)"));
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn cut(mut self, cut: Cut) -> Self {
        self.settings.options.internal.cut = cut;
        self
    }

    /// Whether operations on constants are computed, so that their results become constants.
    pub fn fold(mut self, fold: bool) -> Self {
        self.settings.passes.fold = fold;
        self
    }

    /// Whether equal operations are merged.
    pub fn share(mut self, share: bool) -> Self {
        self.settings.passes.share = share;
        self
    }

    /// Whether a model or a graph is simplified, as the command does with `--simplify`: what changes no result is removed or
    /// joined.
    pub fn simplify(mut self, simplify: bool) -> Self {
        self.settings.passes.simplify = simplify.then_some(UsedRules::ALL);
        self
    }

    /// Writes a model of ONNX for another version of the standard operator set, as the command does with `--opset`. Other
    /// inputs have none.
    ///
    /// ```
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = r#"<ir_version: 10, opset_import: ["" : 13]>
    /// g (float[2, 1] x) => (float[2] y) <int64[1] axes = {1}> { y = Squeeze (x, axes) }"#;
    /// let mut older = Vec::new();
    /// open(("m.onnxtxt", text), &Options::default())?.opset(11).print("onnxtxt", &mut older)?;
    /// assert!(String::from_utf8_lossy(&older).contains("y = Squeeze <axes: ints = [1]> (x)"));
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    pub fn opset(mut self, version: i64) -> Self {
        self.settings.passes.opset = Some(version);
        self
    }

    /// The name of the notation, such as `nnef` or `onnx`.
    pub fn notation(&self) -> &'static str {
        self.notation.name
    }

    /// Whether the input is a model that becomes a flat model, of which nothing else is lost, and not a graph.
    pub fn is_edited(&self) -> bool {
        self.notation.edited.contains(&self.notation.output)
    }

    /// Checks the input completely, expansion included.
    ///
    /// # Errors
    ///
    /// Files that belong to the input cannot be read. What is wrong with the input is among the findings.
    pub fn check(self) -> Result<Findings, Refusal> {
        let _run = self.settings.run();
        // What no output needs is checked, too.
        self.source.check(&self.settings.with(|options| options.keep_unused = true))
    }

    /// Flattens the input into a graph of NNEF 1.0, or of its own dialect. The graph of a model of ONNX has its
    /// operators.
    ///
    /// # Errors
    ///
    /// The input is refused, or files that belong to it cannot be read.
    pub fn flatten(self) -> Result<(Graph, Findings), Refusal> {
        let _run = self.settings.run();
        let own = self.notation.dialect.filter(|_| !self.settings.options.migrate);
        let other = || write::Notation::named(self.notation.output).unwrap_or(&write::NOTATIONS[0]);
        let to = own.map_or_else(other, write::Notation::of_dialect);
        let mut flat = self.source.flatten(to, &self.settings)?.passed(&self.settings)?;
        if let Ok((graph, _)) = &mut flat.result
            && let Some(calls) = outlined(&mut *flat.backing, graph, &self.settings)?
        {
            *graph = calls;
        }
        accepted(flat)
    }

    /// The graph with all loops expanded, except for scans: that which is evaluated and fused.
    ///
    /// # Errors
    ///
    /// Those of [`Input::flatten`].
    pub fn graph(self) -> Result<(Graph, Findings), Refusal> {
        let _run = self.settings.run();
        self.source.graph(&self.settings)?.passed(&self.settings).and_then(accepted)
    }

    /// Evaluates the input on tensors by the names of its inputs. Returns its outputs.
    ///
    /// ```
    /// use nnef_flatten::tensor::Tensor;
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "7767517\n3 2\npnnx.Input in 0 1 x #x=(2)f32\n\
    ///     pnnx.Expression e 1 1 x y expr=mul(@0,2)\npnnx.Output out 1 0 y\n";
    /// let x = Tensor::scalars(&[2], vec![0.5, 1.5])?;
    /// let (outputs, _) = open(("double.pnnx.param", text), &Options::default())?.evaluate(&[("x".into(), x)])?;
    /// assert_eq!(outputs[0].1, Tensor::scalars(&[2], vec![1.0, 3.0])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A value of a model of ONNX that is not a tensor has a tensor for each of its parts: the items of a sequence `y` are
    /// `y[0]` and so on, or `y[]` if there is none, a map is `y.keys` and `y.values`, and an optional without a value `y.none`.
    ///
    /// # Errors
    ///
    /// The input is refused, or its data cannot be read; a value is missing or does not fit.
    pub fn evaluate(self, inputs: &[(String, Tensor)]) -> Result<(Vec<(String, Tensor)>, Findings), Refusal> {
        let _run = self.settings.run();
        let settings = self.settings;
        let mut flat = match self.source.evaluable(&settings)? {
            Evaluable::Network(networks, found) => {
                let (outputs, findings) = networks.evaluated(inputs, found, &settings)?;
                return Ok((outputs, findings));
            }
            Evaluable::Model(mut model) => {
                let given = named_values(inputs.to_vec(), &model.inputs());
                let given = given.map_err(|error| Refusal::Unfit(error.to_string()))?;
                let outputs = model.evaluate(&given, &settings).ok_or(());
                let findings = model.findings();
                let Ok(outputs) = outputs else { return Err(refused(findings)) };
                let arrays = outputs.iter().flat_map(|(name, value)| members(name, value));
                let tensor = |(name, tensor)| (name, std::sync::Arc::unwrap_or_clone(tensor));
                return Ok((arrays.map(tensor).collect(), findings));
            }
            Evaluable::Graph(flat) => *flat,
        };
        let (graph, mut found) = match selected(flat.result, &mut *flat.backing, &settings)? {
            Ok(flat) => flat,
            Err(errors) => return Err(refused(Findings::new(flat.backing.sources().clone(), errors))),
        };
        let mut values = flat.backing.values(&graph, &settings)?;
        let quantizations = std::mem::replace(&mut values.quantizations, Ok(Default::default()));
        let quantizations = found.take(quantizations);
        let outputs = quantizations.map(|quantizations| values.run(&graph, inputs, (quantizations, &settings)));
        drop(values);
        let outputs = match outputs {
            Some(Ok(evaluation)) => evaluation.outputs.into_iter(),
            failed => {
                failed.into_iter().filter_map(Result::err).for_each(|error| found.report(error.diagnostic(&graph)));
                return Err(refused(Findings::new(flat.backing.sources().clone(), found)));
            }
        };
        let outputs = outputs.map(|(name, tensor)| (name, std::sync::Arc::unwrap_or_clone(tensor)));
        Ok((outputs.collect(), Findings::new(flat.backing.sources().clone(), found)))
    }

    /// Flattens the input and writes it in an output notation, by its name: one of [`write::NOTATIONS`]. Models of ONNX
    /// that are written as such, and files of PNNX, are edited themselves. Data in files beside the output are not
    /// written.
    ///
    /// # Errors
    ///
    /// The input is refused, the notation cannot express it, or writing failed.
    pub fn print(self, to: &str, out: &mut dyn Write) -> Result<Findings, Refusal> {
        let _run = self.settings.run();
        let Some(to) = write::Notation::named(to) else {
            return Err(Refusal::Unfit(format!("there is no output notation `{to}`")));
        };
        let settings = self.settings;
        let fail = |error: io::Error| Refusal::io("the output", error);
        if self.notation.edited.contains(&to.name) {
            let edited = self.source.edit(&settings)?;
            let found = edited.write((to.onnx_form(), settings.options.strict), out).map_err(fail)?;
            return if found.has_errors() { Err(refused(found)) } else { Ok(found) };
        }
        #[cfg(feature = "kernels")]
        let settings = Settings { constants: to.summarizes, ..settings };
        let Flat { mut backing, result } = self.source.flatten(to, &settings)?.passed(&settings)?;
        let (mut graph, mut found) = match result {
            Ok(flat) => flat,
            Err(errors) => return Err(refused(Findings::new(backing.sources().clone(), errors))),
        };
        let graph = outlined(&mut *backing, &mut graph, &settings)?.unwrap_or(graph);
        let data = backing.data(&graph, (to, false), &settings)?;
        let encode = Encode::new(to, false, &graph, data, Within::of(&settings.options, settings.evaluation));
        #[cfg(feature = "kernels")]
        let values = summaries(&mut *backing, &graph, to, &settings);
        let made = found.take(Made::new(to, (&graph, backing.sources()), encode)).filter(|_| !found.has_errors());
        #[cfg(feature = "kernels")]
        let made = made.map(|made| made.with_values(values));
        let made = made.map(|made| made.with_facts(|| backing.facts()));
        let written = made.as_ref().map(|made| made.write(None, out));
        drop(made);
        let findings = Findings::new(backing.sources().clone(), found);
        written.ok_or_else(|| refused(findings.clone()))?.map_err(fail)?;
        Ok(findings)
    }

    /// Flattens the input and writes the statistics of its graph as an object of JSON, as `--stats` does.
    ///
    /// ```
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(relu(x)); }";
    /// let mut stats = Vec::new();
    /// open(("example", text), &Options::default())?.statistics(&mut stats)?;
    /// assert!(String::from_utf8_lossy(&stats).contains("\"relu\":2"));
    /// # Ok::<(), nnef_flatten::input::Refusal>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The input is refused, or writing failed.
    pub fn statistics(self, out: &mut dyn Write) -> Result<Findings, Refusal> {
        let _run = self.settings.run();
        let to = write::Notation::of_graphs();
        let settings = Settings { counted: true, ..self.settings };
        let Flat { backing, result } = self.source.flatten(to, &settings)?.passed(&settings)?;
        let sources = backing.sources().clone();
        let (graph, found) = match result {
            Ok((graph, found)) if !found.has_errors() => (graph, found),
            Ok((_, found)) | Err(found) => return Err(refused(Findings::new(sources, found))),
        };
        let before = backing.before(to, &settings);
        let stored = backing.stored(&graph, &settings);
        let stats = Stats::new(&graph, &*stored);
        let written = writeln!(out, "{}", json!({ "stats": stats.to_json(before.as_ref()) }));
        written.map_err(|error| Refusal::io("the output", error))?;
        Ok(Findings::new(sources, found))
    }
}

fn refused(findings: Findings) -> Refusal {
    Refusal::Found(Box::new(findings))
}

/// The graph with the findings, unless it is refused.
fn accepted(Flat { backing, result }: Flat) -> Result<(Graph, Findings), Refusal> {
    let findings = |found: Diagnostics| Findings::new(backing.sources().clone(), found);
    match result {
        Ok((graph, found)) if !found.has_errors() => Ok((graph, findings(found))),
        Ok((_, found)) | Err(found) => Err(refused(findings(found))),
    }
}
