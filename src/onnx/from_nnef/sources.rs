//! Inputs, constants, data of variables, and the types of inputs and outputs.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::emit::Emitter;
use super::lists::product;
use super::quantization;
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::{KnownExtents, ModelValue, NnefElement};
use crate::diagnostics::Code;
use crate::eval::Quantizations;
use crate::graph::names::NameId;
use crate::graph::{Graph, TensorId, Value as Argument, constant};
use crate::onnx::model::{Dim, Extent, ShapeProto, TensorProto, TensorType, TypeForm, TypeProto, ValueInfo};

/// The data of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    pub(crate) dims: Vec<i64>,
    pub(crate) element: NnefElement,
    /// The elements in the form of ONNX raw data: in row-major order, little-endian.
    pub(crate) bytes: Bytes,
}

/// The data of a variable as codes, in blocks of consecutive items that have one scale.
#[derive(Clone, Debug)]
pub(crate) struct BlockWeight {
    /// The bits of a code, 4 or 8.
    pub(crate) bits: u32,
    /// The items of a block.
    pub(crate) size: usize,
    pub(crate) scales: Vec<f32>,
    /// The codes in row-major order.
    pub(crate) codes: Vec<i8>,
}

/// A source of the data of variables.
pub(crate) trait Weights {
    /// The data of the variable with a label, a shape and, if it is known, an element type; none if it has no data.
    ///
    /// # Errors
    ///
    /// The data cannot be read.
    fn load(&self, label: &str, shape: &[usize], of: Option<NnefElement>) -> Result<Option<Weight>, String>;

    /// The data of the variable with a label and a shape, if they are stored in blocks.
    ///
    /// # Errors
    ///
    /// The data cannot be read.
    fn blocks(&self, _label: &str, _shape: &[usize]) -> Result<Option<BlockWeight>, String> {
        Ok(None)
    }
}

/// What a graph refers to, and is translated with it.
#[derive(Clone, Copy)]
pub(crate) struct TranslatedData<'d> {
    /// The data of its variables.
    pub(crate) weights: &'d dyn Weights,
    /// The quantizations of its tensors.
    pub(crate) quantizations: &'d Quantizations,
}

/// Items of variables, by label and shape.
#[expect(clippy::type_complexity, reason = "a function from a label and a shape to items")]
pub(crate) struct Items<'d>(pub(crate) &'d dyn Fn(&str, &[usize]) -> Option<Vec<f32>>);

impl Weights for Items<'_> {
    fn load(&self, label: &str, shape: &[usize], _: Option<NnefElement>) -> Result<Option<Weight>, String> {
        let Some(items) = (self.0)(label, shape) else { return Ok(None) };
        let count = shape.iter().try_fold(1_usize, |all, extent| all.checked_mul(*extent));
        if count != Some(items.len()) {
            return Err(format!("the {} items do not fill the shape", items.len()));
        }
        let dims = shape.iter().map(|extent| *extent as i64).collect();
        let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
        Ok(Some(Weight { dims, element: NnefElement::Float, bytes: bytes.into() }))
    }
}

/// No data.
pub(super) struct Nothing;

impl Weights for Nothing {
    fn load(&self, _: &str, _: &[usize], _: Option<NnefElement>) -> Result<Option<Weight>, String> {
        Ok(None)
    }
}

/// The maximum size of constants with equal elements; larger ones are created when the model runs.
const MOST_FILLED: i64 = 1 << 10;

/// The group of refusals of variables without data.
pub(super) const NO_DATA: &str = "data";

/// The inputs so far, and the constant tensors by label.
pub(super) struct Sources<'w> {
    weights: &'w dyn Weights,
    labels: FxHashMap<String, ModelValue>,
    pub(super) inputs: Vec<ValueInfo>,
}

impl<'w> Sources<'w> {
    pub(super) fn new(weights: &'w dyn Weights) -> Self {
        Sources { weights, labels: FxHashMap::default(), inputs: Vec::new() }
    }

    /// Creates the value of a source.
    pub(super) fn make(&mut self, call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
        let result = call.results().first().copied();
        let result = result.ok_or_else(|| Refused::meaning(format!("`{}` does not return a tensor", call.name())))?;
        let id = call.graph.name_of(result);
        let value = match call.name() {
            "variable" => self.variable(call, result, id)?,
            "constant" if call.quantizations.has(result) => {
                let name = call.out.new_name("constant");
                let value = constant(call, result, name)?;
                let made = quantization::rounded(call, result, value)?;
                call.out.end(std::slice::from_ref(&made), &[id]);
                ModelValue { id, ..made }
            }
            "constant" => constant(call, result, id)?,
            _ => {
                let value = self.input(call, result, id);
                if call.quantizations.has(result) && call.graph.outputs.contains(&result) {
                    let name = call.graph.tensor_name(result);
                    let message =
                        format!("input `{name}` is quantized, so that the output of this name differs from it");
                    return Err(Refused::meaning(message));
                }
                quantization::rounded(call, result, value)?
            }
        };
        Ok(vec![value])
    }

