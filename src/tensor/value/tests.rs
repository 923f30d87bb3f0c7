//! What is written is read back equal.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::tensor::{NarrowFloat, npy, npz};

/// Types of tensors, with what NumPy lacks.
const TYPES: &[DType] = &[
    DType::Float32,
    DType::Float64,
    DType::FLOAT16,
    DType::Narrow(NarrowFloat::BFloat16),
    DType::Int32,
    DType::Int64,
    DType::INT8,
    DType::Uint32,
    DType::Uint64,
    DType::Bool,
    DType::Complex64,
    DType::Text,
];

/// A text: of numbers, of other characters, or empty. NumPy takes zeros at its end for nothing.
fn word(seed: i64) -> Arc<str> {
    match seed.rem_euclid(4) {
        0 => "".into(),
        1 => "ß \" \\ \n [0].keys".into(),
        2 => "null".into(),
        _ => seed.to_string().into(),
    }
}

fn data(of: DType, seeds: &[i64]) -> Data {
    match of {
        DType::Text => Data::Text(seeds.iter().map(|seed| word(*seed)).collect()),
        of if of.is_integer() || of == DType::Bool => Data::from_wide(of, seeds.iter().map(|seed| i128::from(*seed))),
        of => Data::from_floats(
            of,
            seeds.iter().map(|seed| match seed.rem_euclid(7) {
                0 => f64::INFINITY,
                1 => -0.0,
                _ => *seed as f64 / 16.0,
            }),
        ),
    }
}

fn tensors(of: DType) -> impl Strategy<Value = Tensor> {
    let filled = move |(shape, seeds): (Vec<usize>, Vec<i64>)| {
        let count: usize = shape.iter().product();
        Tensor::with(&shape, data(of, &seeds[..count])).unwrap()
    };
    (prop::collection::vec(0..3usize, 0..3), prop::collection::vec(-99..99i64, 9)).prop_map(filled)
}

/// A form, and a value of it.
fn values() -> impl Strategy<Value = (ValueForm, RunValue)> {
    let one = prop::sample::select(TYPES);
    let tensor = one
        .clone()
        .prop_flat_map(|of| tensors(of).prop_map(move |made| (ValueForm::Tensor(Some(of)), RunValue::from(made))));
    let keys = prop::sample::select(&[DType::Int64, DType::Text, DType::INT8][..]);
    let map = (keys, one, prop::collection::vec(-9..9i64, 0..5)).prop_map(|(key, value, seeds)| {
        let of = |dtype| Tensor::with(&[seeds.len()], data(dtype, &seeds)).unwrap();
        let made = MapValue::new(&of(key), &of(value)).unwrap();
        (ValueForm::Map { key, value }, RunValue::map(made))
    });
    prop_oneof![3 => tensor, 2 => map].prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_flat_map(|(form, value)| (0..4usize).prop_map(move |count| {
                // Equal items suffice: each is written apart.
                let items = vec![value.clone(); count];
                (ValueForm::Sequence(Box::new(form.clone())), RunValue::sequence(items))
            })),
            (inner, any::<bool>()).prop_map(|((form, value), has)| {
                // An optional of an optional is not a type of ONNX.
                let (form, value) = match (form, value) {
                    (ValueForm::Optional(form), RunValue::Optional(Some(value))) => (*form, *value),
                    (ValueForm::Optional(form), _) => (*form, RunValue::Optional(None)),
                    other => other,
                };
                let value = match value {
                    RunValue::Optional(None) => RunValue::Optional(None),
                    value => RunValue::Optional(has.then(|| Box::new(value))),
                };
                (ValueForm::Optional(Box::new(form)), value)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn json_comes_back((form, value) in values()) {
        let mut bytes = Vec::new();
        to_json([("x", &value)], &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let inner = text.trim().strip_prefix("{\"outputs\": ").unwrap().strip_suffix('}').unwrap();
        let found = from_json(inner, &|name| (name == "x").then(|| form.clone())).unwrap();
        prop_assert_eq!(&found, &[("x".to_owned(), value.clone())], "{}", text);
        prop_assert_eq!(form.fit(found[0].1.clone()), Ok(value));
    }

    #[test]
    fn archives_come_back((form, value) in values()) {
        let members = members("x", &value);
        let named = members.iter().map(|(name, tensor)| (name.as_str(), &**tensor));
        let bytes = npz::write_as(named, npy::exact::write).unwrap();
        let arrays = npz::read_exact(&bytes, u64::MAX, &mut |_| Ok::<_, TensorError>(true)).unwrap();
        let mut found = assembled(arrays, [("x", &form)]).unwrap();
        prop_assert_eq!(found.len(), 1);
        // Types that NumPy lacks are wider in the archive.
        prop_assert_eq!(form.fit(found.remove(0).1), Ok(value));
    }
}

fn map(keys: &[&str], values: &[i64]) -> Result<MapValue, TensorError> {
    let keys = Tensor::with(&[keys.len()], Data::Text(keys.iter().map(|key| Arc::from(*key)).collect()))?;
    MapValue::new(&keys, &Tensor::integers(&[values.len()], values.into())?)
}

#[test]
fn maps_have_an_order_and_no_key_twice() {
    let found = map(&["b", "a", "b"], &[1, 2, 3]).unwrap();
    assert_eq!(found, map(&["a", "b"], &[2, 3]).unwrap());
    assert_eq!(map(&["a"], &[1, 2]).unwrap_err().0, "keys of shape [1] do not fit values of shape [2]");
    let floats = Tensor::scalars(&[1], vec![0.5]).unwrap();
    assert_eq!(MapValue::new(&floats, &floats).unwrap_err().0, "keys of a map have the type float64");
}

#[test]
fn other_values_are_refused() {
    let sequence = ValueForm::Sequence(Box::new(ValueForm::Map { key: DType::Int64, value: DType::Float32 }));
    let optional = ValueForm::Optional(Box::new(sequence.clone()));
    let array = "where a sequence is declared: write an array of its items";
    let object = "where a map is declared: write an object of two arrays, `keys` and `values`";
    for (form, text, message) in [
        (&sequence, "1", &format!("an integer {array}")),
        (&sequence, "null", &format!("null {array}")),
        (&sequence, "[null]", &format!("null {object}")),
        (&sequence, r#"{"keys": [1], "values": [2]}"#, &format!("an object {array}")),
        (&sequence, r#"[{"keys": [1]}]"#, &format!("an object {object}")),
        (
            &sequence,
            r#"[{"keys": [1, 2], "values": [2]}]"#,
            &"keys of shape [2] do not fit values of shape [1]".to_owned(),
        ),
        (&sequence, r#"[{"keys": ["a"], "values": [2]}]"#, &"a string that int64 does not have".to_owned()),
        (&optional, r#"[null]"#, &format!("null {object}")),
    ] {
        let found = from_json(&format!("{{\"x\": {text}}}"), &|_| Some(form.clone()));
        assert_eq!(found.unwrap_err().1, format!("`x`: {message}"), "{text}");
    }
    let array = || Tensor::integers(&[1], vec![1]).unwrap();
    let missing = assembled(vec![("x[0].keys".into(), array())], [("x", &sequence)]).unwrap_err().0;
    assert_eq!(missing, "there is no array `x[0].values`");
    // What is no part of a declared value keeps its name.
    let rest = assembled(vec![("x[1].keys".into(), array())], [("x", &sequence)]).unwrap();
    assert_eq!(rest[0].0, "x[1].keys");
    assert_eq!(sequence.fit(array().into()).unwrap_err().0, "a tensor, where a sequence is declared");
}
