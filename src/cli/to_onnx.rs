//! Flat graphs of NNEF as models of ONNX, on the command line.

use std::rc::Rc;

use bytes::Bytes;

use crate::Graph;
use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::onnx::Document;
use crate::onnx::from_nnef::{self, Element, Weight, Weights};
use crate::tensor::DType;
use crate::write::{Notation, OnnxForm, Writer};

use super::args::Language;
use super::io::Unread;
use super::models::{self, Origin};

/// What a graph needs to become a model of ONNX.
pub(crate) struct ToOnnx {
    form: OnnxForm,
    data: Option<Rc<Model>>,
    strict: bool,
}

impl ToOnnx {
    /// None unless the notation is one of ONNX. The data are those of the graph's variables.
    pub(crate) fn new(to: &Notation, language: &Language, data: Option<Rc<Model>>) -> Option<Self> {
        let Writer::Onnx(form) = to.writer else { return None };
        Some(ToOnnx { form, data, strict: language.strict })
    }

    /// The same with the data of the graph's input.
    pub(crate) fn of_input(
        to: &Notation,
        language: &Language,
        source: Option<(&Origin, &Graph)>,
    ) -> Result<Option<Self>, Unread> {
        let source = source.filter(|_| matches!(to.writer, Writer::Onnx(_)));
        let data = source.map(|(origin, graph)| models::data(origin, &[graph], &language.limits)).transpose()?;
        Ok(Self::new(to, language, data.flatten()))
    }

    /// The bytes of the model, with warnings.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) fn encode(&self, graph: &Graph) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
        let document = from_nnef::document(graph, &Data(self.data.as_deref()), self.strict)?;
        encode(&document, self.form, self.strict)
    }
}

/// The bytes of a model in a form, with warnings.
///
/// # Errors
///
/// What the form cannot say.
pub(super) fn encode(document: &Document, form: OnnxForm, strict: bool) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
    match form {
        OnnxForm::Protobuf => Ok((document.to_protobuf(), Diagnostics::new(strict))),
        OnnxForm::Text => document.to_text(strict).map(|(text, warnings)| (text.into_bytes(), warnings)),
    }
}

/// The data of a model's variables, if there is a model.
struct Data<'m>(Option<&'m Model>);

impl Weights for Data<'_> {
    fn load(&self, label: &str, shape: &[usize], of: Option<Element>) -> Result<Option<Weight>, String> {
        let Some(model) = self.0 else { return Ok(None) };
        let of = of.map(|of| match of {
            Element::Float => DType::Float64,
            Element::Int => DType::Int64,
            Element::Bool => DType::Bool,
        });
        let raw = model.data().raw(label, shape, of).map_err(|error| error.to_string())?;
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
