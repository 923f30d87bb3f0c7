//! Tensors in memory: elements at the places that a layout defines.
//!
//! A [`Tensor`] has its elements in row-major order, which kernels need. A [`Buffer`] has them in the order of any
//! layout, with padding. This module converts between the two.

use super::{ArrayShape, Data, ElementType, Layout, Tensor, TensorError, volume};

/// The memory of a tensor: its elements at the places that a layout defines, and padding.
///
/// ```
/// use nnef_flatten::tensor::{Data, Layout, PaddingValue, Tensor};
///
/// let tensor = Tensor::integers(&[2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// let layout = Layout::column_major(2).with_padding(&[3, 3], PaddingValue::Zero);
/// let buffer = tensor.laid_out(layout)?;
/// assert_eq!(*buffer.data(), Data::Int64(vec![1, 4, 0, 2, 5, 0, 3, 6, 0]));
/// assert_eq!(buffer.into_tensor(), tensor);
/// # Ok::<(), nnef_flatten::tensor::TensorError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    shape: ArrayShape,
    data: Data,
}

/// The extents of a shape; fails if its elements or places cannot be allocated.
fn extents(shape: &ArrayShape) -> Result<Vec<usize>, TensorError> {
    let large = || TensorError::new("the array is too large for memory");
    let extents = shape.sizes()?.iter().map(|size| usize::try_from(*size).ok()).collect::<Option<Vec<_>>>();
    let extents = extents.filter(|extents| volume(extents).is_some()).ok_or_else(large)?;
    let places = usize::try_from(shape.places()?).map_err(|_| large())?;
    volume(&[places]).map(|_| extents).ok_or_else(large)
}

impl Buffer {
    /// The memory of an array, with an item for each of its places.
    ///
    /// # Errors
    ///
    /// The type or number of items differs from that of the shape, or a dimension has no bound.
    pub fn new(shape: ArrayShape, data: Data) -> Result<Buffer, TensorError> {
        extents(&shape)?;
        let (places, given) = (shape.places()?, data.len());
        if given as u64 != places {
            return Err(TensorError::new(format!("{given} items do not fill the {places} places of {shape}")));
        }
        let element = ElementType::from(data.dtype());
        if element != shape.element() {
            return Err(TensorError::new(format!("items of type {element} are given for {shape}")));
        }
        Ok(Buffer { shape, data })
    }

    /// The shape with the layout.
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// All items in memory order, including padding.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The elements in row-major order.
    pub fn to_tensor(&self) -> Tensor {
        self.gathered().unwrap_or_else(|| self.clone().dense())
    }

    /// The elements in row-major order. Consumes the buffer, so that a row-major one is not copied.
    pub fn into_tensor(self) -> Tensor {
        match self.gathered() {
            Some(tensor) => tensor,
            None => self.dense(),
        }
    }

    /// The elements in row-major order; none if the layout is row-major already.
    fn gathered(&self) -> Option<Tensor> {
        if *self.shape.layout() == Layout::row_major(self.shape.rank()) {
            return None;
        }
        let mut places = Vec::with_capacity(self.data.len());
        self.shape.each_place(|place| places.push(place as usize)).ok()?;
        Some(Tensor { shape: self.extents(), data: self.data.pick(places.into_iter()) })
    }

    /// The memory as a tensor, if the layout is row-major.
    fn dense(self) -> Tensor {
        Tensor { shape: self.extents(), data: self.data }
    }

    fn extents(&self) -> super::Dims {
        self.shape.dims().iter().filter_map(|dimension| dimension.size()).map(|size| size as usize).collect()
    }
}

impl Tensor {
    /// The shape with the row-major layout, which all tensors have.
    pub fn array_shape(&self) -> ArrayShape {
        let sizes: Vec<u64> = self.shape().iter().map(|&extent| extent as u64).collect();
        ArrayShape::new(ElementType::from(self.dtype()), &sizes)
    }

    /// The memory of this tensor in a layout. Padded dimensions are filled with the padding value, incomplete
    /// tiles and the tail with 0.
    ///
    /// # Errors
    ///
    /// The layout has another rank, pads a dimension to less than its extent, or takes more memory than can
    /// be allocated.
    pub fn laid_out(&self, layout: Layout) -> Result<Buffer, TensorError> {
        let shape = self.array_shape().with_layout(layout)?;
        extents(&shape)?;
        let mut data = Data::zeros(self.dtype(), shape.places()? as usize);
        if let Some(value) = shape.padding_to_fill() {
            let mut places = Vec::new();
            shape.padded().each_place(|place| places.push(place as usize))?;
            data.put(&places, &Data::from_floats(self.dtype(), std::iter::once(value)), |_| 0);
        }
        let mut places = Vec::with_capacity(self.len());
        shape.each_place(|place| places.push(place as usize))?;
        data.put(&places, &self.data, |i| i);
        Ok(Buffer { shape, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::PaddingValue;

    #[test]
    fn padding_holds_its_value() {
        let tensor = Tensor::new(&[2], Data::Int32(vec![5, 6])).unwrap();
        let layout = Layout::row_major(1).with_tile(&[Some(4)]).unwrap().with_padding(&[3], PaddingValue::Lowest);
        let buffer = tensor.laid_out(layout).unwrap();
        // The tile is filled with 0.
        assert_eq!(*buffer.data(), Data::Int32(vec![5, 6, i32::MIN, 0]));
        assert_eq!(buffer.to_tensor(), tensor);
        let empty = Tensor::scalars(&[0, 2], vec![]).unwrap();
        let padded = empty.laid_out(Layout::row_major(2).with_padding(&[1, 2], PaddingValue::One)).unwrap();
        assert_eq!((padded.data(), padded.to_tensor()), (&Data::Float64(vec![1.0, 1.0]), empty));
    }

    #[test]
    fn memory_that_is_not_that_of_the_shape_is_refused() {
        let shape = Tensor::scalars(&[3], vec![0.0; 3]).unwrap().array_shape();
        for data in [Data::Float64(vec![0.0; 2]), Data::Float32(vec![0.0; 3])] {
            assert!(Buffer::new(shape.clone(), data).is_err());
        }
        let tiled = shape.with_layout(Layout::row_major(1).with_tile(&[Some(1 << 62)]).unwrap()).unwrap();
        assert!(Buffer::new(tiled, Data::Float64(vec![])).is_err());
        assert!(Tensor::number(0.0).laid_out(Layout::row_major(1)).is_err());
    }
}
