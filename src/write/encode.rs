//! Encoding of flat graphs with their data: models of ONNX, and files of PNNX.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::notation::{Notation, OnnxForm, Writer};
use crate::core::budget::Memory;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::{self, Evaluator, Quantizations, Variables};
use crate::graph::standard::{CONSTANT, VARIABLE};
use crate::graph::{TensorId, Value};
use crate::model::{Model, ModelVariables};
use crate::onnx;
use crate::onnx::Document;
use crate::onnx::from_nnef::{BlockWeight, NnefElement, TranslatedData, Weight, Weights};
#[cfg(feature = "kernels")]
use crate::picture::Summaries;
use crate::picture::{MAX_OPERATIONS, Picture};
use crate::pnnx::data::Archive;
use crate::pnnx::export;
use crate::progress::{self, Phase};
use crate::source::facts::Facts;
use crate::source::{Location, Sources};
use crate::tensor::dat::BLOCK;
use crate::tensor::{DType, Tensor, TensorError};
use crate::{Graph, Options};
use bytes::Bytes;

/// The data of the variables of a graph.
#[derive(Default)]
pub(crate) struct VariableData {
    /// The model with the data.
    pub(crate) model: Option<Arc<Model>>,
    /// The quantizations, if the input has any.
    pub(crate) quantizations: Option<Quantizations>,
    /// Warnings about them.
    pub(crate) found: Diagnostics,
}

impl VariableData {
    /// Data without quantizations.
    pub(crate) fn of(model: Option<Arc<Model>>) -> Self {
        VariableData { model, ..VariableData::default() }
    }
}

/// Encodes a graph with its data: as a model of ONNX, or as the data file of a PNNX file.
pub(crate) struct Encode {
    writer: Writer,
    data: Option<Arc<Model>>,
    /// Computes the data of quantized variables, by label.
    evaluator: Evaluator,
    quantized: FxHashMap<String, TensorId>,
    /// Whether the input has quantizations.
    is_quantized: bool,
    /// Warnings about them.
    found: Diagnostics,
    strict: bool,
    /// The most bytes of memory.
    memory: u64,
    /// Whether data are written.
    with_data: bool,
}

/// The limits of an encoding.
#[derive(Clone, Copy)]
pub(crate) struct Within {
    pub(crate) strict: bool,
    /// The most bytes of memory.
    pub(crate) memory: u64,
    pub(crate) evaluation: eval::Limits,
}

impl Within {
    /// The limits that options give, with those of evaluations.
    pub(crate) fn of(options: &Options, evaluation: eval::Limits) -> Self {
        Within { strict: options.strict, memory: options.max_memory, evaluation }
    }
}

impl Encode {
    /// An encoder with the data of a graph's variables; `None` for notations that can express every graph. `file` tells
    /// whether the result is written to a file.
    pub(crate) fn new(to: &Notation, file: bool, graph: &Graph, data: VariableData, within: Within) -> Option<Self> {
        if !to.has_data(true) {
            return None;
        }
        let (mut quantized, mut evaluator) = (FxHashMap::default(), Evaluator::with_limits(within.evaluation));
        let is_quantized = data.quantizations.is_some();
        if let Some(of) = data.quantizations {
            quantized = of.tensors().filter_map(|tensor| Some((label(graph, tensor)?, tensor))).collect();
            evaluator = evaluator.quantized(of);
        }
        Some(Encode {
            writer: to.writer,
            data: data.model,
            evaluator,
            quantized,
            is_quantized,
            found: data.found,
            strict: within.strict,
            memory: within.memory,
            with_data: to.has_data(file),
        })
    }

    /// The data of the variables of a graph.
    fn variables<'e>(&'e self, graph: &'e Graph) -> Decoded<'e> {
        Decoded { encode: self, graph, data: self.data.as_deref().map(Model::data) }
    }

