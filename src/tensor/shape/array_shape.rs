//! The shapes of arrays: elements, dimensions and layout, and the sizes and strides that follow.

use super::dimension::Dimension;
use super::element::ElementType;
use super::layout::{Layout, permutation};
use super::limits::{MAX_MEMORY_SPACE, limited, product};
use crate::tensor::TensorError;

/// The shape of an array: the type of its elements, its dimensions, and its [`Layout`] in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    pub(super) element: ElementType,
    pub(super) dims: Vec<Dimension>,
    pub(super) layout: Layout,
}

impl ArrayShape {
    /// An array with static sizes and the default layout, [`Layout::row_major`].
    pub fn new(element: ElementType, sizes: &[u64]) -> ArrayShape {
        ArrayShape::of(element, sizes.iter().map(|size| Dimension::Static(*size)).collect())
    }

    /// An array with dimensions of any kind and the default layout.
    pub fn of(element: ElementType, dims: Vec<Dimension>) -> ArrayShape {
        let layout = Layout::row_major(dims.len());
        ArrayShape { element, dims, layout }
    }

    /// The array with another layout.
    ///
    /// # Errors
    ///
    /// The layout has another rank, or pads a dimension to less than its size.
    pub fn with_layout(self, layout: Layout) -> Result<ArrayShape, TensorError> {
        let rank = self.rank();
        permutation(&layout.minor_to_major, rank)?;
        if layout.memory_space > MAX_MEMORY_SPACE {
            return Err(TensorError::new(format!("the numbers of memories end at {MAX_MEMORY_SPACE}")));
        }
        if let Some((sizes, _)) = &layout.padding {
            if sizes.len() != rank {
                let message = format!("{} padded sizes are given for {rank} dimensions", sizes.len());
                return Err(TensorError::new(message));
            }
            let mut dims = self.dims.iter().zip(sizes).enumerate();
            let less = dims.find(|(_, (dimension, padded))| dimension.size().is_some_and(|size| size > **padded));
            if let Some((i, (size, padded))) = less {
                return Err(TensorError::new(format!("dimension {i} of size {size} cannot be padded to {padded}")));
            }
        }
        Ok(ArrayShape { layout, ..self })
    }

    /// The array with one dimension replaced; negative numbers count from the end.
    ///
    /// # Errors
    ///
    /// There is no such dimension.
    pub fn with_dimension(mut self, number: i64, dimension: Dimension) -> Result<ArrayShape, TensorError> {
        let at = self.dimension_number(number)?;
        self.dims[at] = dimension;
        let layout = self.layout.clone();
        self.with_layout(layout)
    }

    /// The array with another element type.
    pub(crate) fn with_element(self, element: ElementType) -> ArrayShape {
        ArrayShape { element, ..self }
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The dimensions.
    pub fn dims(&self) -> &[Dimension] {
        &self.dims
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of dimensions whose size or bound is above 1, or unknown.
    pub fn true_rank(&self) -> usize {
        self.dims.iter().filter(|dimension| dimension.size().is_none_or(|size| size > 1)).count()
    }

    /// The sizes of the dimensions; for dynamic sizes, their bounds.
    ///
    /// # Errors
    ///
    /// A dimension has no bound.
    pub(crate) fn sizes(&self) -> Result<Vec<u64>, TensorError> {
        let sizes: Option<Vec<u64>> = self.dims.iter().map(|dimension| dimension.size()).collect();
        sizes.ok_or_else(|| TensorError::new("a dimension `?` has no size"))
    }

    /// The number of bits of an element in memory.
    pub(crate) fn element_bits(&self) -> u64 {
        match self.layout.element_bits {
            0 => self.element.stored_bits(),
            bits => bits,
        }
    }

    /// The value that padded dimensions are filled with, if there are any and it is not 0.
    pub(crate) fn padding_to_fill(&self) -> Option<f64> {
        let (_, value) = self.layout.padding.as_ref()?;
        value.value(self.element).filter(|value| *value != 0.0)
    }

    /// The array with padded sizes.
    pub(crate) fn padded(&self) -> ArrayShape {
        let mut padded = self.clone();
        if let Some((sizes, _)) = padded.layout.padding.take() {
            padded.dims = sizes.into_iter().map(Dimension::Static).collect();
        }
        padded
    }

    /// The number of elements.
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or the number does not fit into 63 bits.
    pub fn elements(&self) -> Result<u64, TensorError> {
        product(&self.sizes()?)
    }

    /// The size of the elements in bytes, without padding and tiles.
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or the number does not fit into 63 bits.
    pub fn element_bytes(&self) -> Result<u64, TensorError> {
        self.bytes(self.elements()?)
    }

    /// The number of places that the array takes in memory, including padding.
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or the number does not fit into 63 bits.
    pub(crate) fn places(&self) -> Result<u64, TensorError> {
        self.memory().map(|memory| memory.places())
    }

    /// The size of the array in memory in bytes, including padding.
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or the number does not fit into 63 bits.
    pub fn allocated_bytes(&self) -> Result<u64, TensorError> {
        self.bytes(self.places()?)
    }

    /// Whether the size of the elements in bytes fits into 63 bits; unknown sizes count as 1.
    pub(super) fn fits(&self) -> bool {
        let sizes: Vec<u64> = self.dims.iter().map(|dimension| dimension.size().unwrap_or(1)).collect();
        let bytes = u128::from(self.element.stored_bits() / 8);
        product(&sizes).is_ok_and(|elements| limited(u128::from(elements) * bytes).is_ok())
    }

    /// The size of a number of elements in bytes.
    fn bytes(&self, elements: u64) -> Result<u64, TensorError> {
        let bits = u128::from(elements) * u128::from(self.element_bits());
        limited(bits.div_ceil(8))
    }

    /// The stride of each dimension in elements, also for padded arrays; none for tiled arrays.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[2,3,4]{0,2,1}".parse()?;
    /// assert_eq!(shape.array().unwrap().strides()?, Some(vec![1, 8, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or a number does not fit into 63 bits.
    pub fn strides(&self) -> Result<Option<Vec<u64>>, TensorError> {
        Ok(self.memory()?.strides())
    }

    /// The stride of each dimension in bytes; none if the array has padding or tiles, or its elements are not whole
    /// bytes. Memory after the last element does not change strides. Strides of empty arrays are not meaningful.
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or a number does not fit into 63 bits.
    pub fn byte_strides(&self) -> Result<Option<Vec<u64>>, TensorError> {
        let dense = self.layout.padding.is_none() && self.layout.tiles.is_empty();
        if !dense || !self.element_bits().is_multiple_of(8) {
            return self.sizes().map(|_| None);
        }
        let bytes = u128::from(self.element_bits() / 8);
        let empty = self.elements()? == 0;
        let in_bytes = |stride: u64| match limited(u128::from(stride) * bytes) {
            // No element is anywhere.
            Err(_) if empty => Ok(i64::MAX as u64),
            limited => limited,
        };
        self.strides()?.map(|strides| strides.into_iter().map(in_bytes).collect()).transpose()
    }
}
