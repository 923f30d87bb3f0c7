//! Compounds evaluated by their definitions: a call is expanded to primitives, for operands of its shapes, and the
//! resulting graph is evaluated.

use std::sync::Arc;

use indexmap::IndexSet;

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::run::Engine;
use crate::graph::constant::primitive;
use crate::graph::{Dialect, Graph, Key, Output, Primitive, Shape, TensorId, Value};
use crate::library::registries::BUILT_IN;
use crate::nnef::expand::definition::{DefinitionCall, Given, expand_call};
use crate::options::{Lower, Options};
use crate::tensor::{Data, Tensor};

/// The maximum number of expanded definitions that are cached for later calls.
const REMEMBERED: usize = 4096;

/// A call, and the declarations that it is expanded with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Definition {
    pub(super) call: DefinitionCall,
    pub(super) dialect: Dialect,
    /// Declarations besides those of the standard library: names, and texts unless the names are those of registries.
    pub(super) libraries: Vec<(String, String)>,
}

impl Definition {
    /// The graph of the call, expanded to primitives and cached; none if it has no definition.
    ///
    /// # Errors
    ///
    /// The call or the definition has errors for these operands.
    pub(super) fn expanded(self, engine: &dyn Engine) -> Result<Option<Arc<Graph>>, EvalError> {
        let mut known = engine.definitions().borrow_mut();
        if let Some(graph) = known.get(&self) {
            return Ok(Some(Arc::clone(graph)));
        }
        let limits = Options::default();
        let max_memory = limits.max_memory.min(engine.limits().max_items.saturating_mul(8));
        let max_ops = limits.max_ops.min(engine.limits().max_work);
        let (dialect, libraries) = (Some(self.dialect), self.libraries.clone());
        let options = Options { dialect, libraries, lower: Lower::All, max_memory, max_ops, ..limits };
        let refused = |why: String| {
            let name = &self.call.name;
            EvalError::shapes(format!("the definition of `{name}` cannot be expanded for these operands: {why}"))
        };
        let Some(graph) = expand_call(&self.call, &options).map_err(refused)? else { return Ok(None) };
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let graph = Arc::new(graph);
        known.insert(self, Arc::clone(&graph));
        Ok(Some(graph))
    }
}

/// The element type and the shape of a tensor.
pub(super) fn described(tensor: &Tensor) -> (Primitive, Option<Shape>) {
    let extents: Vec<i64> = tensor.shape().iter().map(|extent| *extent as i64).collect();
    (primitive(tensor.dtype()), Some(Shape::of(&extents)))
}

/// The value of an attribute, whose tensors are known when the graph is evaluated. In an array, a tensor of one element is
/// that element.
fn known(call: &Call, value: Value, in_array: bool) -> Result<Value, EvalError> {
    Ok(match value {
        Value::Tensor(tensor) => {
            let tensor = call.run.tensor(tensor)?;
            call.budget().room(tensor.shape())?;
            let shape = if in_array && tensor.len() == 1 { &[] } else { tensor.shape() };
            nested(tensor.data(), shape, 0)
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| known(call, item.clone(), true)).collect::<Result<_, _>>()?)
        }
        value => value,
    })
}

/// The elements of a tensor from one on, in arrays by its shape.
fn nested(data: &Data, shape: &[usize], first: usize) -> Value {
    match shape {
        [] => match primitive(data.dtype()) {
            Primitive::Integer => Value::Int(data.integer(first)),
            Primitive::Logical => Value::Logical(data.float(first) != 0.0),
            _ => Value::Scalar(data.float(first)),
        },
        [extent] if primitive(data.dtype()) == Primitive::Integer => {
            Value::Integers((first..first + extent).map(|at| data.integer(at)).collect())
        }
        [extent] if primitive(data.dtype()) == Primitive::Scalar => {
            Value::Scalars((first..first + extent).map(|at| data.float(at)).collect())
        }
        [extent, rest @ ..] => {
            let step: usize = rest.iter().product();
            Value::Array((0..*extent).map(|i| nested(data, rest, first + i * step)).collect())
        }
    }
}

/// The definition of a call, and the tensors for the inputs of its graph.
fn definition(call: &Call) -> Result<(Definition, Vec<Arc<Tensor>>), EvalError> {
    let (graph, operation) = (call.graph(), call.operation);
    let mut given: IndexSet<TensorId> = IndexSet::new();
    let mut arguments: Vec<(Given, Value)> = Vec::new();
    for (key, operand) in graph.arguments(operation) {
        let Key::Param(param) = key else { continue };
        let mut value = operand.to_value();
        if !graph.kind(operation).params[param as usize].tensor {
            value = known(call, value, false)?;
        }
        value.map_tensors(&mut |tensor| TensorId(given.insert_full(tensor).0 as u32));
        arguments.push((Given::At(param as usize), value));
    }
    let tensors = given.iter().map(|tensor| call.run.tensor(*tensor)).collect::<Result<Vec<_>, EvalError>>()?;
    let array = |output: Output| match output {
        Output::Tensor(_) => None,
        Output::Array(tensors) => Some(tensors.len()),
    };
    let libraries = match graph.conventions.deviates {
        // The definition has the operations of documents with registries.
        true => vec![(BUILT_IN.to_owned(), String::new())],
        false => Vec::new(),
    };
    let call = DefinitionCall {
        name: call.name().to_owned(),
        generic: operation.dtype(),
        arguments,
        inputs: tensors.iter().map(|tensor| described(tensor)).collect(),
        results: graph.outputs_of(operation).map(array).collect(),
    };
    Ok((Definition { call, dialect: graph.dialect, libraries }, tensors))
}

/// Evaluates a compound of the standard library by its definition.
pub(crate) fn by_definition(call: &Call) -> KernelResult {
    let (definition, given) = definition(call)?;
    let Some(graph) = definition.expanded(call.run.engine)? else {
        let message = format!("the definition of `{}` is not known", call.name());
        return Err(EvalError::new(crate::diagnostics::Code::NotEvaluated, message));
    };
    let inputs = graph.inputs.iter().copied().zip(given).collect();
    let run = call.run.inner(&graph, &graph, inputs)?;
    let results = run.tensors(&graph.outputs)?;
    Ok(results.into_iter().map(Arc::unwrap_or_clone).collect())
}