    /// The bytes of the model, or of the data beside a text, with warnings.
    ///
    /// # Errors
    ///
    /// The graph cannot be encoded.
    pub(crate) fn encode(&self, graph: &Graph) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
        let (bytes, mut found) = match self.writer {
            Writer::Onnx(form) => {
                let (weights, quantizations) = (&self.variables(graph), self.evaluator.quantizations());
                let data = TranslatedData { weights, quantizations };
                let document = Document::translated(graph, data, self.strict, self.memory)?;
                form.encoded(&document, self.strict)?
            }
            _ => {
                self.fits_pnnx(graph)?;
                export::check(graph)?;
                let (data, mut found) = match self.with_data {
                    true => self.beside(graph)?,
                    false => (Vec::new(), Diagnostics::new(self.strict)),
                };
                export::warn_open(graph, &mut found);
                (data, found)
            }
        };
        self.found.iter().for_each(|warning| found.report(warning.clone()));
        if self.is_quantized && !matches!(self.writer, Writer::Onnx(_)) {
            let message = "the quantizations of `graph.quant` are ignored: nothing is rounded";
            found.report(Diagnostic::new(Code::OnnxQuantized, first_place(graph), message));
        }
        if found.has_errors() { Err(found) } else { Ok((bytes, found)) }
    }

    /// Refuses graphs whose PNNX file would take more memory than allowed: its lines are made before they are written,
    /// with the names of their operands and results several times.
    fn fits_pnnx(&self, graph: &Graph) -> Result<(), Diagnostics> {
        let mut memory = Memory::new(self.memory);
        memory.lend(graph.bytes());
        let lengths = graph.names.lengths(&graph.symbols);
        let length = |tensor| lengths.get(graph.name_of(tensor).index()).map_or(0, |length| u64::from(*length));
        for operation in &graph.operations {
            let mut names = 0;
            let mut add = |tensor| names += length(tensor) + NAME_OF_PNNX;
            graph.operands_of(operation).for_each(|operand| operand.each_tensor(&mut add));
            graph.tensors_of(operation).for_each(&mut add);
            memory.keep(LINE_OF_PNNX + 3 * names);
            if self.with_data && graph.operation_name(operation) == CONSTANT {
                let extents = graph.tensors_of(operation).next().and_then(|tensor| graph.shape(tensor)?.known());
                let items = extents.map(|extents| {
                    extents
                        .iter()
                        .fold(1, |items: u64, extent| items.saturating_mul(u64::try_from(*extent).unwrap_or_default()))
                });
                memory.keep(items.unwrap_or_default().saturating_mul(ITEM_OF_PNNX));
            }
        }
        memory.check("the file of PNNX").map_err(|failure| {
            let mut found = Diagnostics::new(self.strict);
            let at = first_place(graph);
            found.report(Diagnostic::new(failure.code, at, failure.message).help_if(failure.help));
            found
        })
    }

    /// The content of the data file of a PNNX file; empty if the graph has no data.
    fn beside(&self, graph: &Graph) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
        let data = export::data(graph, &self.variables(graph));
        let refused = |message: String, at: Location| {
            let mut diagnostics = Diagnostics::new(self.strict);
            let diagnostic = Diagnostic::new(Code::PnnxData, at, message);
            diagnostics.report(diagnostic.help("only the text is written to standard output".to_owned()));
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

/// The bytes of a line of a PNNX file in memory excluding names: its lists of texts.
const LINE_OF_PNNX: u64 = 512;

/// The bytes of an item of a constant: a number, its bytes, and the same in the archive.
const ITEM_OF_PNNX: u64 = 16;

/// The bytes of a name in a line, and of the shape of its tensor.
const NAME_OF_PNNX: u64 = 64;

/// The location of the first operation, for diagnostics about the whole graph.
fn first_place(graph: &Graph) -> Location {
    graph.operations.first().map(|operation| operation.at).unwrap_or_default()
}

impl OnnxForm {
    /// The text of a model, which is made before it is written but for long constants, because parts of it may be
    /// impossible; none in protobuf.
    ///
    /// # Errors
    ///
    /// The text cannot express the model.
    pub(crate) fn text(
        self,
        document: &onnx::Document,
        strict: bool,
    ) -> Result<(Option<onnx::ModelText>, Diagnostics), Diagnostics> {
        match self {
            OnnxForm::Protobuf => Ok((None, Diagnostics::new(strict))),
            OnnxForm::Text => document.text(strict).map(|(text, warnings)| (Some(text), warnings)),
        }
    }

    /// The bytes of a model, with warnings.
    ///
    /// # Errors
    ///
    /// The form cannot express the model.
    fn encoded(self, document: &onnx::Document, strict: bool) -> Result<(Vec<u8>, Diagnostics), Diagnostics> {
        match self {
            OnnxForm::Protobuf => Ok((document.to_protobuf(), Diagnostics::new(strict))),
            OnnxForm::Text => document.to_text(strict).map(|(text, warnings)| (text.into_bytes(), warnings)),
        }
    }
}

/// What is made of a graph before anything of it is written.
pub(crate) struct Made<'g> {
    to: &'static Notation,
    graph: &'g Graph,
    encoded: Option<Vec<u8>>,
    picture: Option<Picture<'g>>,
}

impl<'g> Made<'g> {
    /// What a graph becomes in a notation, with warnings.
    ///
    /// # Errors
    ///
    /// The notation cannot express the graph.
    pub(crate) fn new(
        to: &'static Notation,
        (graph, sources): (&'g Graph, &'g Sources),
        encode: Option<Encode>,
    ) -> Result<(Self, Diagnostics), Diagnostics> {
        if encode.is_some() {
            progress::enter(Phase::Translating);
        }
        let (encoded, warnings) = match encode {
            Some(encode) => encode.encode(graph).map(|(bytes, warnings)| (Some(bytes), warnings))?,
            None => (None, Diagnostics::default()),
        };
        let picture = if to.is_picture() { Some(picture(graph, sources)?) } else { None };
        Ok((Made { to, graph, encoded, picture }, warnings))
    }

    /// Adds what the model tells about itself, if it is drawn.
    pub(crate) fn with_facts(mut self, facts: impl FnOnce() -> Facts) -> Self {
        self.picture = self.picture.map(|picture| picture.with_facts(facts()));
        self
    }

