//! Quantized tensors: each is rounded to the values that its codes represent (5.3 of the 1.0.5 text).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::definition::{Definition, described};
use super::error::EvalError;
use super::run::Run;
use crate::graph::{TensorId, Value};
use crate::nnef::expand::definition::{DefinitionCall, Given};
use crate::tensor::{DType, Tensor};

/// The decoding functions of the standard's algorithms: `a_dequantize` for the algorithm `a_quantize`.
const CODES: &str = include_str!("codes.nnef");

/// The quantizations of a graph's tensors, see [`Document::quantizations`](crate::Document::quantizations).
#[derive(Clone, Debug, Default)]
pub struct Quantizations {
    /// The declarations of algorithms that are not part of the standard, as text.
    pub(crate) declarations: String,
    /// The algorithm of each tensor, and its arguments by name, except for the tensor itself.
    pub(crate) of: FxHashMap<TensorId, (String, Vec<(String, Value)>)>,
}

impl Quantizations {
    /// Whether a tensor is quantized.
    pub(crate) fn has(&self, tensor: TensorId) -> bool {
        self.of.contains_key(&tensor)
    }

    /// The quantized tensors.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = TensorId> {
        self.of.keys().copied()
    }

    /// Rounds a tensor to the values that its codes represent. Integers and logicals are not changed.
    ///
    /// # Errors
    ///
    /// The algorithm cannot be evaluated for a tensor of this shape.
    pub(super) fn rounded(&self, run: &Run, tensor: TensorId, value: Arc<Tensor>) -> Result<Arc<Tensor>, EvalError> {
        match self.of.get(&tensor) {
            Some((algorithm, arguments)) if value.dtype() == DType::Float64 => {
                self.apply(run, algorithm, arguments, value)
            }
            _ => Ok(value),
        }
    }

    /// Decodes the codes of a tensor.
    ///
    /// # Errors
    ///
    /// The decoding of the algorithm is unknown, or cannot be evaluated for a tensor of this shape.
    pub(super) fn decoded(&self, run: &Run, tensor: TensorId, codes: Tensor) -> Result<Tensor, EvalError> {
        let Some((algorithm, arguments)) = self.of.get(&tensor) else { return Ok(codes) };
        let known = algorithm.strip_suffix("quantize").map(|start| format!("{start}dequantize"));
        let Some(known) = known.filter(|name| CODES.contains(&format!("fragment {name}("))) else {
            return Err(EvalError::value(format!("the meaning of the codes of `{algorithm}` is not known")));
        };
        let codes = codes.into_type(DType::Float64).map_err(|error| EvalError::value(error.0))?;
        self.apply(run, &known, arguments, Arc::new(codes)).map(Arc::unwrap_or_clone)
    }

    fn apply(
        &self,
        run: &Run,
        algorithm: &str,
        arguments: &[(String, Value)],
        value: Arc<Tensor>,
    ) -> Result<Arc<Tensor>, EvalError> {
        let libraries = [self.declarations.as_str(), CODES].into_iter().filter(|text| !text.is_empty());
        let shape = value.shape().to_vec();
        let tensor = (Given::At(0), Value::Tensor(TensorId(0)));
        let arguments = arguments.iter().map(|(name, value)| (Given::Named(name.clone()), value.clone()));
        let call = DefinitionCall {
            name: algorithm.to_owned(),
            generic: None,
            arguments: [tensor].into_iter().chain(arguments).collect(),
            inputs: vec![described(&value)],
            results: vec![None],
        };
        let libraries = libraries.map(|text| ("quantizations".to_owned(), text.to_owned())).collect();
        let definition = Definition { call, dialect: run.graph.dialect, libraries };
        let unknown = || EvalError::value(format!("the definition of `{algorithm}` is not known"));
        let graph = definition.expanded(run.engine)?.ok_or_else(unknown)?;
        let inputs = graph.inputs.iter().map(|input| (*input, Arc::clone(&value))).collect();
        let results = run.inner(&graph, &graph, inputs)?.tensors(&graph.outputs)?;
        let result = results.into_iter().next();
        let result = result.ok_or_else(|| EvalError::argument(format!("`{algorithm}` does not return a tensor")))?;
        if result.shape() != shape {
            let found = result.shape();
            return Err(EvalError::value(format!(
                "`{algorithm}` changes the shape of the tensor, {shape:?}, to {found:?}"
            )));
        }
        Ok(result)
    }
}
