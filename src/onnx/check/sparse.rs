//! Checks sparse tensors, which stay encoded in a model.

use bytes::Bytes;

use super::checker::Check;
use super::constants;
use crate::diagnostics::Code;
use crate::onnx::elements::{self, Elements, Length};
use crate::onnx::external::PathStep;
use crate::onnx::model::{Fields, TensorProto};
use crate::onnx::protobuf;
use crate::onnx::protobuf::fields::sparse;
use crate::onnx::protobuf::reader::merged;
use crate::onnx::protobuf::sparse::extents;

/// The number of indices of 64-bit integers.
const INT64: i32 = 7;

/// A tensor in a message, if it is there and can be decoded.
fn part(message: &Bytes, number: u32) -> Option<TensorProto> {
    Some(protobuf::decode_tensor(&merged(message, number)?).ok()?.0)
}

/// What is wrong about the elements of a tensor in a sparse one.
fn broken(tensor: &TensorProto) -> Option<String> {
    match elements::length(tensor) {
        _ if constants::fault(tensor).is_some() => constants::fault(tensor).map(|fault| fault.1),
        Length::Right => None,
        Length::Wrong { .. } | Length::Broken => Some("do not fit their shape and type".to_owned()),
    }
}

/// What is wrong about a sparse tensor.
fn fault(message: &Bytes) -> Option<String> {
    let Some(values) = part(message, sparse::VALUES) else { return Some("has no values".to_owned()) };
    if let Some(what) = broken(&values) {
        return Some(format!("has values that are wrong: the tensor {what}"));
    }
    let extents = extents(message);
    let [count] = values.dims[..] else { return Some("has values that are not a list".to_owned()) };
    if extents.is_empty() || extents.iter().any(|extent| *extent <= 0) {
        return Some("has no shape of positive extents".to_owned());
    }
    let Some(indices) = part(message, sparse::INDICES) else {
        return (count != 0).then(|| "has no indices".to_owned());
    };
    if indices.data_type != Some(INT64) {
        return Some("has indices of another type than int64".to_owned());
    }
    if let Some(what) = broken(&indices) {
        return Some(format!("has indices that are wrong: the tensor {what}"));
    }
    let width = match indices.dims[..] {
        [len] if len == count => None,
        [len, width] if len == count && width == extents.len() as i64 => Some(extents.len()),
        _ => return Some(format!("has {count} values and other numbers of indices: {:?}", &indices.dims[..])),
    };
    let Ok(Elements::Ints(indices)) = Elements::of(&indices) else { return None };
    out_of_order(&indices, &extents, width)
}

/// Whether indices leave the shape or are not in ascending order: numbers of elements, or lists of `width` indices.
fn out_of_order(indices: &[i64], extents: &[i64], width: Option<usize>) -> Option<String> {
    let size = extents.iter().try_fold(1_i128, |size, extent| size.checked_mul(i128::from(*extent)));
    let mut before = -1;
    for index in indices.chunks(width.unwrap_or(1)) {
        let number = match width {
            None => i128::from(index[0]),
            Some(_) => {
                let is_within = |(index, extent): (&i64, &i64)| (0..*extent).contains(index);
                if !index.iter().zip(extents).all(is_within) {
                    return Some(format!("has the index {index:?}, outside of its shape {extents:?}"));
                }
                let step = |number: i128, (index, extent): (&i64, &i64)| {
                    number.checked_mul(i128::from(*extent))?.checked_add(i128::from(*index))
                };
                index.iter().zip(extents).try_fold(0, step)?
            }
        };
        if number < 0 || size.is_some_and(|size| number >= size) {
            return Some(format!("has the index {number}, outside of its shape {extents:?}"));
        }
        if number <= before {
            return Some("has indices that do not ascend".to_owned());
        }
        before = number;
    }
    None
}

impl Check<'_> {
    /// Checks the sparse tensors among fields that are kept. The step of a repeated field has the index of the first.
    pub(super) fn sparse_fields(&mut self, step: PathStep, fields: &Fields, number: u32, at: u32) {
        let found = fields.iter().flat_map(|fields| fields.iter()).filter(|field| field.number == number);
        for (i, field) in found.enumerate() {
            // The document reports that its file cannot be read.
            let Ok(message) = field.bytes.load() else { continue };
            if let Some(what) = fault(&message) {
                let step = (step.0, step.1.map(|first| first + i));
                let message = format!("the sparse tensor {what}");
                self.within(step, |check| check.report(Code::OnnxSparse, at, message, None));
            }
        }
    }
}
