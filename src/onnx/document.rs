//! A model or a part of one, read from a file: the interface for the command and other programs.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use bytes::Bytes;

use super::assignment::assigned_twice;
use super::check;
use super::contents::Contents;
use super::edit;
use super::external::{self, Folder};
use super::from_nnef::{self, TranslatedData};
use super::inline;
use super::model::{ModelNames, ModelProto};
use super::places::{PlacedModel, Places};
use super::protobuf::{self, Decoded, EncodedPart, WireError};
use super::provenance;
use super::run::{Computing, Stores};
use super::text::{self, ModelText, ParsedText, Production};
use super::to_nnef::{self, NnefVariables};
use super::view::{self, ModelConstants, ViewTypes};
use super::walk::each_node_of_model;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, memory_text};
use crate::eval::{Limits, Quantizations};
use crate::live::Held;
use crate::onnx::functions::Functions;
use crate::parts::{KERNELS, TRANSLATION};
use crate::sink::ByteSink;
use crate::source::{FileId, Location, Sources, Span};
use crate::tensor::Tensor;
use crate::{Graph, Lower, Options};

/// A file with external data of a model.
pub(crate) struct ExternalFile {
    /// The location as the model has it.
    pub(crate) location: String,
    /// Its path relative to the folder of the model.
    pub(crate) path: PathBuf,
    /// The file; none if the folder of the model is not known.
    pub(crate) source: Option<PathBuf>,
}

/// A model, or a part of a model in a separate text.
///
/// ```
/// use nnef_flatten::Options;
/// use nnef_flatten::onnx::Document;
/// use nnef_flatten::source::Sources;
///
/// let text = r#"<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
/// g (float[2] x) => (float[2] y) { y = local.twice (x) }
/// <domain: "local", opset_import: ["" : 21]> twice (a) => (b) { b = Add (a, a) }"#;
/// let (mut sources, options) = (Sources::new(), Options::default());
/// let (document, _) = Document::parse("twice.onnxtxt", text, &mut sources, &options);
/// let mut document = document.unwrap();
/// assert!(document.check(&options).is_empty());
/// document.flatten(&options)?;
/// assert!(document.to_text(false)?.0.contains("y = Add (x, x)"));
/// # Ok::<(), nnef_flatten::Diagnostics>(())
/// ```
#[derive(Debug)]
pub struct Document {
    pub(crate) parsed: ParsedText,
    pub(crate) file: FileId,
    /// How messages describe places in it.
    pub(super) places: Places,
    /// The folder of external data, if it is known.
    pub(super) folder: Option<PathBuf>,
    /// Whether the model passed the checks of its structure: then writers rely on it.
    sound: bool,
    /// The memory of its nodes once they are expanded, and that of constants that were computed.
    held: [Held; 2],
}

impl Document {
    /// Reads a model in the text notation. Messages refer to the text by `name`; it is added to `sources`.
    /// Returns a document if there are no errors.
    pub fn parse(
        name: &str,
        text: impl Into<String>,
        sources: &mut Sources,
        options: &Options,
    ) -> (Option<Document>, Diagnostics) {
        let file = sources.add(name, text.into());
        Self::parse_part(sources, file, Production::Model, options)
    }

    /// A document that was read, and is not yet checked.
    fn read(parsed: ParsedText, file: FileId, places: Places) -> Document {
        Document { parsed, file, places, folder: None, sound: false, held: Default::default() }
    }

    /// Reads a text of these sources.
    pub(crate) fn parse_part(
        sources: &Sources,
        file: FileId,
        production: Production,
        options: &Options,
    ) -> (Option<Document>, Diagnostics) {
        let (parsed, diagnostics) = text::parse(file, sources.file(file).text(), production, options.policy());
        (parsed.map(|parsed| Document::read(parsed, file, Places::Text)), diagnostics)
    }

    /// Reads a model of these sources, with the places of all names in its text.
    #[cfg(feature = "lsp")]
    pub(crate) fn parse_marked(
        sources: &Sources,
        file: FileId,
        options: &Options,
    ) -> (Option<Document>, Diagnostics, text::TextMarks) {
        let text = sources.file(file).text();
        let (parsed, diagnostics, marks) = text::parse_marked(file, text, options.strict);
        (parsed.map(|parsed| Document::read(parsed, file, Places::Text)), diagnostics, marks)
    }

