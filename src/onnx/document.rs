//! A model or a part of one, read from a file: the interface for the command and other programs.

use bytes::Bytes;

use super::check;
use super::inline;
use super::model::{Model, ModelNames};
use super::places::Places;
use super::protobuf::{self, Part, WireError};
use super::provenance;
use super::text::{self, Parsed, Production};
use super::view;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, Location, Sources, Span};
use crate::{Graph, Lower, Options};

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
    pub(crate) parsed: Parsed,
    pub(crate) file: FileId,
    places: Places,
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

    /// Reads a text of these sources.
    pub(crate) fn parse_part(
        sources: &Sources,
        file: FileId,
        production: Production,
        options: &Options,
    ) -> (Option<Document>, Diagnostics) {
        let (parsed, diagnostics) = text::parse(file, sources.file(file).text(), production, options.strict);
        (parsed.map(|parsed| Document { parsed, file, places: Places::Text }), diagnostics)
    }

    /// Reads a model from protobuf. Messages refer to the file by `name`. Returns a document if there are no
    /// errors.
    pub fn decode(
        name: &str,
        bytes: Vec<u8>,
        sources: &mut Sources,
        options: &Options,
    ) -> (Option<Document>, Diagnostics) {
        // A binary file has no lines to show.
        let file = sources.add_binary(name);
        let mut diagnostics = Diagnostics::new(options.strict);
        let bytes = Bytes::from(bytes);
        match protobuf::decode(&bytes) {
            Ok(model) => {
                let parsed = Parsed::Model(Box::new(model));
                (Some(Document { parsed, file, places: Places::Fields(bytes) }), diagnostics)
            }
            Err(WireError { message, at }) => {
                let message = format!("{message}, at byte {at}");
                diagnostics.report(Diagnostic::new(Code::OnnxProtobuf, Self::nowhere(file), message));
                (None, diagnostics)
            }
        }
    }

    /// A model that was created from a file in another notation.
    pub(crate) fn made(model: Model, file: FileId) -> Document {
        Document { parsed: Parsed::Model(Box::new(model)), file, places: Places::Fields(Bytes::new()) }
    }

    /// The location of findings without a location: a protobuf file has no lines.
    pub(crate) fn nowhere(file: FileId) -> Location {
        Location::new(file, Span::default())
    }

    /// The model; none for a part of a model.
    pub(crate) fn model(&mut self) -> Option<&mut Model> {
        match &mut self.parsed {
            Parsed::Model(model) => Some(model),
            _ => None,
        }
    }

    /// The document, with its names.
    fn part(&self) -> (&ModelNames, Part<'_>) {
        match &self.parsed {
            Parsed::Model(model) => (&model.names, Part::Model(model)),
            Parsed::Graph(graph, names) => (names, Part::Graph(graph)),
            Parsed::Function(function, names) => (names, Part::Function(function)),
            Parsed::Node(node, names) => (names, Part::Node(node)),
        }
    }

    /// Checks a model. A part of a model is not checked.
    pub fn check(&self, options: &Options) -> Diagnostics {
        match &self.parsed {
            Parsed::Model(model) => check::check(model, self.file, &self.places, options),
            _ => Diagnostics::new(options.strict),
        }
    }

    /// The model as a graph, for pictures, JSON and statistics; none for a part of a model.
    pub fn graph(&self, options: &Options) -> Option<Graph> {
        match &self.parsed {
            Parsed::Model(model) => Some(view::graph(model, self.file, options)),
            _ => None,
        }
    }

    /// Expands the function calls that the options select, and known control flow. A part of a model is not
    /// changed. Returns warnings.
    ///
    /// # Errors
    ///
    /// The model is broken: values without a definition, operands or attributes that do not fit the function. Functions or
    /// loops cannot be expanded, there are more nodes than the options allow, or constants whose data are outside the
    /// folder of the model.
    pub fn flatten(&mut self, options: &Options) -> Result<Diagnostics, Diagnostics> {
        let (file, (names, part)) = (self.file, self.part());
        check::external_data(names, part, file, &self.places, options)?;
        let Parsed::Model(model) = &mut self.parsed else { return Ok(Diagnostics::new(options.strict)) };
        let mut found = check::structure(model, file, &self.places, options)?;
        if options.lower != Lower::None {
            found.extend(inline::expand(model, file, &self.places, options)?);
        }
        Ok(found)
    }

    /// Adds metadata to each node that [`Self::flatten`] copied: the functions that it comes from, the outermost
    /// call first, such as `layer/attention` in `nnef_flatten.calls`.
    pub fn note_origins(&mut self) {
        if let Some(model) = self.model() {
            provenance::annotate(model);
        }
    }

    /// Encodes the document as protobuf.
    pub fn to_protobuf(&self) -> Vec<u8> {
        let (names, part) = self.part();
        protobuf::encode(names, part)
    }

    /// The text, and warnings about omitted parts.
    ///
    /// # Errors
    ///
    /// Parts that the text notation cannot express, each once.
    pub fn to_text(&self, strict: bool) -> Result<(String, Diagnostics), Diagnostics> {
        let (names, part) = self.part();
        let (text, lost) = text::print(names, part);
        let mut diagnostics = Diagnostics::new(strict);
        let at = Self::nowhere(self.file);
        for what in lost.wrong {
            let message = format!("the text notation of ONNX cannot say {what}");
            diagnostics.report(Diagnostic::new(Code::OnnxNoText, at, message).help("write protobuf: --to onnx"));
        }
        if lost.left_out > 0 {
            let count = lost.left_out;
            let message = format!("documentation, metadata or other fields of {count} parts have no place in the text");
            diagnostics.report(Diagnostic::new(Code::OnnxLeftOut, at, message));
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok((text, diagnostics)) }
    }
}
