//! Makes inputs of flat graphs constants.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::EvalError;
use super::fold::{Constant, rewrite};
use crate::diagnostics::Code;
use crate::graph::constant::items;
use crate::graph::standard::{CONSTANT, EXTERNAL};
use crate::graph::{Extent, Graph, OperationId, Primitive, TensorId};
use crate::library::texts::standard;
use crate::tensor::{DType, Tensor};

impl Graph {
    /// Makes inputs constants: each value is converted to the type of its input. A graph of NNEF keeps at least one
    /// input, which has the name `unused` if none is left.
    ///
    /// # Errors
    ///
    /// There is no such input, or a value does not fit it or cannot be written in NNEF.
    pub fn bind(&mut self, values: &[(String, Tensor)]) -> Result<(), EvalError> {
        if values.is_empty() {
            return Ok(());
        }
        let mut constants = FxHashMap::default();
        let mut bound = Vec::new();
        for (name, value) in values {
            let (input, operation) = self.external(name)?;
            let refuse = |message: String| {
                EvalError::new(Code::OptionValue, format!("the value that the options give `{name}` {message}"))
            };
            constants.insert(operation, vec![self.bound(input, value).map_err(refuse)?]);
            bound.push(input);
        }
        let Some(declared) = standard(self.dialect).find(CONSTANT) else { return Ok(()) };
        let kind = declared.kind(self.symbols_mut());
        rewrite(self, &constants, &kind);
        self.inputs.retain(|input| !bound.contains(input));
        self.need_input();
        Ok(())
    }

    /// The input with a name, and the operation that defines it.
    fn external(&self, name: &str) -> Result<(TensorId, OperationId), EvalError> {
        let inputs = || self.inputs.iter().map(|input| self.tensor_name(*input));
        let Some(at) = inputs().position(|known| known == name) else {
            let listed = inputs().collect::<Vec<_>>().join(", ");
            let message = format!("the options give a value for `{name}`, which is not an input: inputs are {listed}");
            return Err(EvalError::new(Code::OptionInput, message));
        };
        let input = self.inputs[at];
        let producer = self.tensors[input.index()].producer;
        let is_external = |id: &OperationId| self.operation_name(&self.operations[id.index()]) == EXTERNAL;
        let operation = producer.filter(is_external).ok_or_else(|| {
            EvalError::new(Code::OptionValue, format!("`{name}` cannot be bound: it is not defined by `{EXTERNAL}`"))
        })?;
        Ok((input, operation))
    }

    /// A value as the constant that replaces an input.
    fn bound(&self, input: TensorId, value: &Tensor) -> Result<Constant, String> {
        let fits = |(extent, found): (&Extent, &usize)| {
            extent.known().is_none_or(|known| i64::try_from(*found).is_ok_and(|found| found == known))
        };
        if let Some(shape) = self.shape(input)
            && (shape.rank() != value.shape().len() || !shape.extents().iter().zip(value.shape()).all(fits))
        {
            let declared: Vec<String> = shape.extents().iter().map(Extent::to_string).collect();
            return Err(format!("has shape {:?}, the declared one is [{}]", value.shape(), declared.join(", ")));
        }
        let of = self.dtype(input).unwrap_or(Primitive::Scalar);
        let dtype = super::eval_call::element_type(of).unwrap_or(DType::Float64);
        let value = value.clone().rounded(dtype).map_err(|error| format!("does not fit: {}", error.0))?;
        let shape: Arc<[i64]> = value.shape().iter().map(|extent| *extent as i64).collect();
        let value = items(value.data()).ok_or("cannot be written in NNEF: it is not finite")?;
        Ok(Constant { shape, of, value })
    }
}