    /// Reads a model from protobuf. Messages refer to the file by `name`. Returns a document if there are no
    /// errors.
    pub fn decode(
        name: &str,
        bytes: Vec<u8>,
        sources: &mut Sources,
        options: &Options,
    ) -> (Option<Document>, Diagnostics) {
        Self::decode_contents(name, Contents::from(Bytes::from(bytes)), sources, options)
    }

    /// [`Self::decode`] for the contents of a file, whose constants may stay there.
    pub(crate) fn decode_contents(
        name: &str,
        contents: Contents,
        sources: &mut Sources,
        options: &Options,
    ) -> (Option<Document>, Diagnostics) {
        // A binary file has no lines to show.
        let file = sources.add_binary(name);
        let mut diagnostics = Diagnostics::of(options.policy());
        match protobuf::decode(&contents) {
            Ok(Decoded { model, not_utf8 }) => {
                if let Some(text) = not_utf8 {
                    let shown = String::from_utf8_lossy(&protobuf::texts::encode(&text)).into_owned();
                    let message = format!("the text `{shown}` is not UTF-8; its bytes are kept");
                    diagnostics.report(Diagnostic::new(Code::OnnxNotUtf8, Self::nowhere(file), message));
                }
                let parsed = ParsedText::Model(Box::new(model));
                (Some(Document::read(parsed, file, Places::Fields(contents))), diagnostics)
            }
            Err(error) => {
                let WireError { message, at } = *error;
                let message = format!("{message}, at byte {at}");
                diagnostics.report(Diagnostic::new(Code::OnnxProtobuf, Self::nowhere(file), message));
                (None, diagnostics)
            }
        }
    }

    /// Translates a flat graph of NNEF 1.0 to a model. `data` has the items of the variable with a label and a shape;
    /// none if there are no data for it.
    ///
    /// ```
    /// use nnef_flatten::onnx::Document;
    /// use nnef_flatten::{Options, expand, parse};
    ///
    /// let text = "
    ///     version 1.0;
    ///     graph G( x ) -> ( y )
    ///     {
    ///         x = external(shape = [2]);
    ///         w = variable(shape = [2], label = 'w');
    ///         y = mul(x, w);
    ///     }
    /// ";
    /// let options = Options::default();
    /// let parsed = parse("example", text.to_string(), &options);
    /// let graph = expand(&parsed.document, &options)?.graph;
    /// let model = Document::of_graph(&graph, &|_, shape| Some(vec![0.5; shape[0]]), &options)?;
    /// assert!(model.to_text(false)?.0.contains("y = Mul (x, w)"));
    /// # Ok::<(), nnef_flatten::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    ///
    /// ONNX cannot express an operation, something is not known that it needs, data are missing, or the model takes
    /// more memory than the options allow.
    #[expect(clippy::type_complexity, reason = "a function from a label and a shape to items")]
    pub fn of_graph(
        graph: &Graph,
        data: &dyn Fn(&str, &[usize]) -> Option<Vec<f32>>,
        options: &Options,
    ) -> Result<Document, Diagnostics> {
        let data = TranslatedData { weights: &from_nnef::Items(data), quantizations: &Quantizations::default() };
        Self::translated(graph, data, options.strict, options.max_memory)
    }

    /// Translates a flat graph, with the data of its variables and the quantizations of its tensors.
    ///
    /// # Errors
    ///
    /// Those of [`Document::of_graph`].
    pub(crate) fn translated(
        graph: &Graph,
        data: TranslatedData,
        strict: bool,
        max_memory: u64,
    ) -> Result<Document, Diagnostics> {
        let at = graph.operations.first().map(|operation| operation.at).unwrap_or_default();
        if let Some(part) = TRANSLATION.missing() {
            return Err(part.at(at));
        }
        Ok(Document::made(from_nnef::convert(graph, data, strict, max_memory)?, at.file))
    }

    /// A model that was created from a file in another notation.
    pub(crate) fn made(model: ModelProto, file: FileId) -> Document {
        Document {
            parsed: ParsedText::Model(Box::new(model)),
            file,
            places: Places::Fields(Contents::from(Bytes::new())),
            folder: None,
            sound: true,
            held: Default::default(),
        }
    }

