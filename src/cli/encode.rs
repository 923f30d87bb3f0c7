//! Encoding of flat graphs with their data, on the command line: models of ONNX, and files of PNNX.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;

use crate::Graph;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::model::{Model, ModelVariables};
use crate::onnx::Document;
use crate::onnx::from_nnef::{self, Element, Weight, Weights};
use crate::pnnx::data::Archive;
use crate::pnnx::export;
use crate::source::Location;
use crate::tensor::DType;
use crate::write::{Notation, OnnxForm, Writer};

use super::args::Language;
use super::io::Unread;
use super::models::{self, Origin};

/// The extension of the data file of a PNNX file.
pub(super) const PNNX_DATA: &str = "bin";

/// Encodes a graph with its data: as a model of ONNX, or as the data file of a PNNX file.
pub(crate) struct Encode {
    writer: Writer,
    data: Option<Rc<Model>>,
    /// Whether the input has quantizations.
    quantized: bool,
    strict: bool,
    /// Whether data are written.
    with_data: bool,
}

impl Encode {
    /// An encoder with the data of the graph's variables; `None` for notations that can express every graph.
    pub(crate) fn new(
        to: &Notation,
        path: Option<&Path>,
        language: &Language,
        data: Option<Rc<Model>>,
    ) -> Option<Self> {
        matches!(to.writer, Writer::Onnx(_) | Writer::Pnnx(_)).then(|| Encode {
            writer: to.writer,
            data,
            quantized: false,
            strict: language.strict,
            with_data: has_data(to, path),
        })
    }

    /// An encoder with the data of the input from which the graph comes.
    pub(crate) fn of_input(
        to: &Notation,
        path: Option<&Path>,
        language: &Language,
        source: Option<(&Origin, &Graph)>,
    ) -> Result<Option<Self>, Unread> {
        let source = source.filter(|_| has_data(to, path));
        let data = source.map(|(origin, graph)| models::data(origin, &[graph], &language.limits)).transpose()?;
        let quantized = match (&data, source) {
            (Some(Some(model)), Some((origin, _))) if origin.is_model() => models::quant(model)?.is_some(),
            _ => false,
        };
        let encode = Self::new(to, path, language, data.flatten());
        Ok(encode.map(|encode| Encode { quantized, ..encode }))
    }

    /// The bytes of the model, or of the data beside a text, with warnings.
    ///
    /// # Errors
    ///
    /// The graph cannot be encoded.
    pub(crate) fn encode(&self, graph: &Graph) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
        let (bytes, mut found) = match self.writer {
            Writer::Onnx(form) => {
                let data = Data(self.data.as_deref().map(Model::data));
                let document = from_nnef::document(graph, &data, self.strict)?;
                encode(&document, form, self.strict)?
            }
            _ => {
                export::check(graph)?;
                if self.with_data { self.beside(graph)? } else { (Vec::new(), Diagnostics::new(self.strict)) }
            }
        };
        if self.quantized {
            let message = "the quantizations of `graph.quant` are left out: nothing is rounded";
            found.report(Diagnostic::new(Code::OnnxQuantized, first_place(graph), message));
        }
        if found.has_errors() { Err(found) } else { Ok((bytes, found)) }
    }

    /// The content of the data file of a PNNX file; empty if the graph has no data.
    fn beside(&self, graph: &Graph) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
        let data = match &self.data {
            Some(model) => export::data(graph, &model.data()),
            None => export::data(graph, &BTreeMap::new()),
        };
        let refused = |message: String, at: Location| {
            let mut diagnostics = Diagnostics::new(self.strict);
            let diagnostic = Diagnostic::new(Code::PnnxData, at, message);
            diagnostics.report(diagnostic.help("the text alone is written to standard output".to_owned()));
            diagnostics
        };
        let (archive, missing) = data.map_err(|error| refused(error.to_string(), first_place(graph)))?;
        match missing.first() {
            Some((name, at)) => {
                let message = format!("`{name}` has no data, one of {} such variables", missing.len());
                Err(refused(message, *at))
            }
            None => Ok((archive.map_or_else(Vec::new, Archive::into_bytes), Diagnostics::new(self.strict))),
        }
    }
}

/// The location of the first operation, for diagnostics about the whole graph.
fn first_place(graph: &Graph) -> Location {
    graph.operations.first().map(|operation| operation.at).unwrap_or_default()
}

/// Whether data are written: always for ONNX, and for PNNX if the output is a file.
fn has_data(to: &Notation, path: Option<&Path>) -> bool {
    matches!(to.writer, Writer::Onnx(_)) || matches!(to.writer, Writer::Pnnx(_)) && path.is_some()
}

/// The bytes of a model in a form, with warnings.
///
/// # Errors
///
/// The form cannot express the model.
pub(super) fn encode(document: &Document, form: OnnxForm, strict: bool) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
    match form {
        OnnxForm::Protobuf => Ok((document.to_protobuf(), Diagnostics::new(strict))),
        OnnxForm::Text => document.to_text(strict).map(|(text, warnings)| (text.into_bytes(), warnings)),
    }
}

/// The data of a model's variables, if there is a model. A compressed archive is decompressed once for all of them.
struct Data<'m>(Option<ModelVariables<'m>>);

impl Weights for Data<'_> {
    fn load(&self, label: &str, shape: &[usize], of: Option<Element>) -> Result<Option<Weight>, String> {
        let Some(variables) = &self.0 else { return Ok(None) };
        let of = of.map(|of| match of {
            Element::Float => DType::Float64,
            Element::Int => DType::Int64,
            Element::Bool => DType::Bool,
        });
        let raw = variables.raw(label, shape, of).map_err(|error| error.to_string())?;
        Ok(raw.map(|raw| Weight {
            dims: raw.shape.iter().map(|&extent| extent as i64).collect(),
            element: match raw.dtype {
                DType::Float32 | DType::Float64 => Element::Float,
                DType::Int32 | DType::Int64 => Element::Int,
                DType::Bool => Element::Bool,
            },
            bytes: Bytes::from(raw.bytes),
        }))
    }
}
