//! Values as arrays with names: the members of an archive.
//!
//! The items of a sequence `y` are `y[0]`, `y[1]`, and so on, a map `y` is `y.keys` and `y.values`. A sequence without
//! items is `y[]`, and an optional without a value `y.none`: both have an empty array.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{MapValue, RunValue, ValueForm};
use crate::tensor::{Data, Tensor, TensorError};

/// An array without items, which says that something is not there.
fn nothing() -> Arc<Tensor> {
    Arc::new(Tensor { shape: [0].into_iter().collect(), data: Data::Bool(Vec::new()) })
}

/// The arrays of a value with a name.
pub(crate) fn members(name: &str, value: &RunValue) -> Vec<(String, Arc<Tensor>)> {
    let mut found = Vec::new();
    add(name.to_owned(), value, &mut found);
    found
}

fn add(name: String, value: &RunValue, found: &mut Vec<(String, Arc<Tensor>)>) {
    match value {
        RunValue::Tensor(tensor) => found.push((name, tensor.clone())),
        RunValue::Sequence(items) if items.is_empty() => found.push((name + "[]", nothing())),
        RunValue::Sequence(items) => {
            items.iter().enumerate().for_each(|(i, item)| add(format!("{name}[{i}]"), item, found));
        }
        RunValue::Map(map) => {
            found.push((format!("{name}.keys"), Arc::new(map.keys().clone())));
            found.push((format!("{name}.values"), Arc::new(map.values().clone())));
        }
        RunValue::Optional(None) => found.push((name + ".none", nothing())),
        RunValue::Optional(Some(value)) => add(name, value, found),
    }
}

/// The values of declared names that arrays are the parts of. Arrays that are no parts of them keep their names.
///
/// # Errors
///
/// The keys of a map do not fit its values.
pub(crate) fn assembled<'f>(
    arrays: Vec<(String, Tensor)>,
    declared: impl IntoIterator<Item = (&'f str, &'f ValueForm)>,
) -> Result<Vec<(String, RunValue)>, TensorError> {
    let mut rest: Vec<Option<(String, Tensor)>> = arrays.into_iter().map(Some).collect();
    let place = |(i, array): (usize, &Option<(String, Tensor)>)| array.as_ref().map(|(name, _)| (name.clone(), i));
    let places: FxHashMap<String, usize> = rest.iter().enumerate().filter_map(place).collect();
    let mut take = |name: &str| Some(rest[*places.get(name)?].take()?.1);
    let mut found = Vec::new();
    for (name, form) in declared {
        if let Some(value) = taken(name, form, &mut take)? {
            found.push((name.to_owned(), value));
        }
    }
    found.extend(rest.into_iter().flatten().map(|(name, tensor)| (name, tensor.into())));
    Ok(found)
}

/// Takes the value with a name; none if there is nothing of it.
fn taken(
    name: &str,
    form: &ValueForm,
    take: &mut dyn FnMut(&str) -> Option<Tensor>,
) -> Result<Option<RunValue>, TensorError> {
    Ok(match form {
        ValueForm::Tensor(_) => take(name).map(RunValue::from),
        ValueForm::Sequence(form) => {
            let mut items = Vec::new();
            while let Some(item) = taken(&format!("{name}[{}]", items.len()), form, take)? {
                items.push(item);
            }
            let is_empty = items.is_empty() && take(&format!("{name}[]")).is_some();
            (is_empty || !items.is_empty()).then(|| RunValue::sequence(items))
        }
        ValueForm::Map { .. } => match (take(&format!("{name}.keys")), take(&format!("{name}.values"))) {
            (None, None) => None,
            (Some(keys), Some(values)) => {
                let map = MapValue::new(&keys, &values);
                Some(RunValue::map(map.map_err(|error| TensorError::new(format!("`{name}`: {}", error.0)))?))
            }
            (None, _) => return Err(TensorError::new(format!("there is no array `{name}.keys`"))),
            (_, None) => return Err(TensorError::new(format!("there is no array `{name}.values`"))),
        },
        ValueForm::Optional(form) => match take(&format!("{name}.none")) {
            Some(_) => Some(RunValue::Optional(None)),
            None => taken(name, form, take)?.map(|value| RunValue::Optional(Some(Box::new(value)))),
        },
    })
}