    /// Sets the folder of the model, where the files of its external data are. Without it, they are not looked at.
    pub fn set_folder(&mut self, folder: impl Into<PathBuf>) {
        self.folder = Some(folder.into());
    }

    /// The locations of external data with their paths relative to the folder of the model, and with their files if
    /// they are there. Each location once.
    pub(crate) fn external_files(&self) -> Vec<ExternalFile> {
        let (names, part) = self.part();
        let stored = external::stored(names, part);
        let mut folder = self.folder.as_deref().and_then(Folder::new);
        let file = |location: &str| ExternalFile {
            location: location.to_owned(),
            path: external::path_of(location),
            source: folder.as_mut().and_then(|folder| folder.file(location)),
        };
        external::locations(&stored).into_iter().map(file).collect()
    }

    /// The location of findings without a location: a protobuf file has no lines.
    pub(crate) fn nowhere(file: FileId) -> Location {
        Location::new(file, Span::default())
    }

    /// The same document once more.
    pub(crate) fn copy(&self) -> Document {
        let Document { parsed, file, places, folder, sound, held } = self;
        let (parsed, places, folder) = (parsed.clone(), places.clone(), folder.clone());
        Document { parsed, file: *file, places, folder, sound: *sound, held: held.clone() }
    }

    /// The model; none for a part of a model.
    pub(crate) fn model(&mut self) -> Option<&mut ModelProto> {
        match &mut self.parsed {
            ParsedText::Model(model) => Some(model),
            _ => None,
        }
    }

    /// The model, to be read; none for a part of a model.
    #[cfg(feature = "lsp")]
    pub(crate) fn as_model(&self) -> Option<&ModelProto> {
        match &self.parsed {
            ParsedText::Model(model) => Some(model),
            _ => None,
        }
    }

    /// The names of the operators of a model, those of inner graphs and of functions included, each once.
    #[cfg(feature = "input")]
    pub(crate) fn operators(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let ParsedText::Model(model) = &self.parsed else { return found };
        each_node_of_model(model, &mut |node| {
            let (_, operator) = model.names.operator(node);
            if !found.contains(operator) {
                found.insert(operator.to_owned());
            }
        });
        found
    }

    /// The document, with its names, to be written.
    fn written(&self) -> (&ModelNames, EncodedPart<'_>) {
        if let (true, ParsedText::Model(model)) = (self.sound, &self.parsed) {
            debug_assert_eq!(assigned_twice(model), None, "a name has two values");
        }
        self.part()
    }

    /// The document, with its names.
    fn part(&self) -> (&ModelNames, EncodedPart<'_>) {
        match &self.parsed {
            ParsedText::Model(model) => (&model.names, EncodedPart::Model(model)),
            ParsedText::Graph(graph, names) => (names, EncodedPart::Graph(graph)),
            ParsedText::Function(function, names) => (names, EncodedPart::Function(function)),
            ParsedText::Node(node, names) => (names, EncodedPart::Node(node)),
        }
    }

    /// Checks a model, and the external data of a model or of a part of one. Other parts of models are not checked.
    pub fn check(&self, options: &Options) -> Diagnostics {
        let mut found = self.check_parts(options);
        if !found.has_errors() {
            self.check_shapes(options, &mut found);
        }
        if let Err(errors) = self.check_external_data(options) {
            found.extend(errors);
        }
        found
    }

    /// [`Document::check`] without shapes and external data.
    pub(crate) fn check_parts(&self, options: &Options) -> Diagnostics {
        match &self.parsed {
            ParsedText::Model(model) => check::check(model, self.file, &self.places, options),
            _ => Diagnostics::of(options.policy()),
        }
    }

    /// Reports shapes that do not go together in a model whose parts are sound, with the shapes and symbols that the options
    /// give. What the options give wrongly is told when the model is expanded.
    pub(crate) fn check_shapes(&self, options: &Options, found: &mut Diagnostics) {
        let ParsedText::Model(model) = &self.parsed else { return };
        let placed = PlacedModel { file: self.file, places: &self.places };
        if options.shapes.inputs.is_empty() && options.shapes.symbols.is_empty() {
            return check::shapes(model, placed, options, found);
        }
        // The model is there twice meanwhile.
        let _held = Held::of(edit::memory(model));
        let mut given = model.clone();
        if edit::set_shapes(&mut given, options, Self::nowhere(self.file)).is_ok() {
            check::shapes(&given, placed, options, found);
        }
    }

