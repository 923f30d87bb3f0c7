//! Functions on shapes for compilers.

use super::{ArrayShape, Dimension, Layout, Shape, permutation};
use crate::tensor::TensorError;

/// A property that a comparison of shapes ignores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignoring {
    /// The element type.
    Element,
    /// The precision of floating-point types.
    Precision,
    /// The sizes of the dimensions: only the ranks are compared.
    Sizes,
    /// Whether sizes are dynamic.
    Dynamic,
    /// Whether an array is in a buffer.
    Buffers,
    /// The whole layout.
    Layout,
    /// Tiles, padding, packing and alignment: only the dimension order and the memory space are compared.
    Tiles,
    /// The number of bits that elements are packed into.
    ElementBits,
    /// The alignment of the tail.
    TailAlignment,
    /// The splits of dimensions between memories.
    Splits,
    /// The memory space of arrays.
    MemorySpace,
}

impl Shape {
    /// Whether two shapes are equal, except for ignored properties.
    ///
    /// ```
    /// use nnef_flatten::tensor::{Ignoring, Shape};
    ///
    /// let tiled: Shape = "f32[2,<=3]{0,1:T(8,128)}".parse()?;
    /// let plain: Shape = "f32[2,3]".parse()?;
    /// assert!(tiled.is_compatible(&plain));
    /// assert!(!tiled.equals(&plain, &[Ignoring::Layout]));
    /// # Ok::<(), nnef_flatten::Diagnostics>(())
    /// ```
    pub fn equals(&self, other: &Shape, ignoring: &[Ignoring]) -> bool {
        match (self, other) {
            (Shape::Array(a), Shape::Array(b)) => a.equals(b, ignoring),
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b, ignoring))
            }
            (Shape::Buffer(a), Shape::Buffer(b)) => a.equals(b, ignoring),
            (Shape::Buffer(a), b) if ignoring.contains(&Ignoring::Buffers) => a.equals(b, ignoring),
            (a, Shape::Buffer(b)) if ignoring.contains(&Ignoring::Buffers) => a.equals(b, ignoring),
            _ => self == other,
        }
    }

    /// Whether two shapes are equal, except for layouts and dynamic sizes.
    pub fn is_compatible(&self, other: &Shape) -> bool {
        self.equals(other, &[Ignoring::Layout, Ignoring::Dynamic])
    }

    /// The part of nested tuples at a path of indices.
    ///
    /// ```
    /// let shape: nnef_flatten::tensor::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.subshape(&[1, 0]).map(|part| part.to_string()), Some("s32[]".to_owned()));
    /// let mut paths = Vec::new();
    /// shape.each_subshape(&mut |path, _| paths.push(path.to_vec()));
    /// assert_eq!(paths, [vec![], vec![0], vec![1], vec![1, 0], vec![1, 1]]);
    /// # Ok::<(), nnef_flatten::Diagnostics>(())
    /// ```
    pub fn subshape(&self, path: &[usize]) -> Option<&Shape> {
        path.iter().try_fold(self, |shape, &at| match shape {
            Shape::Tuple(items) => items.get(at),
            _ => None,
        })
    }

    /// The size in bytes without the parts of tuples: that of an array is the size of its elements, of a tuple a
    /// pointer to each part, of an opaque value a pointer, of a token 0.
    ///
    /// ```
    /// let shape: nnef_flatten::tensor::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.element_bytes(8)?, 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or a number does not fit into 63 bits.
    pub fn element_bytes(&self, pointer: u64) -> Result<u64, TensorError> {
        match self {
            Shape::Array(array) => array.element_bytes(),
            Shape::Tuple(items) => Ok(pointer.saturating_mul(items.len() as u64)),
            Shape::Buffer(of) => of.element_bytes(pointer),
            Shape::Opaque => Ok(pointer),
            Shape::Token => Ok(0),
        }
    }

    /// Calls a function with all parts of nested tuples and their paths, the outer parts first.
    pub fn each_subshape(&self, f: &mut dyn FnMut(&[usize], &Shape)) {
        fn visit(shape: &Shape, path: &mut Vec<usize>, f: &mut dyn FnMut(&[usize], &Shape)) {
            f(path, shape);
            let Shape::Tuple(items) = shape else { return };
            for (i, item) in items.iter().enumerate() {
                path.push(i);
                visit(item, path, f);
                path.pop();
            }
        }
        visit(self, &mut Vec::new(), f);
    }
}

