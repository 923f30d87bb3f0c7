//! Runs operators that are nothing but their bodies.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::body::RunBody;
use super::element::number_of;
use super::failure::RunFailure;
use super::interpreter::{Interpreter, unknown};
use super::node_call::NodeCall;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::infer::{TensorFacts, ValueType};
use crate::onnx::model::{AttributeProto, NodeProto};
use crate::onnx::standard::{OperandTypes, apart, called};
use crate::tensor::Tensor;
use crate::tensor::value::RunValue;

/// The most items of operands that bodies may depend on.
const MAX_ITEMS: usize = 64;

/// The types of operands.
struct GivenTypes(FxHashMap<NameId, ValueType>);

impl OperandTypes for GivenTypes {
    fn of_value(&self, value: NameId) -> Option<&ValueType> {
        self.0.get(&value)
    }
}

fn type_of(value: &RunValue) -> ValueType {
    let RunValue::Tensor(tensor) = value else { return ValueType::Other };
    let extents = tensor.shape().iter().map(|extent| i64::try_from(*extent).map_or(Dim::Unknown, Dim::Int));
    let element = Element::numbered(number_of(tensor.dtype()).into());
    ValueType::Tensor(TensorFacts { element, shape: Some(extents.collect()), items: items(tensor) })
}

/// The items of a small tensor of integers.
fn items(tensor: &Tensor) -> Option<std::sync::Arc<[Dim]>> {
    let is_whole = Element::numbered(number_of(tensor.dtype()).into()).is_some_and(Element::is_whole);
    if !is_whole || tensor.len() > MAX_ITEMS {
        return None;
    }
    super::node_call::integers(tensor).ok().map(|items| items.into_iter().map(Dim::Int).collect())
}

/// The results of a node, from the body of its operator for these operands. `base` is the version of the standard operator
/// set, if it is imported.
pub(super) fn results(call: &NodeCall, base: Option<i64>) -> Result<Vec<RunValue>, RunFailure> {
    let attributes = &call.attributes;
    let (names, node) = (attributes.names, plain(call));
    let pairs = || node.inputs.iter().zip(call.operands).filter_map(|(name, value)| Some((*name, value.as_ref()?)));
    let types = GivenTypes(pairs().map(|(name, value)| (name, type_of(value))).collect());
    let (domain, name) = names.operator(&node);
    let model = apart(names, &node, &types, call.version, base).ok_or_else(|| unknown(domain, name))?;
    let function = model.functions.first().ok_or_else(|| unknown(domain, name))?;
    let is_wanted = |i: usize| node.outputs.get(i).is_some_and(|output| *output != NameId::ROOT);
    let body = RunBody::of_outputs(function, is_wanted);
    let operands = call.operands.iter().cloned().chain(std::iter::repeat(None));
    let given = function.inputs.iter().copied().zip(operands).collect();
    let interpreter = Interpreter::of_nodes(&model, call.stores, call.budget);
    let made = interpreter.run_body(&body, given).map_err(|failure| RunFailure { at: None, ..failure })?;
    let mut made = made.into_iter();
    // A result that is not wanted is not looked at.
    let nothing = || RunValue::Optional(None);
    let result = |i: usize| if is_wanted(i) { made.next().unwrap_or_else(nothing) } else { nothing() };
    Ok((0..node.outputs.len()).map(result).collect())
}

/// The node as it is in the call of the function around it.
fn plain<'m>(call: &NodeCall<'_, 'm>) -> Cow<'m, NodeProto> {
    let attributes = &call.attributes;
    let name = |attribute: &AttributeProto| attribute.name.map(|name| attributes.names.texts.text(name));
    let omits = |i: usize, _| call.operands.get(i).is_none_or(Option::is_none);
    called(attributes.node, omits, |attribute| attributes.find(name(attribute)?).cloned())
}