    pub(crate) fn check_external_data(&self, options: &Options) -> Result<(), Diagnostics> {
        let (names, part) = self.part();
        check::external_data(names, part, self.file, &self.places, self.folder.as_deref(), options)
    }

    /// The model as a graph, for pictures, JSON and statistics; none for a part of a model, or if model and graph take
    /// more memory than the options allow.
    pub fn graph(&self, options: &Options) -> Option<Graph> {
        self.view(ViewTypes::Inferred, options).ok()?
    }

    /// The model as a graph; none for a part of a model.
    ///
    /// # Errors
    ///
    /// Model and graph take more memory than the options allow.
    pub(crate) fn view(&self, types: ViewTypes, options: &Options) -> Result<Option<Graph>, Box<Diagnostic>> {
        Ok(self.view_with_constants(types, options)?.map(|(graph, _)| graph))
    }

    /// The number of operations of the graph, and the place of the first one.
    pub(crate) fn operations(&self) -> (usize, Location) {
        let ParsedText::Model(model) = &self.parsed else { return (0, Self::nowhere(self.file)) };
        let first =
            model.graph.as_ref().filter(|graph| graph.initializers.iter().all(|constant| constant.name.is_none()));
        let at = first.and_then(|graph| graph.nodes.first()).map_or(0, |node| node.at);
        (view::operations(model), Location::new(self.file, Span::new(at, at)))
    }

    /// [`Self::view`], with the constants behind operations if they are wanted.
    pub(crate) fn view_with_constants(
        &self,
        types: ViewTypes,
        options: &Options,
    ) -> Result<Option<(Graph, ModelConstants)>, Box<Diagnostic>> {
        match &self.parsed {
            ParsedText::Model(model) => {
                let (graph, mut constants) = view::graph(model, self.file, types, options)?;
                constants.set_folder(self.folder.as_deref());
                Ok(Some((graph, constants)))
            }
            _ => Ok(None),
        }
    }

    /// Writes the shapes and the values of symbols in the options into the types of the model, and expands the function
    /// calls that the options select, and known control flow. A part of a model is not changed. Returns warnings.
    ///
    /// # Errors
    ///
    /// The model is broken: values without a definition, operands or attributes that do not fit the function. Functions or
    /// loops cannot be expanded, there are more nodes than the options allow, or external data are outside the folder of
    /// the model or not there.
    pub fn flatten(&mut self, options: &Options) -> Result<Diagnostics, Diagnostics> {
        self.flatten_within(options, Limits::of(options))
    }

    /// [`Self::flatten`], with the limits on what is computed to know control flow.
    ///
    /// # Errors
    ///
    /// Those of [`Self::flatten`].
    pub(crate) fn flatten_within(&mut self, options: &Options, limits: Limits) -> Result<Diagnostics, Diagnostics> {
        let stores = Stores::new(self.folder.as_deref());
        let limits = limits.folding(self.stored_bytes());
        let decides = options.unroll && KERNELS.missing().is_none();
        self.expanded(options, |model, functions, places| {
            let found = match options.lower {
                Lower::None => Diagnostics::of(options.policy()),
                _ if decides => {
                    return edit::unroll(model, functions, places, Computing { stores: &stores, limits }, options);
                }
                _ => inline::expand(model, functions, places, options)?,
            };
            edit::cut(model, Self::nowhere(places.file), options)?;
            Ok(found)
        })
    }

    /// Adds metadata to each node that [`Self::flatten`] copied: the functions that it comes from, the outermost
    /// call first, such as `layer/attention` in `nnef_flatten.calls`.
    pub fn note_origins(&mut self) {
        if let Some(model) = self.model() {
            provenance::annotate(model, u64::MAX);
        }
    }

    /// Makes inputs of the graph constants, with values that are converted to the declared element types.
    ///
    /// # Errors
    ///
    /// There is no such input, or a value does not fit it.
    pub fn bind(&mut self, values: &[(String, Tensor)]) -> Result<(), Diagnostics> {
        let at = Self::nowhere(self.file);
        self.model().map_or(Ok(()), |model| {
            edit::bind(model, values, at)?;
            edit::raise(model);
            Ok(())
        })
    }