    fn input(&mut self, call: &mut TranslatedCall, tensor: TensorId, id: NameId) -> ModelValue {
        let element = element_of_source(call, tensor).unwrap_or(NnefElement::Float);
        let dims = call.out.dims_of(call.graph, tensor);
        let symbols = symbols(call);
        let extent = |(axis, extent): (usize, &Option<i64>)| match (extent, symbols.get(axis)) {
            (Some(extent), _) => Extent::Value(*extent),
            (None, Some(Some(symbol))) => Extent::Symbol(call.out.names.texts.intern(symbol)),
            (None, _) => Extent::Unknown,
        };
        let extents = dims.as_ref().map(|dims| dims.iter().enumerate().map(extent).collect());
        self.inputs.push(info(id, element, extents));
        ModelValue { id, element, dims }
    }

    fn variable(&mut self, call: &mut TranslatedCall, tensor: TensorId, id: NameId) -> Translation<ModelValue> {
        let label = call.text("label")?;
        let of = element_of_source(call, tensor);
        let quantized = call.quantizations.has(tensor);
        if let Some(known) = self.labels.get(label).filter(|_| !quantized) {
            return Ok(call.out.cast(known, of.unwrap_or(known.element)));
        }
        let fail = |message: String| Refused { code: Code::OnnxWeights, message, group: None };
        let shape: Option<Vec<usize>> =
            call.ints("shape")?.iter().map(|&extent| usize::try_from(extent).ok()).collect();
        let shape = shape.ok_or_else(|| fail(format!("variable '{label}' has a negative extent")))?;
        let own = call.graph.name_of(tensor);
        let unread = |why: String| fail(format!("the data of variable '{label}': {why}"));
        if !quantized && let Some(blocks) = self.weights.blocks(label, &shape).map_err(unread)? {
            let name = call.out.new_name(label);
            let value = quantization::blocks(call, name, &blocks, &call.ints("shape")?)?;
            call.out.end(std::slice::from_ref(&value), &[own]);
            let value = ModelValue { id: own, ..value };
            self.labels.insert(label.to_owned(), value.clone());
            return Ok(value);
        }
        let weight = match self.weights.load(label, &shape, of) {
            Ok(Some(weight)) => weight,
            Ok(None) => {
                let missing = fail(format!("variable '{label}' has no data"));
                return Err(Refused { group: Some(NO_DATA), ..missing });
            }
            Err(why) => return Err(fail(format!("the data of variable '{label}': {why}"))),
        };
        if let Some(dims) = call.out.dims_of(call.graph, tensor)
            && !(dims.len() == weight.dims.len()
                && dims.iter().zip(&weight.dims).all(|(dim, given)| dim.is_none_or(|dim| dim == *given)))
        {
            let (wanted, given) = (shown(&dims), &weight.dims);
            let message = format!("variable '{label}' has shape {wanted}, its data have shape {given:?}");
            return Err(fail(message));
        }
        // The constant tensor has the label as its name.
        let id = if call.graph.tensor_name(tensor) == label { id } else { call.out.new_name(label) };
        if quantized && let Some(value) = quantization::stored(call, tensor, &weight)? {
            call.out.end(std::slice::from_ref(&value), &[own]);
            return Ok(ModelValue { id: own, ..value });
        }
        let value = call.out.initializer(id, weight.element, &weight.dims, weight.bytes);
        if !quantized {
            self.labels.insert(label.to_owned(), value.clone());
        }
        Ok(value)
    }
}

fn shown(dims: &KnownExtents) -> String {
    let items: Vec<String> = dims.iter().map(|dim| dim.map_or("?".to_owned(), |dim| dim.to_string())).collect();
    format!("[{}]", items.join(", "))
}

/// The element type of a source, from its declaration or an attribute of tract's operations.
fn element_of_source(call: &TranslatedCall, tensor: TensorId) -> Option<NnefElement> {
    let declared = call.graph.dtype(tensor).and_then(NnefElement::of);
    let Ok(name) = call.text("datum_type") else { return declared };
    match name.trim_matches(['\'', '"']).to_ascii_lowercase().as_str() {
        "f16" | "f32" | "f64" => Some(NnefElement::Float),
        "bool" => Some(NnefElement::Bool),
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "tdim" => Some(NnefElement::Int),
        _ => declared,
    }
}

