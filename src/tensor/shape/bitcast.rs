//! Determines which reshapes and transposes are bitcasts: they move nothing in memory.

use super::ArrayShape;
use super::digits::{Digits, row_major};
use super::layout::permutation;
use super::memory::Memory;
use crate::tensor::TensorError;

/// The number of sampled elements that are compared before all are.
const SAMPLES: u64 = 512;

/// The relation between the dimensions of operand and result.
enum Relation<'p> {
    /// Each element has the same row-major number in both.
    Reshape,
    /// Dimension i of the result is dimension `p[i]` of the operand.
    Transpose(&'p [usize]),
}

impl ArrayShape {
    /// Whether a reshape to another shape leaves every element at its place in memory, so that it is free.
    /// Dimensions of size 1 may be anywhere in the layouts.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let from: Shape = "f32[3,2,2]{1,0,2}".parse()?;
    /// let to: Shape = "f32[6,2]{0,1}".parse()?;
    /// assert!(from.array().unwrap().reshape_is_bitcast(to.array().unwrap())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or tiled arrays are too large to be compared.
    pub fn reshape_is_bitcast(&self, to: &ArrayShape) -> Result<bool, TensorError> {
        self.is_bitcast(to, &Relation::Reshape)
    }

    /// Whether a transposition leaves every element at its place in memory. Dimension `i` of the result is
    /// dimension `order[i]` of this array; false if the sizes of the result do not match.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let from: Shape = "f32[2,3,4]{2,1,0}".parse()?;
    /// let to: Shape = "f32[4,2,3]{0,2,1}".parse()?;
    /// assert!(from.array().unwrap().transpose_is_bitcast(to.array().unwrap(), &[2, 0, 1])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The order is not a permutation, a dimension has no bound, or tiled arrays are too large to be compared.
    pub fn transpose_is_bitcast(&self, to: &ArrayShape, order: &[usize]) -> Result<bool, TensorError> {
        permutation(order, self.rank())?;
        self.is_bitcast(to, &Relation::Transpose(order))
    }

    fn is_bitcast(&self, to: &ArrayShape, relation: &Relation) -> Result<bool, TensorError> {
        let (a, b) = (self.memory()?, to.memory()?);
        let elements = self.elements()?;
        let same_elements = self.element == to.element && self.element_bits() == to.element_bits();
        if !same_elements || elements != to.elements()? || self.layout.memory_space != to.layout.memory_space {
            return Ok(false);
        }
        let numbers = row_major(&a.sizes);
        let steps = match relation {
            Relation::Reshape => row_major(&b.sizes),
            Relation::Transpose(order) => {
                if b.sizes.len() != order.len() || (0..order.len()).any(|i| b.sizes[i] != a.sizes[order[i]]) {
                    return Ok(false);
                }
                order.iter().map(|&dimension| numbers[dimension]).collect()
            }
        };
        let same_numbers = a.sizes == b.sizes && steps == numbers;
        if elements == 0 || same_numbers && a.is_arranged_like(&b) {
            return Ok(true);
        }
        if a.places() != b.places() {
            return Ok(false);
        }
        if let (Some(a), Some(b)) = (Digits::new(&a, None), Digits::new(&b, Some(&steps))) {
            if a == b {
                return Ok(true);
            }
            if a.is_dense() && b.is_dense() {
                return Ok(false);
            }
        }
        compare(&a, &b, &steps, elements)
    }
}

/// Compares the places of elements, first of a sample, then of all.
fn compare(a: &Memory, b: &Memory, steps: &[u64], elements: u64) -> Result<bool, TensorError> {
    let numbers = row_major(&a.sizes);
    let index = |memory: &Memory, steps: &[u64], element: u64| -> Vec<u64> {
        memory.sizes.iter().zip(steps).map(|(size, step)| element / step % size).collect()
    };
    let same = |element| a.place(&index(a, &numbers, element)) == b.place(&index(b, steps, element));
    let stride = elements.div_ceil(SAMPLES);
    // Dimensions of size 1 have the number of the next one.
    let mut distinct = numbers.clone();
    distinct.dedup();
    let sampled = distinct.iter().copied().chain((0..elements).rev().step_by(stride as usize));
    if !sampled.filter(|element| *element < elements).all(&same) {
        return Ok(false);
    }
    a.walkable().and(b.walkable())?;
    Ok((0..elements).all(same))
}