    /// [`Self::flatten`], and computes what is known before the model runs: operations on constants and on known
    /// extents. Conditions and trip counts that become known expand control flow. What no output needs is removed.
    ///
    /// # Errors
    ///
    /// Those of [`Self::flatten`].
    pub fn fold(&mut self, options: &Options, limits: Limits) -> Result<Diagnostics, Diagnostics> {
        if let Some(part) = KERNELS.missing() {
            return Err(part.at(Self::nowhere(self.file)));
        }
        let stores = Stores::new(self.folder.as_deref());
        let limits = limits.folding(self.stored_bytes());
        let mut constants = Held::default();
        let found = self.expanded(options, |model, functions, places| {
            let (found, held) = edit::fold(model, functions, places, Computing { stores: &stores, limits }, options)?;
            constants = held;
            Ok(found)
        });
        self.held[1] = constants;
        found
    }

    /// [`Self::fold`], and removes and joins what changes no result, by the rules that are used: names of inputs and
    /// outputs, and of what stays, are kept. Returns how often each rule was applied, with warnings.
    ///
    /// # Errors
    ///
    /// Those of [`Self::flatten`].
    pub(crate) fn simplify(
        &mut self,
        options: &Options,
        limits: Limits,
        rules: edit::UsedRules,
    ) -> Result<(Diagnostics, edit::RuleCounts), Diagnostics> {
        if let Some(part) = KERNELS.missing() {
            return Err(part.at(Self::nowhere(self.file)));
        }
        let stores = Stores::new(self.folder.as_deref());
        let limits = limits.folding(self.stored_bytes());
        let (mut constants, mut counts) = (Held::default(), edit::RuleCounts::default());
        let found = self.expanded(options, |model, functions, places| {
            let computing = Computing { stores: &stores, limits };
            let (found, held, applied) = edit::simplify(model, functions, places, computing, rules, options)?;
            (constants, counts) = (held, applied);
            Ok(found)
        });
        self.held[1] = constants;
        Ok((found?, counts))
    }

    /// Tells passes to keep values, with what computes them.
    pub(crate) fn keep_values(&mut self, names: &[String]) {
        if let ParsedText::Model(model) = &mut self.parsed {
            model.kept = names.to_vec();
        }
    }

    /// Checks that the values that passes were told to keep are there.
    ///
    /// # Errors
    ///
    /// A name is not that of a value of the graph.
    pub(crate) fn check_kept(&self) -> Result<(), Diagnostics> {
        let ParsedText::Model(model) = &self.parsed else { return Ok(()) };
        if model.kept.is_empty() { Ok(()) } else { edit::has_kept(model, Self::nowhere(self.file)) }
    }

    /// Merges arithmetic with constants into weights by the rules that are used, which changes rounding. Returns how often
    /// each rule was applied.
    pub(crate) fn merge(&mut self, options: &Options, rules: edit::UsedRules) -> edit::RuleCounts {
        let ParsedText::Model(model) = &mut self.parsed else { return edit::RuleCounts::default() };
        let counts = edit::merge(model, rules, options);
        self.held[0].set(edit::memory(model));
        counts
    }

    /// Writes a model for another version of the standard operator set.
    ///
    /// # Errors
    ///
    /// All nodes that the other version cannot express.
    pub(crate) fn convert_opset(&mut self, options: &Options, version: i64) -> Result<(), Diagnostics> {
        let ParsedText::Model(model) = &mut self.parsed else { return Ok(()) };
        edit::convert_opset(model, version, options).map_err(|refused| {
            let mut found = Diagnostics::of(options.policy());
            refused.into_iter().for_each(|refused| refused.report(self.file, &self.places, &mut found));
            found
        })?;
        self.held[0].set(edit::memory(model));
        Ok(())
    }

