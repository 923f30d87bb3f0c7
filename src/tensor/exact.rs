//! Conversions between element types that change no value.

use std::num::FpCategory;

use super::{DType, Data, Tensor, TensorError};

impl Tensor {
    /// Converts to another element type, if no value changes: between numbers, 0 and 1 as logicals, and real numbers as
    /// complex ones. NaN stays NaN.
    ///
    /// # Errors
    ///
    /// A value cannot be represented in the other type.
    pub(crate) fn exactly(self, to: DType) -> Result<Tensor, TensorError> {
        let from = self.dtype();
        if from == to {
            return Ok(self);
        }
        if let (Data::Complex64(items), DType::Complex128) = (self.data(), to) {
            let wide = items.iter().map(|item| item.map(f64::from)).collect();
            return Tensor::with(self.shape(), Data::Complex128(wide));
        }
        if from == DType::Text || from.is_complex() || to == DType::Text {
            return Err(TensorError::new(format!("items of type {from} are not of type {to}")));
        }
        let data = self.data();
        let lost = |at: usize| lost(data, at, to);
        let places = 0..data.len();
        let converted = match to.range() {
            Some((least, greatest)) => {
                let item = |at: usize| {
                    let value = data.float(at);
                    let whole = !from.is_float() || value.fract() == 0.0 && value.abs() < 2f64.powi(64);
                    let item = if from.is_float() { value as i128 } else { data.wide(at) };
                    (whole && (least..=greatest).contains(&item)).then_some(item)
                };
                match places.clone().find(|&at| item(at).is_none()) {
                    Some(at) => return Err(lost(at)),
                    None => Data::from_wide(to, places.map(|at| item(at).unwrap_or_default())),
                }
            }
            None => {
                let converted = Data::from_floats(to, places.clone().map(|at| data.float(at)));
                let same = |at: usize| {
                    let (before, after) = (data.float(at), converted.float(at));
                    let whole = from.is_float() || data.wide(at) == after as i128;
                    before == after && whole || before.is_nan() && after.is_nan()
                };
                match places.into_iter().find(|&at| !same(at)) {
                    Some(at) => return Err(lost(at)),
                    None => converted,
                }
            }
        };
        Tensor::with(self.shape(), converted)
    }

    /// Converts a value that a user gives: as [`Self::exactly`], but the parts of real and complex numbers may be rounded,
    /// where finite ones stay finite.
    ///
    /// # Errors
    ///
    /// A value cannot be represented in the other type.
    pub(crate) fn rounded(self, to: DType) -> Result<Tensor, TensorError> {
        let from = self.dtype();
        let converted = match (self.data(), to) {
            (Data::Complex128(items), DType::Complex64) => {
                Data::Complex64(items.iter().map(|item| item.map(|part| part as f32)).collect())
            }
            (items, _) if from != to && from.is_float() && to.is_float() => {
                Data::from_floats(to, (0..items.len()).map(|at| items.float(at)))
            }
            _ => return self.exactly(to),
        };
        let kind = |data: &Data, at: usize| match data {
            Data::Complex64(items) => items[at].map(f32::classify).map(kind_of),
            Data::Complex128(items) => items[at].map(f64::classify).map(kind_of),
            _ => [kind_of(data.float(at).classify()); 2],
        };
        match (0..converted.len()).find(|&at| kind(self.data(), at) != kind(&converted, at)) {
            Some(at) => Err(lost(self.data(), at, to)),
            None => Tensor::with(self.shape(), converted),
        }
    }
}

/// What stays of a number when it is rounded: whether it is finite, infinite or none.
fn kind_of(of: FpCategory) -> FpCategory {
    match of {
        FpCategory::Nan | FpCategory::Infinite => of,
        FpCategory::Zero | FpCategory::Subnormal | FpCategory::Normal => FpCategory::Normal,
    }
}