/// The symbols in the extents of an input.
fn symbols(call: &TranslatedCall) -> Vec<Option<String>> {
    let Some(Argument::Array(items)) = call.graph.attribute(call.operation, "shape") else { return Vec::new() };
    let symbol = |item: &Argument| match item {
        Argument::Symbol(symbol) => Some(symbol.to_string()),
        _ => None,
    };
    items.iter().map(symbol).collect()
}

/// `constant`
fn constant(call: &mut TranslatedCall, tensor: TensorId, id: NameId) -> Translation<ModelValue> {
    let dims = call.ints("shape")?;
    let given = call.graph.attribute(call.operation, "value").and_then(constant::given);
    let given = given.ok_or_else(|| Refused::meaning("`constant` has values that are not numbers"))?;
    let own = || NnefElement::of(constant::primitive(given.dtype()));
    let element = call.graph.dtype(tensor).and_then(NnefElement::of).or_else(own).unwrap_or(NnefElement::Float);
    filled(call, id, element, &dims, given.len(), element.bytes_of(&given))
}

/// A constant tensor of items, given as their number and their bytes, or of one repeated item.
fn filled(
    call: &mut TranslatedCall,
    id: NameId,
    element: NnefElement,
    dims: &[i64],
    given: usize,
    bytes: Vec<u8>,
) -> Translation<ModelValue> {
    let volume = product(dims).filter(|_| dims.iter().all(|extent| *extent >= 0));
    let wrong = || Refused::meaning(format!("`constant` has {given} values, which do not fill its shape"));
    let volume = volume.ok_or_else(wrong)?;
    if given == 1 && volume > MOST_FILLED {
        let shape = call.out.list("shape", dims);
        let tensor = TensorProto {
            dims: [1].into_iter().collect(),
            data_type: Some(element.number()),
            rest: Some(Box::new(vec![super::emit::raw(bytes.into())])),
            ..TensorProto::default()
        };
        let value = crate::onnx::model::AttributeValue::Tensor(Box::new(tensor));
        let made = call.node("ConstantOfShape", &[&shape], vec![("value", value)]);
        call.out.end(&[made], &[id]);
        return Ok(ModelValue { id, element, dims: Some(dims.iter().copied().map(Some).collect()) });
    }
    let bytes = match given {
        1 => bytes.repeat(usize::try_from(volume).unwrap_or(0)),
        given if given as i64 == volume => bytes,
        _ => return Err(wrong()),
    };
    Ok(call.out.initializer(id, element, dims, bytes.into()))
}

/// A value for a tensor whose operation was refused.
pub(super) fn invented(graph: &Graph, tensor: TensorId, out: &mut Emitter) -> ModelValue {
    let element = graph.dtype(tensor).and_then(NnefElement::of).unwrap_or(NnefElement::Float);
    ModelValue { id: graph.name_of(tensor), element, dims: out.dims_of(graph, tensor) }
}

/// The bytes of a constant tensor.
pub(super) fn bytes(tensor: &TensorProto) -> usize {
    tensor.rest.iter().flat_map(|fields| fields.iter()).map(|field| field.bytes.len()).sum()
}

pub(super) fn info(id: NameId, element: NnefElement, extents: Option<Vec<Extent>>) -> ValueInfo {
    let dim = |extent: Extent| Dim { extent, rest: None };
    let shape = extents.map(|extents| ShapeProto { dims: extents.into_iter().map(dim).collect(), rest: None });
    let form = TypeForm::Tensor(TensorType { element: Some(element.number()), shape, rest: None });
    ValueInfo { name: Some(id), ty: Some(TypeProto { form, rest: None }), rest: None }
}

/// The outputs of the model. A constant tensor or an input that is an output is copied.
pub(super) fn outputs(graph: &Graph, out: &mut Emitter, values: &[Option<ModelValue>]) -> Vec<ValueInfo> {
    let mut found = Vec::new();
    for output in &graph.outputs {
        let Some(value) = values.get(output.index()).cloned().flatten() else { continue };
        let id = graph.name_of(*output);
        let extents = value
            .dims
            .as_ref()
            .map(|dims| dims.iter().map(|extent| extent.map_or(Extent::Unknown, Extent::Value)).collect());
        if value.id != id {
            out.begin(id);
            out.end(std::slice::from_ref(&value), &[id]);
        }
        found.push(info(id, value.element, extents));
    }
    found
}
