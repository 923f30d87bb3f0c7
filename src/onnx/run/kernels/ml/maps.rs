//! Maps: made of rows of numbers, and vectors of them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::labels::{Key, text};
use crate::eval::EvalError;
use crate::onnx::run::node_call::{KernelResult, NodeCall, integers, one};
use crate::tensor::value::{MapValue, RunValue, SLOT, TENSOR};
use crate::tensor::{DType, Data, Tensor};

/// An operand that is a map.
fn map<'c>(call: &'c NodeCall) -> Result<&'c Arc<MapValue>, EvalError> {
    match call.value(0)? {
        RunValue::Map(map) => Ok(map),
        other => Err(call.refused(format!("the operand is {}, not a map", other.kind()))),
    }
}

/// `ZipMap`: a map from labels to the numbers of each row.
pub(in crate::onnx) fn zip_map(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let texts = call.texts("classlabels_strings")?.filter(|texts| !texts.is_empty());
    let integers = call.ints("classlabels_int64s")?.filter(|integers| !integers.is_empty());
    let labels = match (texts, integers) {
        (Some(texts), None) => text(texts),
        (None, Some(integers)) => Data::Int64(integers),
        _ => return Err(call.refused("the labels are neither texts nor integers")),
    };
    let (rows, columns) = match *x.shape() {
        [columns] => (1, columns),
        [rows, columns] => (rows, columns),
        _ => return Err(call.misfit(format!("numbers of shape {:?}", x.shape()))),
    };
    if columns != labels.len() {
        return Err(call.misfit(format!("{} labels for {columns} numbers", labels.len())));
    }
    let weight = labels.weight().saturating_add(columns).saturating_add(2 * TENSOR + SLOT);
    call.budget.memory(rows.saturating_mul(weight), "the maps")?;
    let keys = Tensor::with(&[columns], labels)?;
    let row = |row: usize| -> Result<RunValue, EvalError> {
        let values = x.data().pick(row * columns..(row + 1) * columns);
        Ok(RunValue::map(MapValue::new(&keys, &Tensor::with(&[columns], values)?)?))
    };
    Ok(vec![RunValue::sequence((0..rows).map(row).collect::<Result<_, _>>()?)])
}

/// The data of a type that `CastMap` makes of values.
fn cast(call: &NodeCall, data: &Data) -> Result<Data, EvalError> {
    let dtype = match &*call.text_or("cast_to", "TO_FLOAT")? {
        "TO_FLOAT" => DType::Float32,
        "TO_INT64" => DType::Int64,
        "TO_STRING" => DType::Text,
        other => return Err(call.refused(format!("`cast_to` is '{other}'"))),
    };
    let Data::Text(texts) = data else {
        return Ok(match dtype {
            DType::Text => Data::from_floats(dtype, (0..data.len()).map(|at| data.float(at))),
            dtype if data.dtype().is_float() || dtype.is_float() => {
                Data::from_floats(dtype, (0..data.len()).map(|at| data.float(at)))
            }
            dtype => Data::from_wide(dtype, (0..data.len()).map(|at| data.wide(at))),
        });
    };
    let number =
        |text: &Arc<str>| text.trim().parse::<f64>().map_err(|_| call.refused(format!("'{text}' is not a number")));
    match dtype {
        DType::Text => Ok(data.clone()),
        dtype => Ok(Data::from_floats(dtype, texts.iter().map(number).collect::<Result<Vec<_>, _>>()?.into_iter())),
    }
}

/// `CastMap`: the values in the order of the keys, or each at the place that its key says.
pub(in crate::onnx) fn cast_map(call: &NodeCall) -> KernelResult {
    let map = map(call)?;
    let mut values = cast(call, map.values().data())?;
    let places: Vec<usize> = match &*call.text_or("map_form", "DENSE")? {
        "DENSE" => (0..values.len()).collect(),
        "SPARSE" => {
            let most = call.int_or("max_map", 1)?;
            let most = usize::try_from(most).map_err(|_| call.refused(format!("`max_map` is {most}")))?;
            call.budget.room(&[1, most])?;
            let nothing = values.len();
            values.append(&Data::zeros(values.dtype(), 1));
            let mut places = vec![nothing; most];
            for (i, key) in integers(map.keys())?.into_iter().enumerate() {
                let place = usize::try_from(key).map_err(|_| call.refused(format!("the key {key}")))?;
                // A key beyond the last place is left out.
                if let Some(into) = places.get_mut(place) {
                    *into = i;
                }
            }
            places
        }
        other => return Err(call.refused(format!("`map_form` is '{other}'"))),
    };
    let shape = [1, call.budget.room(&[places.len()])?];
    one(call.made(&shape, values.pick(places.into_iter()))?)
}

/// `DictVectorizer`: the values of a list of keys, and zero for those that are not in the map.
pub(in crate::onnx) fn dict_vectorizer(call: &NodeCall) -> KernelResult {
    let map = map(call)?;
    let wanted = match call.texts("string_vocabulary")?.filter(|texts| !texts.is_empty()) {
        Some(texts) => text(texts),
        None => Data::Int64(call.ints("int64_vocabulary")?.unwrap_or_default()),
    };
    let (keys, mut values) = (map.keys().data(), map.values().data().clone());
    if (keys.dtype() == DType::Text) != (wanted.dtype() == DType::Text) {
        return Err(call.refused("keys of the map and of the vocabulary differ in their type"));
    }
    let nothing = values.len();
    values.append(&Data::zeros(values.dtype(), 1));
    let places: FxHashMap<Key, usize> = (0..keys.len()).map(|at| (Key::at(keys, at), at)).collect();
    let shape = [1, call.budget.room(&[wanted.len()])?];
    let place = |at: usize| places.get(&Key::at(&wanted, at)).copied().unwrap_or(nothing);
    one(call.made(&shape, values.pick((0..wanted.len()).map(place)))?)
}