impl ArrayShape {
    fn equals(&self, other: &ArrayShape, ignoring: &[Ignoring]) -> bool {
        let ignores = |what| ignoring.contains(&what);
        let size = |dimension: &Dimension| if ignores(Ignoring::Dynamic) { dimension.size() } else { None };
        let same = |(a, b): (&Dimension, &Dimension)| a == b || size(a).is_some() && size(a) == size(b);
        let floats = || self.element.is_float() && other.element.is_float();
        (ignores(Ignoring::Element) || self.element == other.element || ignores(Ignoring::Precision) && floats())
            && self.rank() == other.rank()
            && (ignores(Ignoring::Sizes) || self.dims.iter().zip(&other.dims).all(same))
            && (ignores(Ignoring::Layout) || self.layout.without(ignoring) == other.layout.without(ignoring))
    }

    /// The index of a dimension; negative numbers count from the end.
    ///
    /// # Errors
    ///
    /// There is no such dimension.
    pub fn dimension_number(&self, number: i64) -> Result<usize, TensorError> {
        let rank = self.rank() as i64;
        let counted = if number < 0 { number + rank } else { number };
        let fits = usize::try_from(counted).ok().filter(|counted| *counted < self.rank());
        fits.ok_or_else(|| TensorError::new(format!("{rank} dimensions have no dimension {number}")))
    }

    /// A dimension; negative numbers count from the end.
    ///
    /// ```
    /// use nnef_flatten::tensor::{Dimension, Shape};
    ///
    /// let shape: Shape = "f32[2,3]".parse()?;
    /// assert_eq!(shape.array().unwrap().dimension(-1)?, Dimension::Static(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such dimension.
    pub fn dimension(&self, number: i64) -> Result<Dimension, TensorError> {
        self.dimension_number(number).map(|at| self.dims[at])
    }

    /// The size of the largest part of a dimension that is split between memories, or the whole size of one that
    /// is not split; none if the size is not known.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[10,4]{1,0:SC(0:3,5)}".parse()?;
    /// assert_eq!(shape.array().unwrap().largest_part(0)?, Some(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such dimension.
    pub fn largest_part(&self, number: i64) -> Result<Option<u64>, TensorError> {
        let at = self.dimension_number(number)?;
        let Some(size) = self.dims[at].size() else { return Ok(None) };
        let split = self.layout.splits.iter().find(|(dimension, _)| *dimension == at as u64);
        let ends = split.into_iter().flat_map(|(_, indices)| indices).copied().chain([size]);
        let mut start = 0;
        let parts = ends.map(|end| end.saturating_sub(std::mem::replace(&mut start, end)));
        Ok(parts.max())
    }

    /// Whether some dimension has size 1.
    pub fn has_degenerate_dimensions(&self) -> bool {
        self.dims.contains(&Dimension::Static(1))
    }

    /// The same memory with dimensions in another order: dimension `i` of the result is dimension `order[i]` of
    /// this array.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[2,3,4]{2,1,0}".parse()?;
    /// let permuted = shape.array().unwrap().permuted(&[2, 0, 1])?;
    /// assert_eq!(permuted.to_string(), "f32[4,2,3]{0,2,1}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The order is not a permutation.
    pub fn permuted(&self, order: &[usize]) -> Result<ArrayShape, TensorError> {
        permutation(order, self.rank())?;
        Ok(self.selected(order))
    }

    /// The array without some dimensions; the order of the others in the layout is kept.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[5,3,2]{2,0,1}".parse()?;
    /// assert_eq!(shape.array().unwrap().without_dimensions(&[1])?.to_string(), "f32[5,2]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such dimension.
    pub fn without_dimensions(&self, deleted: &[i64]) -> Result<ArrayShape, TensorError> {
        let deleted: Vec<usize> =
            deleted.iter().map(|&number| self.dimension_number(number)).collect::<Result<_, _>>()?;
        let mut kept: Vec<usize> = (0..self.rank()).collect();
        let mut is_kept = vec![true; self.rank()];
        deleted.iter().for_each(|&at| is_kept[at] = false);
        kept.retain(|&at| is_kept[at]);
        Ok(self.selected(&kept))
    }

