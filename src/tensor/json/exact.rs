//! Tensors of all element types from JSON.

use super::{Json, JsonValue, Misfit, convert, float, nest, shape_of, text, truth};
use crate::tensor::{DType, Data, Tensor};

/// Reads a tensor of a type from a number, nested arrays of numbers, or an object with them as `data` and its `shape`;
/// `whole` is the whole text. A complex number is an array of its parts.
///
/// # Errors
///
/// The value is something else, its parts differ in length, or the type does not have a number.
pub(super) fn typed(whole: &str, json: &Json, dtype: DType) -> Result<Tensor, Misfit> {
    if let Some(data) = json.get("data") {
        let tensor = typed(whole, data, dtype)?;
        let Some(wanted) = json.get("shape") else { return Ok(tensor) };
        let shape = shape_of(wanted).ok_or_else(|| (wanted.at, "`shape` is not an array of extents".to_owned()))?;
        return tensor.reshaped(&shape).map_err(|error| (wanted.at, error.0));
    }
    let (mut shape, items) = nest(json)?;
    let data = match dtype {
        DType::Text => Data::Text(convert(&items, dtype, text)?),
        DType::Bool => Data::Bool(convert(&items, dtype, truth)?),
        DType::Complex64 | DType::Complex128 => {
            // Without items there are no pairs in the text.
            if !items.is_empty() && shape.pop() != Some(2) {
                return Err((json.at, "complex numbers are not pairs".to_owned()));
            }
            let parts: Vec<f64> = convert(&items, dtype, float)?;
            let pairs = parts.as_chunks::<2>().0;
            match dtype {
                DType::Complex64 => Data::Complex64(pairs.iter().map(|pair| pair.map(|part| part as f32)).collect()),
                _ => Data::Complex128(pairs.to_vec()),
            }
        }
        // A number with a point is a whole one if its fraction is 0; large ones are read from the text.
        _ => match dtype.range() {
            Some((least, greatest)) => {
                let item = |item: &&Json| {
                    let number = match &item.value {
                        JsonValue::Int(number) => Some(i128::from(*number)),
                        JsonValue::Float(number) => {
                            let text = whole.get(item.at.start as usize..item.at.end as usize);
                            let exact = text.and_then(|text| text.trim().parse().ok());
                            exact.or((number.fract() == 0.0 && number.abs() < 9e15).then_some(*number as i128))
                        }
                        _ => None,
                    };
                    let wrong = || (item.at, format!("{} that {dtype} does not have", item.kind()));
                    number.filter(|number| (least..=greatest).contains(number)).ok_or_else(wrong)
                };
                Data::from_wide(dtype, items.iter().map(item).collect::<Result<Vec<_>, _>>()?.into_iter())
            }
            None => Data::from_floats(dtype, convert(&items, dtype, float)?.into_iter()),
        },
    };
    Tensor::with(&shape, data).map_err(|error| (json.at, error.0))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::tensor::SmallInt;

    #[test]
    fn numbers_are_read_in_their_type() {
        let read = |text: &str, dtype| typed(text, &parse(text).unwrap(), dtype).map(Tensor::into_data);
        assert_eq!(read("[18446744073709551615]", DType::Uint64), Ok(Data::Uint64(vec![u64::MAX])));
        assert_eq!(read("[1.0, 2]", DType::INT8), Ok(Data::Small(SmallInt::Int8, vec![1, 2])));
        assert_eq!(read("[[1, 2.5]]", DType::Complex64), Ok(Data::Complex64(vec![[1.0, 2.5]])));
        assert_eq!(read(r#"["a"]"#, DType::Text), Ok(Data::Text(vec!["a".into()])));
        assert_eq!(read("[1.1]", DType::FLOAT16).unwrap().float(0), 1.099609375);
        for (text, dtype) in
            [("[0.5]", DType::Int64), ("[256]", DType::UINT8), ("[1]", DType::Text), ("[-1]", DType::Uint64)]
        {
            assert!(read(text, dtype).is_err(), "{text}");
        }
    }
}