    /// Translates a model to a flat graph of NNEF, with the data of its variables. The model is expanded and folded for
    /// that, since shapes and everything that is computed from them are constants in NNEF. Returns warnings with the
    /// graph.
    ///
    /// # Errors
    ///
    /// Those of [`Self::fold`]. Operators have no counterpart in NNEF, or extents of inputs are not known.
    pub(crate) fn translate(
        &mut self,
        options: &Options,
        limits: Limits,
    ) -> Result<(Graph, NnefVariables, Diagnostics), Diagnostics> {
        if let Some(part) = TRANSLATION.missing() {
            return Err(part.at(Self::nowhere(self.file)));
        }
        let limits = limits.folding(self.stored_bytes());
        let mut found = self.fold(&to_nnef::expanding(options), limits)?;
        let ParsedText::Model(model) = &mut self.parsed else {
            let message = "a part of a model has no graph of NNEF";
            found.report(Diagnostic::new(Code::OnnxModel, Self::nowhere(self.file), message));
            return Err(found);
        };
        self.held[0].set(0);
        // What is misspelt tells why there is no rule for it.
        to_nnef::lower_compounds(model, options).map_err(|refused| {
            let mut found = found.clone();
            refused.into_iter().for_each(|refused| refused.report(self.file, &self.places, &mut found));
            found
        })?;
        self.held[0].set(edit::memory(model));
        let stores = Stores::new(self.folder.as_deref());
        let places = PlacedModel { file: self.file, places: &self.places };
        match to_nnef::convert(model, places, Computing { stores: &stores, limits }, options) {
            Ok((graph, variables, warnings)) => {
                found.extend(warnings);
                Ok((graph, variables, found))
            }
            Err(refused) => {
                found.extend(refused);
                Err(found)
            }
        }
    }

    /// Checks a model, gives it the shapes of the options, and expands it by a function.
    fn expanded(
        &mut self,
        options: &Options,
        expand: impl FnOnce(&mut ModelProto, Functions, PlacedModel) -> Result<Diagnostics, Diagnostics>,
    ) -> Result<Diagnostics, Diagnostics> {
        self.check_external_data(options)?;
        // Until then the nodes count where they are expanded.
        self.held[0].set(0);
        let file = self.file;
        let ParsedText::Model(model) = &mut self.parsed else { return Ok(Diagnostics::of(options.policy())) };
        let (mut found, functions) = check::structure(model, file, &self.places, options)?;
        self.sound = !found.has_errors();
        let declared = edit::declared(model);
        edit::set_shapes(model, options, Self::nowhere(file))?;
        found.extend(expand(model, functions, PlacedModel { file, places: &self.places })?);
        edit::raise(model);
        edit::declare_items(model, options);
        let misfits = edit::misfits(model);
        if !misfits.is_empty() && !options.internal.translates {
            edit::declare(model, &declared);
        }
        misfits.into_iter().for_each(|misfit| misfit.report(file, &self.places, &mut found));
        self.held[0].set(edit::memory(model));
        Ok(found)
    }

    /// Writes the shapes and the values of symbols in the options into the types of a model.
    ///
    /// # Errors
    ///
    /// They do not fit the model.
    pub(crate) fn set_shapes(&mut self, options: &Options) -> Result<(), Diagnostics> {
        let at = Self::nowhere(self.file);
        self.model().map_or(Ok(()), |model| edit::set_shapes(model, options, at))
    }

    /// Merges equal nodes and equal constants: of several with the same operands and attributes, the first one stays.
    /// Returns how many were merged. Outputs of graphs keep their names.
    pub fn share(&mut self) -> u64 {
        self.model().map_or(0, edit::share)
    }

    /// Makes functions of the repeated structure of the graph. Returns their number.
    pub(crate) fn outline(&mut self) -> usize {
        self.model().map_or(0, edit::outline)
    }

    /// Writes the types and shapes that follow from the operators into the graph of the model, and into the graphs of its
    /// nodes: those of all results of nodes, as far as they are known. Extents may be expressions on the symbols of the
    /// model, as in `2*N+1`. What the model declares stays.
    ///
    /// ```
    /// use nnef_flatten::Options;
    /// use nnef_flatten::onnx::Document;
    /// use nnef_flatten::source::Sources;
    ///
    /// let text = r#"<ir_version: 10, opset_import: ["" : 21]>
    /// g (float[N, 3] x) => (float[M] y) { t = Concat <axis = 0> (x, x) y = ReduceSum <keepdims = 0> (t, axis) }"#;
    /// let text = text.replace("=> (float[M] y)", "=> (float[M] y) <int64[1] axis = {1}>");
    /// let (document, _) = Document::parse("m", text, &mut Sources::new(), &Options::default());
    /// let mut document = document.unwrap();
    /// document.annotate(&Options::default());
    /// assert!(document.to_text(false)?.0.contains(r#"float["2*N", 3] t"#));
    /// # Ok::<(), nnef_flatten::Diagnostics>(())
    /// ```
    pub fn annotate(&mut self, options: &Options) {
        if let Some(model) = self.model() {
            edit::annotate(model, options);
        }
    }