    /// The array without its dimensions of size 1.
    pub fn without_degenerate_dimensions(&self) -> ArrayShape {
        let kept: Vec<usize> = (0..self.rank()).filter(|&at| self.dims[at] != Dimension::Static(1)).collect();
        self.selected(&kept)
    }

    /// The array with only these dimensions, in this order.
    fn selected(&self, order: &[usize]) -> ArrayShape {
        let mut places = vec![None; self.rank()];
        order.iter().enumerate().rev().for_each(|(new, &old)| places[old] = Some(new));
        let place = |old: &usize| *places.get(*old)?;
        let mut layout = self.layout.clone();
        layout.minor_to_major = self.layout.minor_to_major.iter().filter_map(place).collect();
        layout.splits = self
            .layout
            .splits
            .iter()
            .filter_map(|(old, at)| Some((place(&(*old as usize))? as u64, at.clone())))
            .collect();
        layout.padding =
            self.layout.padding.as_ref().map(|(sizes, value)| (order.iter().map(|&old| sizes[old]).collect(), *value));
        ArrayShape { element: self.element, dims: order.iter().map(|&old| self.dims[old]).collect(), layout }
    }

    /// The same memory with dimensions numbered from major to minor, so that the order of the layout is the default.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let shape: Shape = "f32[128,24,4,48,48]{2,4,3,1,0}".parse()?;
    /// let descending = shape.array().unwrap().with_descending_layout();
    /// assert_eq!(descending.to_string(), "f32[128,24,48,48,4]{4,3,2,1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_descending_layout(&self) -> ArrayShape {
        self.selected(&self.layout.major_to_minor())
    }

    /// The permutation of a transposition to another shape that is a bitcast, if there is one that pairs the
    /// dimensions in the order of the layouts.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let from: Shape = "f32[5,3]{1,0}".parse()?;
    /// let to: Shape = "f32[3,5]{0,1}".parse()?;
    /// assert_eq!(from.array().unwrap().deduce_transpose(to.array().unwrap())?, Some(vec![1, 0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or tiled arrays are too large to be compared.
    pub fn deduce_transpose(&self, to: &ArrayShape) -> Result<Option<Vec<usize>>, TensorError> {
        if self.rank() != to.rank() {
            return Ok(None);
        }
        let mut order = vec![0; self.rank()];
        for (&of_result, &of_operand) in to.layout.minor_to_major.iter().zip(&self.layout.minor_to_major) {
            order[of_result] = of_operand;
        }
        Ok(self.transpose_is_bitcast(to, &order)?.then_some(order))
    }

    /// The array with other sizes, in the layout that makes the reshape a bitcast; none if there is no such
    /// layout, or this array is padded or tiled.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let from: Shape = "f32[3,8,5,7,11]{3,2,1,0,4}".parse()?;
    /// let to = from.array().unwrap().align_layout(&[4, 3, 2, 7, 5, 11])?;
    /// assert_eq!(to.map(|to| to.to_string()), Some("f32[4,3,2,7,5,11]{4,3,2,1,0,5}".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or a number does not fit into 63 bits.
    pub fn align_layout(&self, sizes: &[u64]) -> Result<Option<ArrayShape>, TensorError> {
        let own = self.sizes()?;
        let same_number = super::product(&own)? == super::product(sizes)?;
        if !self.layout.is_plain() || !same_number {
            return Ok(None);
        }
        let bounds = common_factors(&own, sizes);
        // The bounds ascend; a dimension belongs to the last group that begins at it or before.
        let group = |of: usize| bounds.partition_point(|bound| bound.0 <= of).checked_sub(1);
        // Dimensions of size 1 may be anywhere; the others of a group must be consecutive in the layout.
        let large = self.layout.minor_to_major.iter().filter(|&&dimension| own[dimension] != 1);
        let mut groups: Vec<usize> = large.filter_map(|&dimension| group(dimension)).collect();
        groups.dedup();
        let mut is_there = vec![false; bounds.len()];
        groups.iter().for_each(|&group| is_there[group] = true);
        let rest = (0..bounds.len().saturating_sub(1)).rev().filter(|&other| !is_there[other]);
        let order: Vec<usize> = groups.iter().copied().chain(rest).collect();
        let minor_to_major: Vec<usize> =
            order.iter().flat_map(|&group| (bounds[group].1..bounds[group + 1].1).rev()).collect();
        if permutation(&minor_to_major, sizes.len()).is_err() {
            return Ok(None);
        }
        let layout = Layout { minor_to_major, ..self.layout.clone() };
        let to = ArrayShape::new(self.element, sizes).with_layout(layout)?;
        Ok(self.reshape_is_bitcast(&to)?.then_some(to))
    }

    /// The dimensions that a reshape does not change: pairs of their indices before and after it.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let from: Shape = "s32[4,1,3,5,6,7]".parse()?;
    /// assert_eq!(from.array().unwrap().unmodified_dimensions(&[2, 6, 1, 5, 1, 42])?, [(3, 3)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or the number of elements changes.
    pub fn unmodified_dimensions(&self, sizes: &[u64]) -> Result<Vec<(usize, usize)>, TensorError> {
        let own = self.sizes()?;
        if super::product(&own)? != super::product(sizes)? {
            return Err(TensorError::new(format!("a reshape of {own:?} to {sizes:?} changes the number of elements")));
        }
        let bounds = common_factors(&own, sizes);
        let single = |pair: &&[(usize, usize)]| pair[1].0 == pair[0].0 + 1 && pair[1].1 == pair[0].1 + 1;
        Ok(bounds.windows(2).filter(single).map(|pair| pair[0]).collect())
    }

    /// The dimensions of size 1 of this array and of `sizes`, if a reshape to `sizes` only deletes and inserts these.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let from: Shape = "s32[9,1,4]".parse()?;
    /// let changed = from.array().unwrap().inserted_or_deleted_ones(&[1, 9, 4, 1])?;
    /// assert_eq!(changed, Some([vec![1], vec![0, 3]]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound.
    pub fn inserted_or_deleted_ones(&self, sizes: &[u64]) -> Result<Option<[Vec<usize>; 2]>, TensorError> {
        let own = self.sizes()?;
        let large = |sizes: &[u64]| sizes.iter().copied().filter(|size| *size != 1).collect::<Vec<_>>();
        let ones = |sizes: &[u64]| (0..sizes.len()).filter(|&at| sizes[at] == 1).collect::<Vec<_>>();
        Ok((large(&own) == large(sizes)).then(|| [ones(&own), ones(sizes)]))
    }
}