/// The error for an item that a type does not have.
fn lost(data: &Data, at: usize, to: DType) -> TensorError {
    let item = match data {
        Data::Complex64(items) => format!("{:?}", items[at]),
        Data::Complex128(items) => format!("{:?}", items[at]),
        _ if data.dtype().is_float() => format!("{:?}", data.float(at)),
        _ => data.wide(at).to_string(),
    };
    TensorError::new(format!("{item} is not of type {to}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::NarrowFloat;

    #[test]
    fn what_is_given_is_rounded_but_stays_finite() {
        let given = |data: Data, to: DType| Tensor::new(&[1], data).unwrap().rounded(to).map(Tensor::into_data);
        assert_eq!(given(Data::Float64(vec![0.1]), DType::Float32), Ok(Data::Float32(vec![0.1])));
        assert_eq!(given(Data::Float64(vec![f64::INFINITY]), DType::Float32), Ok(Data::Float32(vec![f32::INFINITY])));
        assert_eq!(given(Data::Complex128(vec![[0.1, 2.0]]), DType::Complex64), Ok(Data::Complex64(vec![[0.1, 2.0]])));
        for (data, to, why) in [
            (Data::Float64(vec![1e300]), DType::Float32, "is not of type float32"),
            (Data::Float32(vec![70000.0]), DType::FLOAT16, "70000.0 is not of type float16"),
            (Data::Int64(vec![1000]), DType::Narrow(NarrowFloat::Float8E4M3Fn), "1000 is not of type float8e4m3fn"),
            (Data::Float64(vec![f64::INFINITY]), DType::Narrow(NarrowFloat::Float8E4M3Fn), "inf is not of type"),
            (Data::Int64(vec![(1 << 24) + 1]), DType::Float32, "16777217 is not of type float32"),
            (Data::Uint64(vec![1 << 63]), DType::Int64, "9223372036854775808 is not of type int64"),
            (Data::Text(vec!["1".into()]), DType::Float32, "items of type string are not of type float32"),
            (Data::Complex64(vec![[1.0, 2.0]]), DType::Float32, "items of type complex64 are not of type float32"),
            (Data::Complex128(vec![[1e300, 0.0]]), DType::Complex64, "[1e300, 0.0] is not of type complex64"),
        ] {
            let error = given(data.clone(), to).unwrap_err().0;
            assert!(error.contains(why), "{data:?} {to}: {error}");
        }
    }

    #[test]
    fn only_values_that_stay_are_converted() {
        let converts = |data: Data, to: DType| Tensor::new(&[1], data).unwrap().exactly(to).is_ok();
        for (data, to, fits) in [
            (Data::Float32(vec![0.5]), DType::Int64, false),
            (Data::Float32(vec![3.0]), DType::UINT8, true),
            (Data::Float32(vec![256.0]), DType::UINT8, false),
            (Data::Float64(vec![0.1]), DType::Float32, false),
            (Data::Float64(vec![f64::NAN]), DType::FLOAT16, true),
            (Data::Int64(vec![(1 << 53) + 1]), DType::Float64, false),
            (Data::Int64(vec![-1]), DType::Uint64, false),
            (Data::Uint64(vec![u64::MAX]), DType::Int64, false),
            (Data::Int32(vec![1]), DType::Bool, true),
            (Data::Bool(vec![true]), DType::Float32, true),
            (Data::Int32(vec![1]), DType::Text, false),
            (Data::Int32(vec![1]), DType::Complex64, true),
        ] {
            assert_eq!(converts(data.clone(), to), fits, "{data:?} {to}");
        }
        let given = |data: Data, to: DType| Tensor::new(&[1], data).unwrap().exactly(to).map(Tensor::into_data);
        assert_eq!(given(Data::Bool(vec![true]), DType::Float32), Ok(Data::Float32(vec![1.0])));
        assert_eq!(given(Data::Int32(vec![1]), DType::Bool), Ok(Data::Bool(vec![true])));
        assert_eq!(given(Data::Int32(vec![1]), DType::Complex64), Ok(Data::Complex64(vec![[1.0, 0.0]])));
        assert_eq!(given(Data::Float32(vec![3.0]), DType::UINT8).map(|data| data.float(0)), Ok(3.0));
    }
}
