//! The numbers of a quantization: one for the tensor, or one for each channel.

use crate::graph::Value;

/// Numbers along the first axes of a tensor; a single one applies to all items.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChannelNumbers {
    pub(super) dims: Vec<i64>,
    pub(super) items: Vec<f64>,
}

impl ChannelNumbers {
    /// The numbers of a literal; none if it has others than numbers, or arrays of different shapes.
    pub(super) fn of(value: &Value) -> Option<ChannelNumbers> {
        match value {
            Value::Int(item) => Some(ChannelNumbers { dims: Vec::new(), items: vec![*item as f64] }),
            Value::Scalar(item) => Some(ChannelNumbers { dims: Vec::new(), items: vec![*item] }),
            Value::Integers(items) => Some(ChannelNumbers::list(items.iter().map(|item| *item as f64).collect())),
            Value::Scalars(items) => Some(ChannelNumbers::list(items.to_vec())),
            Value::Array(parts) => {
                let parts = parts.iter().map(ChannelNumbers::of).collect::<Option<Vec<_>>>()?;
                let inner = parts.first()?.dims.clone();
                if parts.iter().any(|part| part.dims != inner) {
                    return None;
                }
                let dims = [parts.len() as i64].into_iter().chain(inner).collect();
                Some(ChannelNumbers { dims, items: parts.into_iter().flat_map(|part| part.items).collect() })
            }
            _ => None,
        }
    }

    fn list(items: Vec<f64>) -> ChannelNumbers {
        ChannelNumbers { dims: vec![items.len() as i64], items }
    }

    /// The number, if there is a single one.
    pub(super) fn only(&self) -> Option<f64> {
        match self.items[..] {
            [item] => Some(item),
            _ => None,
        }
    }

    /// The axis along which the numbers differ, none for a single number; `Err` if there are several such axes.
    pub(super) fn axis(&self) -> Result<Option<usize>, ()> {
        let mut along = self.dims.iter().enumerate().filter(|(_, extent)| **extent != 1).map(|(axis, _)| axis);
        let first = along.next();
        if along.next().is_some() { Err(()) } else { Ok(first) }
    }

    /// The same with a function applied to each number.
    pub(super) fn map(&self, f: impl Fn(f64) -> f64) -> ChannelNumbers {
        ChannelNumbers { dims: self.dims.clone(), items: self.items.iter().map(|item| f(*item)).collect() }
    }

    /// A function applied to the numbers of two parameters; none if both have several, along different axes.
    pub(super) fn with(&self, other: &ChannelNumbers, f: impl Fn(f64, f64) -> f64) -> Option<ChannelNumbers> {
        if let Some(number) = other.only() {
            return Some(self.map(|item| f(item, number)));
        }
        if let Some(number) = self.only() {
            return Some(other.map(|item| f(number, item)));
        }
        let items = self.items.iter().zip(&other.items).map(|(a, b)| f(*a, *b)).collect();
        (self.dims == other.dims).then(|| ChannelNumbers { dims: self.dims.clone(), items })
    }

    /// Whether each number has a property.
    pub(super) fn all(&self, is: impl Fn(f64) -> bool) -> bool {
        self.items.iter().all(|item| is(*item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_numbers_along_axes() {
        let scalars = |items: &[f64]| Value::Scalars(items.into());
        let of = |value: &Value| ChannelNumbers::of(value).map(|found| (found.dims.clone(), found.axis()));
        assert_eq!(of(&Value::Int(3)), Some((vec![], Ok(None))));
        assert_eq!(of(&scalars(&[1.0, 2.0])), Some((vec![2], Ok(Some(0)))));
        let second = Value::list(vec![scalars(&[1.0, 2.0])]);
        assert_eq!(of(&second), Some((vec![1, 2], Ok(Some(1)))));
        let both = Value::list(vec![scalars(&[1.0, 2.0]), scalars(&[3.0, 4.0])]);
        assert_eq!(of(&both), Some((vec![2, 2], Err(()))));
        assert_eq!(of(&Value::list(vec![scalars(&[1.0]), scalars(&[3.0, 4.0])])), None);
        assert_eq!(of(&Value::Logical(true)), None);
        let sum = ChannelNumbers::of(&second).unwrap().with(&ChannelNumbers::of(&Value::Int(1)).unwrap(), |a, b| a + b);
        assert_eq!(sum.map(|sum| sum.items), Some(vec![2.0, 3.0]));
    }
}
