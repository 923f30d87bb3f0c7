//! Conversions between element types that change no value.

use std::fmt::Display;

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
        let lost = |item: &dyn Display| TensorError::new(format!("{item} is not of type {to}"));
        if let (Data::Complex64(items), DType::Complex128) = (self.data(), to) {
            let wide = items.iter().map(|item| item.map(f64::from)).collect();
            return Tensor::with(self.shape(), Data::Complex128(wide));
        }
        if from == DType::Text || from.is_complex() || to == DType::Text {
            return Err(TensorError::new(format!("items of type {from} are not of type {to}")));
        }
        let data = self.data();
        let places = 0..data.len();
        let converted = match to.range() {
            Some((least, greatest)) => {
                let item = |at: usize| {
                    let value = data.float(at);
                    let whole = !from.is_float() || value.fract() == 0.0 && value.abs() < 2f64.powi(64);
                    let item = if from.is_float() { value as i128 } else { data.wide(at) };
                    let fits = whole && (least..=greatest).contains(&item);
                    if fits { Ok(item) } else { Err(lost(&value)) }
                };
                Data::from_wide(to, places.map(item).collect::<Result<Vec<_>, _>>()?.into_iter())
            }
            None => {
                let converted = Data::from_floats(to, places.clone().map(|at| data.float(at)));
                let same = |at: usize| {
                    let (before, after) = (data.float(at), converted.float(at));
                    let whole = from.is_float() || data.wide(at) == after as i128;
                    before == after && whole || before.is_nan() && after.is_nan()
                };
                match places.into_iter().find(|&at| !same(at)) {
                    Some(at) => return Err(lost(&data.float(at))),
                    None => converted,
                }
            }
        };
        Tensor::with(self.shape(), converted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
