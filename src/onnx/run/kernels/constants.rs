//! Constants.

use crate::onnx::run::call::{KernelResult, NodeCall, one};
use crate::tensor::{Data, Tensor};

/// A constant in any of its attributes.
pub(in crate::onnx::run) fn constant(call: &NodeCall) -> KernelResult {
    if let Some(tensor) = call.tensor_attribute("value")? {
        return one(tensor);
    }
    if let Some(item) = call.int("value_int")? {
        return one(Tensor::integers(&[], vec![item])?);
    }
    if let Some(items) = call.ints("value_ints")? {
        return one(call.made(&[items.len()], Data::Int64(items))?);
    }
    if let Some(item) = call.float("value_float")? {
        return one(call.made(&[], Data::Float32(vec![item as f32]))?);
    }
    if let Some(items) = call.float_list("value_floats")? {
        return one(call.made(&[items.len()], Data::Float32(items))?);
    }
    if let Some(item) = call.text("value_string")? {
        return one(call.made(&[], Data::Text(vec![item.into()]))?);
    }
    if let Some(items) = call.texts("value_strings")? {
        let items: Vec<_> = items.into_iter().map(Into::into).collect();
        return one(call.made(&[items.len()], Data::Text(items))?);
    }
    Err(call.refused("the constant has no value"))
}
