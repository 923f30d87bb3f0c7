//! Decomposes a bitcast to another array into reshapes and transpositions.

use super::ArrayShape;
use crate::tensor::TensorError;

/// Steps of a bitcast: the permutation of a transposition, or none for a reshape, and the shape of the result.
type BitcastSteps = Vec<(Option<Vec<usize>>, ArrayShape)>;

impl ArrayShape {
    /// The reshapes and transpositions, each a bitcast, from this array to another array with the same memory: a
    /// single one, or a transposition, a reshape and a transposition. A transposition has its permutation, a
    /// reshape none, and each step has the shape of its result. None if the memories of the arrays differ, or if
    /// padded or tiled arrays need more than one step.
    ///
    /// ```
    /// use nnef_flatten::tensor::Shape;
    ///
    /// let from: Shape = "f32[2,3,4]{0,1,2}".parse()?;
    /// let to: Shape = "f32[6,4]{1,0}".parse()?;
    /// let steps = from.array().unwrap().bitcast_steps(to.array().unwrap())?.unwrap();
    /// let steps: Vec<String> = steps.iter().map(|(order, to)| format!("{order:?} {to}")).collect();
    /// assert_eq!(steps, ["Some([2, 1, 0]) f32[4,3,2]{2,1,0}", "None f32[6,4]{1,0}"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dimension has no bound, or tiled arrays are too large to be compared.
    pub fn bitcast_steps(&self, to: &ArrayShape) -> Result<Option<BitcastSteps>, TensorError> {
        if self.reshape_is_bitcast(to)? {
            return Ok(Some(vec![(None, to.clone())]));
        }
        if let Some(order) = self.deduce_transpose(to)? {
            return Ok(Some(vec![(Some(order), to.clone())]));
        }
        let (first, last) = (self.with_descending_layout(), to.with_descending_layout());
        let plain = self.layout.is_plain() && to.layout.is_plain();
        if !plain || !first.reshape_is_bitcast(&last)? {
            return Ok(None);
        }
        let mut steps = Vec::new();
        if first != *self {
            steps.push((Some(self.layout.major_to_minor()), first.clone()));
        }
        if first != last {
            steps.push((None, last.clone()));
        }
        if last != *to {
            let mut order = vec![0; to.rank()];
            to.layout.major_to_minor().iter().enumerate().for_each(|(i, &dimension)| order[dimension] = i);
            steps.push((Some(order), to.clone()));
        }
        Ok(Some(steps))
    }
}
