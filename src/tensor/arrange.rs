//! Functions that rearrange the elements of tensors; shared by the evaluators of all notations.

use super::{Data, Dims, Element, Tensor, TensorError};

/// The row-major stride of each axis.
pub(crate) fn strides(shape: &[usize]) -> Dims {
    let mut strides = Dims::from_elem(1, shape.len());
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1];
    }
    strides
}

/// The sums of indices times steps along axes, each given by its extent and step, in row-major order of these axes.
pub(crate) fn spread(axes: impl IntoIterator<Item = (usize, usize)>) -> Vec<usize> {
    axes.into_iter().fold(vec![0], |places, (extent, step)| {
        places.iter().flat_map(|place| (0..extent).map(move |i| place + i * step)).collect()
    })
}

/// The linear indices of the elements along some axes, in row-major order of these axes.
pub(super) fn places(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    let strides = strides(shape);
    spread(axes.iter().map(|&axis| (shape[axis], strides[axis])))
}

/// Elements at linear indices; `None` selects the fill value.
fn filled<T: Element>(items: &[T], places: &[Option<usize>], fill: T) -> Vec<T> {
    places.iter().map(|place| place.map_or(fill, |place| items[place])).collect()
}

impl Tensor {
    /// The elements in row-major order with another shape.
    ///
    /// # Errors
    ///
    /// The number of elements differs from that of the shape.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> Result<Tensor, TensorError> {
        let unfilled = || TensorError::new(format!("{} items do not fill the shape {shape:?}", self.len()));
        Tensor::new(shape, self.data.clone()).ok_or_else(unfilled)
    }

    /// All indices along each axis.
    pub(crate) fn places(&self) -> Vec<Vec<Option<usize>>> {
        self.shape().iter().map(|&extent| (0..extent).map(Some).collect()).collect()
    }

    /// All indices along each axis, so many times.
    pub(crate) fn repeated(&self, times: &[usize]) -> Vec<Vec<Option<usize>>> {
        let along = |(&extent, &times): (&usize, &usize)| (0..extent * times).map(|i| Some(i % extent)).collect();
        self.shape().iter().zip(times).map(along).collect()
    }

    /// The linear indices of the elements at these indices along each axis; `None` for those that have one along any.
    pub(crate) fn linear(&self, along: &[Vec<Option<usize>>]) -> Vec<Option<usize>> {
        let strides = strides(self.shape());
        along.iter().zip(&strides).fold(vec![Some(0)], |places, (indices, stride)| {
            let step = |place: Option<usize>, i: &Option<usize>| place.zip(*i).map(|(place, i)| place + i * stride);
            places.iter().flat_map(|&place| indices.iter().map(move |i| step(place, i))).collect()
        })
    }

    /// The elements at these indices along each axis; `None` selects the fill value.
    pub(crate) fn taken(&self, along: &[Vec<Option<usize>>], fill: f64) -> Tensor {
        let places = self.linear(along);
        let data = match self.data() {
            Data::Float32(items) => Data::Float32(filled(items, &places, fill as f32)),
            Data::Float64(items) => Data::Float64(filled(items, &places, fill)),
            Data::Int32(items) => Data::Int32(filled(items, &places, fill as i32)),
            Data::Int64(items) => Data::Int64(filled(items, &places, fill as i64)),
            Data::Bool(items) => Data::Bool(filled(items, &places, fill != 0.0)),
            other => other.pick_or(&places, fill),
        };
        Tensor { shape: along.iter().map(Vec::len).collect(), data }
    }

    /// The elements at indices along an axis; the axes of the indices replace this axis. If `negative` is set,
    /// negative indices count from the end.
    ///
    /// # Errors
    ///
    /// An index that is outside of the axis.
    pub(crate) fn gathered(&self, indices: &Tensor, axis: usize, negative: bool) -> Result<Tensor, i64> {
        let mut along = self.places();
        along[axis] = indices.places_in(self.shape[axis], negative)?.into_iter().map(Some).collect();
        let mut found = self.taken(&along, 0.0);
        found.shape.remove(axis);
        found.shape.insert_many(axis, indices.shape.iter().copied());
        Ok(found)
    }

    /// Indices along an axis, with negative ones resolved.
    ///
    /// # Errors
    ///
    /// An index that is outside of the axis.
    pub(crate) fn places_in(&self, extent: usize, negative: bool) -> Result<Vec<usize>, i64> {
        let place = |i: usize| {
            let wanted = self.data.integer(i);
            let counted = if negative && wanted < 0 { wanted.saturating_add(extent as i64) } else { wanted };
            usize::try_from(counted).ok().filter(|&place| place < extent).ok_or(wanted)
        };
        (0..self.len()).map(place).collect()
    }

    /// The tensor with axes in another order.
    pub(crate) fn transposed(&self, order: &[usize]) -> Tensor {
        if order.iter().copied().eq(0..order.len()) {
            return self.clone();
        }
        let shape = order.iter().map(|&axis| self.shape()[axis]).collect();
        Tensor { shape, data: self.data().pick(places(self.shape(), order).into_iter()) }
    }

    /// The slice at an index of an axis, without that axis; none past the end.
    pub(crate) fn element(&self, axis: usize, index: usize) -> Option<Tensor> {
        let extent = *self.shape().get(axis)?;
        let mut part = (index < extent).then(|| self.section(axis, index, 1))?;
        part.shape.remove(axis);
        Some(part)
    }

    /// A section along an axis, which must be long enough.
    pub(crate) fn section(&self, axis: usize, first: usize, count: usize) -> Tensor {
        let mut shape = self.shape.clone();
        shape[axis] = count;
        let inner: usize = self.shape[axis + 1..].iter().product();
        let (outer, extent): (usize, usize) = (self.shape[..axis].iter().product(), self.shape[axis]);
        let mut data = Data::zeros(self.dtype(), 0);
        for block in 0..outer {
            let from = (block * extent + first) * inner;
            data.append_range(&self.data, from..from + count * inner);
        }
        Tensor { shape, data }
    }

    /// Concatenates tensors along an axis; none if their other extents, ranks or types differ, or
    /// there are no tensors.
    pub(crate) fn joined(parts: &[&Tensor], axis: usize) -> Option<Tensor> {
        let mut shape = parts.first().filter(|first| axis < first.rank())?.shape.clone();
        let fits = |part: &&Tensor| {
            let other = |(i, (a, b)): (usize, (&usize, &usize))| i == axis || a == b;
            let alike = part.dtype() == parts[0].dtype() && part.rank() == shape.len();
            alike && part.shape.iter().zip(&shape).enumerate().all(other)
        };
        if !parts.iter().all(fits) {
            return None;
        }
        shape[axis] = parts.iter().try_fold(0usize, |all, part| all.checked_add(part.shape[axis]))?;
        let outer: usize = shape[..axis].iter().product();
        let mut data = Data::zeros(parts[0].dtype(), 0);
        data.reserve(parts.iter().map(|part| part.len()).sum());
        for block in 0..outer {
            for part in parts {
                let size = part.len() / outer;
                data.append_range(&part.data, block * size..(block + 1) * size);
            }
        }
        Some(Tensor { shape, data })
    }

    /// The tensor with a new axis of extent 1.
    pub(crate) fn unsqueezed(&self, axis: usize) -> Tensor {
        let mut shape = self.shape.clone();
        shape.insert(axis, 1);
        Tensor { shape, data: self.data.clone() }
    }

    /// The tensor with trailing axes of extent 1, up to a rank.
    #[cfg(feature = "eval")]
    pub(crate) fn lengthened(&self, rank: usize) -> Tensor {
        let mut longer = self.clone();
        longer.shape.resize(rank.max(self.rank()), 1);
        longer
    }

    /// Moves the first axis to another position.
    pub(crate) fn move_first_axis(self, to: usize) -> Tensor {
        if self.rank() <= to {
            return self;
        }
        let mut order: Dims = (1..self.rank()).collect();
        order.insert(to, 0);
        self.transposed(&order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Tensor {
        Tensor::new(&[2, 3], Data::Int32(vec![0, 1, 2, 3, 4, 5])).unwrap()
    }

    #[test]
    fn elements_lose_their_axis() {
        assert_eq!(matrix().element(0, 1).unwrap().data(), &Data::Int32(vec![3, 4, 5]));
        let column = matrix().element(1, 2).unwrap();
        assert_eq!((column.shape(), column.data()), ([2].as_slice(), &Data::Int32(vec![2, 5])));
        assert_eq!(matrix().element(1, 3), None);
        assert_eq!(matrix().element(2, 0), None);
    }

    #[test]
    fn the_first_axis_moves() {
        let moved = matrix().move_first_axis(1);
        assert_eq!((moved.shape(), moved.data()), ([3, 2].as_slice(), &Data::Int32(vec![0, 3, 1, 4, 2, 5])));
        assert_eq!(matrix().move_first_axis(0), matrix());
    }

    #[test]
    fn parts_are_joined_along_any_axis() {
        let joined = Tensor::joined(&[&matrix(), &matrix().section(1, 1, 1)], 1).unwrap();
        assert_eq!((joined.shape(), joined.data()), ([2, 4].as_slice(), &Data::Int32(vec![0, 1, 2, 1, 3, 4, 5, 4])));
        assert_eq!(Tensor::joined(&[&matrix(), &matrix().section(1, 1, 1)], 0), None);
        assert_eq!(Tensor::joined(&[], 0), None);
    }
}