    /// Adds what the data of variables are like.
    #[cfg(feature = "kernels")]
    pub(crate) fn with_values(mut self, values: Summaries) -> Self {
        self.picture = self.picture.map(|picture| picture.with_values(values));
        self
    }

    /// Writes it; a graph is written by a number of threads.
    pub(crate) fn write(&self, threads: Option<NonZeroUsize>, out: &mut dyn io::Write) -> io::Result<()> {
        match (self.to.writer, &self.picture, &self.encoded) {
            (Writer::Picture(write), Some(picture), _) => write(picture, out),
            (Writer::Graph(write), ..) => write(self.graph, threads, out),
            (Writer::Pnnx(write), ..) => write(self.graph, out),
            (Writer::Onnx(_), _, Some(encoded)) => out.write_all(encoded),
            _ => Ok(()),
        }
    }

    /// The data in a file beside it: the extension and the bytes.
    pub(crate) fn beside(&self) -> Option<(&'static str, &[u8])> {
        let data = self.encoded.as_deref().filter(|data| !data.is_empty());
        self.to.data_beside().zip(data)
    }
}

/// The picture of a graph; refuses one that is too large.
pub(crate) fn picture<'g>(graph: &'g Graph, sources: &'g Sources) -> Result<Picture<'g>, Diagnostics> {
    progress::enter(Phase::Drawing);
    Picture::new(graph, sources).ok_or_else(|| {
        let mut found = Diagnostics::default();
        too_large(graph.operations.len(), first_place(graph)).into_iter().for_each(|refused| found.report(refused));
        found
    })
}

/// The refusal of a graph with so many operations, if pictures do not show as many.
pub(crate) fn too_large(operations: usize, at: Location) -> Option<Diagnostic> {
    let message = format!("the graph has {operations} operations; pictures show at most {MAX_OPERATIONS}");
    (operations > MAX_OPERATIONS).then(|| Diagnostic::new(Code::PictureTooLarge, at, message))
}

/// The label of the variable that gives a tensor.
fn label(graph: &Graph, tensor: TensorId) -> Option<String> {
    let operation = &graph.operations[graph.tensors[tensor.index()].producer?.index()];
    match graph.attribute(operation, "label")? {
        Value::String(label) if graph.operation_name(operation) == VARIABLE => Some(label.to_string()),
        _ => None,
    }
}

/// The data of a model's variables, if there is a model. Those of quantized variables are decoded.
struct Decoded<'e> {
    encode: &'e Encode,
    graph: &'e Graph,
    data: Option<ModelVariables<'e>>,
}

impl Decoded<'_> {
    /// The data of a quantized variable.
    fn decoded(&self, label: &str, data: &ModelVariables) -> Result<Option<Tensor>, TensorError> {
        let Some(tensor) = self.encode.quantized.get(label) else { return Ok(None) };
        let value = self.encode.evaluator.variable(self.graph, *tensor, data);
        value.map(|value| Some(Arc::unwrap_or_clone(value))).map_err(|error| TensorError::new(error.message))
    }
}

impl Variables for Decoded<'_> {
    fn load(&self, label: &str, shape: &[usize], of: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        let Some(data) = &self.data else { return Ok(None) };
        match self.decoded(label, data)? {
            Some(tensor) => Ok(Some(tensor)),
            None => data.load(label, shape, of),
        }
    }
}

impl Weights for Decoded<'_> {
    fn blocks(&self, label: &str, shape: &[usize]) -> Result<Option<BlockWeight>, String> {
        let Some(data) = &self.data else { return Ok(None) };
        let blocks = data.blocks(label, shape).map_err(|error| error.to_string())?;
        Ok(blocks.map(|of| BlockWeight { bits: of.bits, size: BLOCK, scales: of.scales, codes: of.codes }))
    }

    fn load(&self, label: &str, shape: &[usize], of: Option<NnefElement>) -> Result<Option<Weight>, String> {
        let Some(data) = &self.data else { return Ok(None) };
        let dims = |shape: &[usize]| shape.iter().map(|&extent| extent as i64).collect();
        if let Some(tensor) = self.decoded(label, data).map_err(|error| error.to_string())?
            && tensor.dtype() == DType::Float64
        {
            let bytes = tensor.to_scalars().iter().flat_map(|item| (*item as f32).to_le_bytes()).collect::<Vec<u8>>();
            return Ok(Some(Weight { dims: dims(tensor.shape()), element: NnefElement::Float, bytes: bytes.into() }));
        }
        let of = of.map(|of| match of {
            NnefElement::Float => DType::Float64,
            NnefElement::Int => DType::Int64,
            NnefElement::Bool => DType::Bool,
        });
        let raw = data.raw(label, shape, of).map_err(|error| error.to_string())?;
        Ok(raw.map(|raw| Weight {
            dims: dims(&raw.shape),
            element: match raw.dtype {
                dtype if dtype.is_integer() => NnefElement::Int,
                DType::Bool => NnefElement::Bool,
                _ => NnefElement::Float,
            },
            bytes: Bytes::from(raw.bytes),
        }))
    }
}
