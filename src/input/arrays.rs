//! Evaluation on arrays of NumPy, which other programs have.

use super::open::Input;
use super::{Findings, Refusal};
use crate::tensor::{Tensor, TensorError, npy};

/// Arrays in the format `.npy`, by name.
type Arrays = Vec<(String, Vec<u8>)>;

impl Input {
    /// Evaluates the input on arrays in the format `.npy`, as [`Input::evaluate`] does on tensors. The outputs of models
    /// of ONNX have the types of the model; those of other inputs are float32, int64 and bool.
    ///
    /// ```
    /// use nnef_flatten::tensor::Tensor;
    /// use nnef_flatten::{Options, open};
    ///
    /// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = x + 1.0; }";
    /// let array = Tensor::scalars(&[2], vec![0.5, 1.5])?.to_npy();
    /// let (outputs, _) = open(("example", text), &Options::default())?.evaluate_arrays(&[("x".into(), array)])?;
    /// assert_eq!(Tensor::from_npy(&outputs[0].1)?, Tensor::scalars(&[2], vec![1.5, 2.5])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Input::evaluate`]; an array cannot be read.
    pub fn evaluate_arrays(self, inputs: &[(String, Vec<u8>)]) -> Result<(Arrays, Findings), Refusal> {
        type Forms = (fn(&[u8]) -> Result<Tensor, TensorError>, fn(&Tensor) -> Vec<u8>);
        let (read, write): Forms = match self.notation.evaluated {
            true => (Tensor::from_npy, npy::write),
            false => (npy::exact::read, npy::exact::write),
        };
        let read = |(name, array): &(String, Vec<u8>)| match read(array) {
            Ok(tensor) => Ok((name.clone(), tensor)),
            Err(error) => Err(Refusal::Unfit(format!("the array for `{name}`: {error}"))),
        };
        let inputs = inputs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let (outputs, findings) = self.evaluate(&inputs)?;
        Ok((outputs.into_iter().map(|(name, tensor)| (name, write(&tensor))).collect(), findings))
    }
}
