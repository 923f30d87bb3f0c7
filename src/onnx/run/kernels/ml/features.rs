//! Features: scaled, normalized, replaced, and put together.

use super::linear::numbers;
use crate::eval::EvalError;
use crate::onnx::run::kernels::reals::{Reals, naturals};
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::{DType, Data};

/// An item of a list for a feature: the only one is for all.
fn of_feature<T: Copy>(
    call: &NodeCall,
    list: Vec<T>,
    features: usize,
) -> Result<impl Fn(usize) -> T + use<T>, EvalError> {
    if list.len() != 1 && list.len() != features {
        return Err(call.misfit(format!("{} values for {features} features", list.len())));
    }
    Ok(move |i: usize| if list.len() == 1 { list[0] } else { list[i % list.len().max(1)] })
}

/// The floats of an attribute, if it is given.
pub(super) fn list(call: &NodeCall, name: &str) -> Result<Option<Vec<f64>>, EvalError> {
    Ok(call.float_list(name)?.map(|list| list.into_iter().map(f64::from).collect()))
}

/// `Scaler`.
pub(in crate::onnx) fn scaler(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let features = x.shape.last().copied().unwrap_or(1);
    let values = |name: &str, default: f64| {
        let list = list(call, name)?.unwrap_or_else(|| vec![default]);
        of_feature(call, list, features)
    };
    let (offset, scale) = (values("offset", 0.0)?, values("scale", 1.0)?);
    let scaled = x.items.iter().enumerate().map(|(i, x)| (x - offset(i)) * scale(i));
    one(call.rounded(DType::Float32, x.shape, scaled.collect::<Vec<_>>())?)
}

/// `Normalizer`.
pub(in crate::onnx) fn normalizer(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let norm: fn(&[f64]) -> f64 = match &*call.text_or("norm", "MAX")? {
        "MAX" => |row| row.iter().fold(0.0, |a, b| a.max(b.abs())),
        "L1" => |row| row.iter().map(|x| x.abs()).sum(),
        "L2" => |row| row.iter().map(|x| x * x).sum::<f64>().sqrt(),
        other => return Err(call.refused(format!("`norm` is '{other}'"))),
    };
    let mut items = x.items.to_vec();
    for row in items.chunks_exact_mut(x.shape.last().copied().unwrap_or(1).max(1)) {
        let norm = norm(row);
        // Rows of zeros stay; NaN in a row makes all of it NaN.
        if norm != 0.0 {
            row.iter_mut().for_each(|x| *x /= norm);
        }
    }
    one(call.rounded(DType::Float32, x.shape, items)?)
}

/// `Binarizer`.
pub(in crate::onnx) fn binarizer(call: &NodeCall) -> KernelResult {
    let (x, threshold) = (Reals::of(call, 0)?, call.float_or("threshold", 0.0)?);
    let items = x.items.iter().map(|&x| f64::from(u8::from(x > threshold)));
    one(call.rounded(x.dtype, x.shape, items.collect::<Vec<_>>())?)
}

/// `Imputer`: replaces a value.
pub(in crate::onnx) fn imputer(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let features = x.shape().last().copied().unwrap_or(1);
    call.budget.room(x.shape())?;
    if x.dtype().is_float() {
        let (x, replaced) = (Reals::of(call, 0)?, call.float_or("replaced_value_float", 0.0)?);
        let value = of_feature(call, numbers(call, "imputed_value_floats")?, features)?;
        let item = |(i, &x): (usize, &f64)| if x == replaced || x.is_nan() && replaced.is_nan() { value(i) } else { x };
        return one(call.rounded(x.dtype, x.shape, x.items.iter().enumerate().map(item).collect::<Vec<_>>())?);
    }
    let replaced = call.int_or("replaced_value_int64", 0)?;
    let value = of_feature(call, call.ints("imputed_value_int64s")?.unwrap_or_default(), features)?;
    let item = |(i, x): (usize, i64)| i128::from(if x == replaced { value(i) } else { x });
    one(call.wrapped(x.dtype(), x.shape(), call.list(0)?.into_iter().enumerate().map(item).collect::<Vec<_>>())?)
}

/// `FeatureVectorizer`: the features of all operands, cut or filled up with zeros to their numbers.
pub(in crate::onnx) fn feature_vectorizer(call: &NodeCall) -> KernelResult {
    let operands = (0..call.count()).map(|i| Reals::of(call, i)).collect::<Result<Vec<_>, _>>()?;
    let sides = operands.iter().map(|x| match *x.shape {
        [rows] => Ok((rows, 1)),
        [rows, columns] => Ok((rows, columns)),
        _ => Err(call.misfit(format!("features of shape {:?}", x.shape))),
    });
    let sides = sides.collect::<Result<Vec<_>, _>>()?;
    let widths = naturals(call, "inputdimensions")?.unwrap_or_else(|| sides.iter().map(|side| side.1).collect());
    let rows = sides.first().map_or(0, |side| side.0);
    if widths.len() != sides.len() || sides.iter().any(|side| side.0 != rows) {
        return Err(call.misfit("the operands differ in their rows"));
    }
    let width = widths.iter().try_fold(0usize, |all, width| all.checked_add(*width));
    let width = width.ok_or_else(|| call.misfit("there are too many features"))?;
    let mut items = Vec::with_capacity(call.budget.room(&[rows, width])?);
    for row in 0..rows {
        for ((x, side), width) in operands.iter().zip(&sides).zip(&widths) {
            let taken = side.1.min(*width);
            items.extend_from_slice(&x.items[row * side.1..][..taken]);
            items.extend(std::iter::repeat_n(0.0, width - taken));
        }
    }
    one(call.rounded(DType::Float32, &[rows, width], items)?)
}

/// `ArrayFeatureExtractor`: the features at indices along the last axis.
pub(in crate::onnx) fn array_feature_extractor(call: &NodeCall) -> KernelResult {
    let (x, indices) = (call.tensor(0)?, call.list(1)?);
    let Some((extent, outer)) = x.shape().split_last() else { return Err(call.misfit("the operand is a scalar")) };
    let place = |&index: &i64| usize::try_from(index).ok().filter(|index| index < extent);
    let places: Option<Vec<usize>> = indices.iter().map(place).collect();
    let places = places.ok_or_else(|| call.refused("an index is outside of the features"))?;
    let mut shape = if outer.is_empty() { vec![1] } else { outer.to_vec() };
    let rows: usize = shape.iter().product();
    shape.push(places.len());
    call.budget.room(&shape)?;
    let data: Data = x.data().pick((0..rows).flat_map(|row| places.iter().map(move |place| row * extent + place)));
    one(call.made(&shape, data)?)
}
