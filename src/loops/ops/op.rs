//! An operation, as a row of the table: the type and the elements of its result.

use super::attributes::Attributes;
use super::compute::Operands;
use super::op_table::TABLE;
use super::spec::{Compute, OpResult, Spec, TypedCall};
use super::types;
use crate::loops::network::{StaticType, volume};
use crate::tensor::{DType, Data, Dims, Tensor};

/// An operation: a row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Op(pub(super) &'static Spec);

impl Op {
    /// The operation with a name.
    pub(crate) fn find(name: &str) -> Option<Op> {
        TABLE.iter().find(|spec| spec.names.contains(&name)).map(Op)
    }

    /// All operations.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Op> {
        TABLE.iter().map(Op)
    }

    /// All names of all operations.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().flat_map(|spec| spec.names.iter().copied())
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        self.0.names.first().copied().unwrap_or("")
    }

    pub(crate) fn spec(self) -> &'static Spec {
        self.0
    }

    /// The type of the result.
    pub(crate) fn infer(self, inputs: &[StaticType], attributes: &Attributes) -> Result<StaticType, String> {
        let (least, most) = self.0.arity;
        if inputs.len() < least || inputs.len() > most {
            let wanted = if most == usize::MAX { format!("at least {least}") } else { least.to_string() };
            return Err(format!("`{}` has {} operands instead of {wanted}", self.name(), inputs.len()));
        }
        types::check_elements(&inputs[0], self.0.elements)?;
        let result = (self.0.infer)(&TypedCall { inputs, attributes })?;
        let known: Option<Vec<usize>> = result.dims.iter().copied().collect();
        match known {
            Some(dims) if volume(&dims).is_none() => Err(format!("a result of {result} is too large")),
            _ => Ok(result),
        }
    }

    /// Computes the result, whose type is known. Floats of fewer than 32 bits are computed with 32, and the result is
    /// rounded.
    pub(crate) fn compute(
        self,
        inputs: &[&Tensor],
        attributes: &Attributes,
        (dtype, shape): (DType, Dims),
    ) -> OpResult<Tensor> {
        let is_narrow = |dtype: DType| matches!(dtype, DType::Narrow(_));
        if !is_narrow(dtype) && !inputs.iter().any(|input| is_narrow(input.dtype())) {
            return self.computed(inputs, attributes, dtype, shape);
        }
        let wide: Vec<Tensor> = inputs.iter().map(|input| with_32_bits(input)).collect();
        let wide: Vec<&Tensor> = wide.iter().collect();
        let result = self.computed(&wide, attributes, if is_narrow(dtype) { DType::Float32 } else { dtype }, shape)?;
        result.into_type(dtype).map_err(|error| error.to_string())
    }

    fn computed(self, inputs: &[&Tensor], attributes: &Attributes, dtype: DType, shape: Dims) -> OpResult<Tensor> {
        let call = Operands { inputs, attributes, dtype, shape: &shape };
        let data = match &self.0.compute {
            Compute::Kernel(row) => match row.kernel {
                Some(kernel) => kernel.compute(inputs, call.to()),
                None => Err(format!("`{}` has no kernel", row.name)),
            },
            Compute::With(function) => function(&call),
        }?;
        Tensor::new(&shape, data).ok_or_else(|| format!("`{}` does not fill {shape:?}", self.name()))
    }
}

/// A tensor with floats of 32 bits instead of fewer.
fn with_32_bits(x: &Tensor) -> Tensor {
    match x.data() {
        Data::Narrow(_, items) => Tensor::new(x.shape(), Data::Float32(items.clone())).unwrap_or_else(|| x.clone()),
        _ => x.clone(),
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
