//! Encodings: values that others stand for.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::eval::EvalError;
use crate::onnx::run::node_call::{KernelResult, NodeCall, integers, one};
use crate::tensor::{DType, Data, Tensor};

/// A value that is looked up. Floats are equal if their bits are, after zeros and NaNs have lost their signs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Integer(i128),
    Float(u64),
    Text(Arc<str>),
}

impl Key {
    pub(super) fn at(data: &Data, i: usize) -> Self {
        match data {
            Data::Text(items) => Key::Text(items[i].clone()),
            data if data.dtype().is_float() => match data.float(i) {
                0.0 => Key::Float(0),
                nan if nan.is_nan() => Key::Float(f64::NAN.to_bits()),
                other => Key::Float(other.to_bits()),
            },
            data => Key::Integer(data.wide(i)),
        }
    }
}

/// Texts as data.
pub(super) fn text(items: Vec<String>) -> Data {
    Data::Text(items.into_iter().map(Into::into).collect())
}

/// The values of attributes with a prefix, whatever their type.
fn values(call: &NodeCall, prefix: &str) -> Result<Option<Data>, EvalError> {
    let name = |suffix: &str| format!("{prefix}_{suffix}");
    if let Some(tensor) = call.tensor_attribute(&name("tensor"))? {
        return Ok(Some(tensor.into_data()));
    }
    if let Some(items) = call.texts(&name("strings"))?.filter(|items| !items.is_empty()) {
        return Ok(Some(text(items)));
    }
    if let Some(items) = call.ints(&name("int64s"))?.filter(|items| !items.is_empty()) {
        return Ok(Some(Data::Int64(items)));
    }
    Ok(call.float_list(&name("floats"))?.map(Data::Float32))
}

/// The default of values of a type.
fn default(call: &NodeCall, dtype: DType) -> Result<Data, EvalError> {
    if let Some(tensor) =
        call.tensor_attribute("default_tensor")?.filter(|tensor| tensor.dtype() == dtype && tensor.len() == 1)
    {
        return Ok(tensor.into_data());
    }
    Ok(match dtype {
        DType::Text => text(vec![call.text_or("default_string", "_Unused")?]),
        dtype if dtype.is_float() => Data::from_floats(dtype, std::iter::once(call.float_or("default_float", -0.0)?)),
        dtype => Data::from_wide(dtype, std::iter::once(i128::from(call.int_or("default_int64", -1)?))),
    })
}

/// Looks up each item among keys, and takes the value at the same place or the default. The last of equal keys counts.
fn looked_up(call: &NodeCall, x: &Tensor, keys: &Data, mut values: Data) -> KernelResult {
    if keys.len() != values.len() {
        return Err(call.misfit(format!("{} keys for {} values", keys.len(), values.len())));
    }
    if keys.dtype().is_float() != x.dtype().is_float() || (keys.dtype() == DType::Text) != (x.dtype() == DType::Text) {
        return Err(call.refused(format!("keys of type {} for items of type {}", keys.dtype(), x.dtype())));
    }
    values.append(&default(call, values.dtype())?);
    let places: FxHashMap<Key, usize> = (0..keys.len()).map(|i| (Key::at(keys, i), i)).collect();
    call.budget.room(x.shape())?;
    let place = |i: usize| places.get(&Key::at(x.data(), i)).copied().unwrap_or(keys.len());
    one(call.made(x.shape(), values.pick((0..x.len()).map(place)))?)
}

/// Texts for their numbers, or numbers for texts.
fn mapped(call: &NodeCall, numbers: Vec<i64>, texts: Vec<String>) -> KernelResult {
    let (x, numbers, texts) = (call.tensor(0)?, Data::Int64(numbers), text(texts));
    match x.dtype() {
        DType::Text => looked_up(call, x, &texts, numbers),
        _ => looked_up(call, x, &numbers, texts),
    }
}

/// `LabelEncoder`.
pub(in crate::onnx) fn label_encoder(call: &NodeCall) -> KernelResult {
    if let Some(classes) = call.texts("classes_strings")?.filter(|_| call.version < 2) {
        return mapped(call, (0..classes.len() as i64).collect(), classes);
    }
    let missing = || call.refused("there are no keys or no values");
    let (keys, values) = (values(call, "keys")?.ok_or_else(missing)?, values(call, "values")?.ok_or_else(missing)?);
    looked_up(call, call.tensor(0)?, &keys, values)
}

/// `CategoryMapper`.
pub(in crate::onnx) fn category_mapper(call: &NodeCall) -> KernelResult {
    mapped(call, call.ints("cats_int64s")?.unwrap_or_default(), call.texts("cats_strings")?.unwrap_or_default())
}

/// `OneHotEncoder`.
pub(in crate::onnx) fn one_hot_encoder(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let keys = match call.texts("cats_strings")?.filter(|texts| !texts.is_empty()) {
        Some(texts) => text(texts),
        None => Data::Int64(call.ints("cats_int64s")?.unwrap_or_default()),
    };
    let places: FxHashMap<Key, usize> = (0..keys.len()).map(|i| (Key::at(&keys, i), i)).collect();
    let items = match (x.dtype(), keys.dtype()) {
        (DType::Text, DType::Text) => x.data().clone(),
        (DType::Text, _) | (_, DType::Text) => return Err(call.refused("items and categories differ in their type")),
        (dtype, _) if dtype.is_float() => Data::Int64((0..x.len()).map(|i| x.data().float(i) as i64).collect()),
        _ => Data::Int64(integers(x)?),
    };
    let shape = [x.shape(), &[keys.len()]].concat();
    let mut result = vec![0.0; call.budget.room(&shape)?];
    let zeros = call.flag("zeros", true)?;
    for i in 0..x.len() {
        match places.get(&Key::at(&items, i)) {
            Some(place) => result[i * keys.len() + place] = 1.0,
            None if zeros => {}
            None => return Err(call.refused("an item has no category")),
        }
    }
    one(call.made(&shape, Data::Float32(result))?)
}