/// The finest division of both lists into parts with equal products, as pairs of indices. The products of the whole
/// lists are equal.
fn common_factors(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let alike = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let mut cuts: Vec<(usize, usize)> = (0..alike).map(|at| (at, at)).collect();
    let end = (a.len(), b.len());
    let rest = |sizes: &[u64]| sizes[alike..].iter().try_fold(1u64, |all, size| all.checked_mul(*size));
    match (rest(a), rest(b)) {
        (Some(x), Some(y)) if x == y && x > 0 => {}
        (Some(0), Some(0)) => return cuts.into_iter().chain([(alike, alike), end]).collect(),
        _ => return vec![(0, 0), end],
    }
    let (mut i, mut j, mut left, mut right) = (alike, alike, 1u64, 1u64);
    let mut last = None;
    loop {
        if left == right && last != Some((i, j)) {
            cuts.push((i, j));
            last = Some((i, j));
        }
        let (next_a, next_b) = (a.get(i), b.get(j));
        let (take_a, take_b) = match (next_a, next_b) {
            (None, None) => return cuts,
            _ if left != right => (left < right, right < left),
            (Some(_), None) => (true, false),
            (None, Some(_)) => (false, true),
            (Some(x), Some(y)) => (x <= y, y <= x),
        };
        if let Some(size) = next_a.filter(|_| take_a) {
            (left, i) = (left * size, i + 1);
        }
        if let Some(size) = next_b.filter(|_| take_b) {
            (right, j) = (right * size, j + 1);
        }
    }
}
