//! Values as JSON. A tensor is an object with its type, its shape and its data, or nested arrays alone; a sequence is an
//! array of values; a map is an object of two arrays, `keys` and `values`; an optional without a value is `null`.

use std::io::{self, Write};

use super::{MapValue, RunValue, ValueForm};
use crate::source::json::{Json, JsonValue};
use crate::tensor::json::{Misfit, Style, named, object, outputs, tensor_of};
use crate::tensor::{DType, Tensor};

/// Reads a value of a declared form; `whole` is the whole text.
///
/// # Errors
///
/// The value has another form, or an item that the declared type does not have.
fn value(whole: &str, json: &Json, form: &ValueForm) -> Result<RunValue, Misfit> {
    let wrong = |what: &str| (json.at, format!("{} where {form} is declared: {what}", json.kind()));
    match form {
        ValueForm::Tensor(dtype) => Ok(tensor_of(whole, json, *dtype)?.into()),
        ValueForm::Sequence(form) => {
            let items = json.as_array().ok_or_else(|| wrong("write an array of its items"))?;
            let items = items.iter().map(|item| value(whole, item, form)).collect::<Result<_, _>>()?;
            Ok(RunValue::sequence(items))
        }
        ValueForm::Map { key, value } => {
            let parts = (json.get("keys"), json.get("values"));
            let (Some(keys), Some(values)) = parts else {
                return Err(wrong("write an object of two arrays, `keys` and `values`"));
            };
            let read = |json: &Json, dtype: DType| -> Result<Tensor, Misfit> { tensor_of(whole, json, Some(dtype)) };
            let map = MapValue::new(&read(keys, *key)?, &read(values, *value)?);
            Ok(RunValue::map(map.map_err(|error| (json.at, error.0))?))
        }
        ValueForm::Optional(_) if json.value == JsonValue::Null => Ok(RunValue::Optional(None)),
        ValueForm::Optional(form) => Ok(RunValue::Optional(Some(Box::new(value(whole, json, form)?)))),
    }
}

/// Reads an object that maps names to values of the forms of a function.
///
/// # Errors
///
/// The text is not a JSON object, or a value has another form or an item that its type does not have.
pub(crate) fn from_json(
    text: &str,
    form: &dyn Fn(&str) -> Option<ValueForm>,
) -> Result<Vec<(String, RunValue)>, Misfit> {
    named(text, |name, json| match form(name) {
        Some(form) => value(text, json, &form),
        None => tensor_of(text, json, None).map(RunValue::from),
    })
}

/// Writes `{"outputs": {name: value}}`, tensors with their types.
///
/// # Errors
///
/// Writing failed.
pub(crate) fn to_json<'a>(
    values: impl IntoIterator<Item = (&'a str, &'a RunValue)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    outputs(values, out, write_one)
}

fn write_one(value: &RunValue, out: &mut dyn Write) -> io::Result<()> {
    match value {
        RunValue::Tensor(tensor) => object(tensor, Style::Exact, out),
        RunValue::Sequence(items) => {
            out.write_all(b"[")?;
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.write_all(b", ")?;
                }
                write_one(item, out)?;
            }
            out.write_all(b"]")
        }
        RunValue::Map(map) => {
            out.write_all(b"{\"keys\": ")?;
            object(map.keys(), Style::Exact, out)?;
            out.write_all(b", \"values\": ")?;
            object(map.values(), Style::Exact, out)?;
            out.write_all(b"}")
        }
        RunValue::Optional(None) => out.write_all(b"null"),
        RunValue::Optional(Some(value)) => write_one(value, out),
    }
}