    /// [`Self::note_origins`] within limits.
    ///
    /// # Errors
    ///
    /// Model and metadata take more memory than the options allow.
    pub(crate) fn note_origins_within(&mut self, options: &Options) -> Result<(), Box<Diagnostic>> {
        if self.model().is_some_and(|model| !provenance::annotate(model, options.max_memory)) {
            let limit = memory_text(options.max_memory);
            let message = format!("the nodes with their metadata take more than {limit}");
            let found = Diagnostic::new(Code::MemoryBudget, Self::nowhere(self.file), message);
            return Err(Box::new(found.help("raise the limit with --max-memory")));
        }
        Ok(())
    }

    /// Encodes the document as protobuf. A document that is too long for protobuf, whose messages have at most four
    /// gigabytes, has no bytes.
    pub fn to_protobuf(&self) -> Vec<u8> {
        let (names, part) = self.written();
        protobuf::encode(names, part).unwrap_or_default()
    }

    /// Writes the document as protobuf, without having its bytes in memory.
    pub(crate) fn write_protobuf(&self, out: &mut dyn ByteSink) -> io::Result<()> {
        let (names, part) = self.written();
        protobuf::write(names, part, out)?;
        self.unchanged()
    }

    /// Fails if the file of the model, from which constants are read, has changed since it was opened, or a part of it
    /// could not be read. Then constants seem to have no elements.
    pub(crate) fn unchanged(&self) -> io::Result<()> {
        match &self.places {
            Places::Fields(contents) => contents.unchanged(),
            Places::Text => Ok(()),
        }
    }

    /// The diagnostic for a file that has changed, see [`Self::unchanged`].
    pub(crate) fn changed(&self) -> Option<Diagnostic> {
        let error = self.unchanged().err()?;
        Some(Diagnostic::new(Code::OnnxChanged, Self::nowhere(self.file), error.to_string()))
    }

    /// The text, and warnings about omitted parts.
    ///
    /// # Errors
    ///
    /// Parts that the text notation cannot express, each once.
    pub fn to_text(&self, strict: bool) -> Result<(String, Diagnostics), Diagnostics> {
        let (text, mut found) = self.text(strict)?;
        match text.into_bytes().map(String::from_utf8) {
            Ok(Ok(text)) => Ok((text, found)),
            failed => {
                let message = failed.err().map_or_else(String::new, |error| error.to_string());
                found.report(Diagnostic::new(Code::OnnxChanged, Self::nowhere(self.file), message));
                Err(found)
            }
        }
    }

    /// The text, whose long constants are read when it is written, and warnings about omitted parts.
    ///
    /// # Errors
    ///
    /// Those of [`Self::to_text`].
    pub(crate) fn text(&self, strict: bool) -> Result<(ModelText, Diagnostics), Diagnostics> {
        let (names, part) = self.written();
        let (text, lost) = text::print(names, part);
        let mut diagnostics = Diagnostics::new(strict);
        if let Some(changed) = self.changed() {
            diagnostics.report(changed);
            return Err(diagnostics);
        }
        let at = Self::nowhere(self.file);
        for what in lost.wrong {
            let message = format!("the text notation of ONNX cannot express {what}");
            diagnostics.report(Diagnostic::new(Code::OnnxNoText, at, message).help("write protobuf: --to onnx"));
        }
        if lost.left_out > 0 {
            let count = lost.left_out;
            let parts = if count == 1 { "part" } else { "parts" };
            let message =
                format!("documentation, metadata or other fields of {count} {parts} are omitted from the text");
            diagnostics.report(Diagnostic::new(Code::OnnxLeftOut, at, message));
        }
        if lost.nan_bits > 0 {
            let message =
                format!("the bits of {} NaNs cannot be expressed in text; their signs are kept", lost.nan_bits);
            diagnostics.report(Diagnostic::new(Code::OnnxNanBits, at, message).help("write protobuf: --to onnx"));
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok((text, diagnostics)) }
    }
}
