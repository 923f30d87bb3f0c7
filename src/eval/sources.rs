//! Inputs, constants, variables, and updates of variables (4.1, 4.8).

use std::sync::Arc;

use super::error::EvalError;
use super::eval_call::{Call, KernelResult, element_type};
use super::random::random_variable;
use crate::diagnostics::{Code, suggest};
use crate::graph::{Extent, Graph, Primitive, TensorId, Value, constant};
use crate::tensor::{DType, Data, Tensor};

/// Whether extents match a declared shape. In the draft, trailing extents of 1 may be missing.
fn fits(call: &Call, given: &[usize], wanted: &[Extent]) -> bool {
    let rank = if call.draft() { given.len().max(wanted.len()) } else { wanted.len() };
    let fits = |axis: usize| {
        let given = given.get(axis).copied().unwrap_or(1);
        let wanted = wanted.get(axis).unwrap_or(&Extent::ONE).dim();
        let wanted = wanted.value(&|symbol| call.run.symbols.get(symbol).copied());
        wanted.is_none_or(|wanted| usize::try_from(wanted) == Ok(given))
    };
    (call.draft() || given.len() == rank) && (0..rank).all(fits)
}

/// The result of a source.
fn output(call: &Call) -> Result<TensorId, EvalError> {
    let missing = || EvalError::argument(format!("`{}` does not return a tensor", call.name()));
    call.outputs().first().copied().ok_or_else(missing)
}

/// The element type of a source, if it is known, from the declaration or an attribute of tract's operations.
pub(super) fn source_type(graph: &Graph, output: TensorId) -> Option<DType> {
    let tensor = &graph.tensors[output.index()];
    let producer = tensor.producer.map(|producer| &graph.operations[producer.index()]);
    let Some(Value::String(name)) = producer.and_then(|producer| graph.attribute(producer, "datum_type")) else {
        return tensor.dtype.and_then(element_type);
    };
    Primitive::of_datum_type(name.trim_matches(['\'', '"'])).and_then(element_type)
}

/// Checks the shape of what is provided for a source, makes the tensor, and converts it to the type of the source.
fn checked(call: &Call, code: Code, what: &str, given: &[usize], tensor: impl FnOnce() -> Tensor) -> KernelResult {
    let output = output(call)?;
    let shape = call.graph().shape(output);
    if let Some(shape) = shape.filter(|shape| !fits(call, given, shape.extents())) {
        return Err(EvalError::new(code, format!("{what} has to have shape {shape:?}, the given one has {given:?}")));
    }
    call.budget().room(given)?;
    let tensor = tensor();
    let tensor = match source_type(call.graph(), output) {
        Some(wanted) => {
            let mixed = (tensor.dtype() == DType::Bool) != (wanted == DType::Bool);
            let given = tensor.dtype();
            match tensor.into_type(wanted) {
                Ok(tensor) if !mixed || given != DType::Bool => tensor,
                _ => {
                    let (given, wanted) = (given.keyword(), wanted.keyword());
                    return Err(EvalError::new(code, format!("{what} holds {wanted} items, {given} items are given")));
                }
            }
        }
        None => tensor,
    };
    Ok(vec![tensor])
}

/// An input of the graph.
pub(crate) fn external(call: &Call) -> KernelResult {
    let output = output(call)?;
    let name = call.graph().tensor_name(output);
    match call.run.inputs.get(&output) {
        Some(input) => {
            let made = || Arc::unwrap_or_clone(input.widened());
            checked(call, Code::EvalInput, &format!("input `{name}`"), input.tensor().shape(), made)
        }
        // An unused input exists only because NNEF requires at least one.
        None if !used(call, output) => Ok(vec![Tensor::number(0.0)]),
        None => Err(EvalError::new(Code::EvalInput, suggest::no_value(&name))),
    }
}

fn used(call: &Call, tensor: TensorId) -> bool {
    let graph = call.graph();
    let mut used = graph.outputs.contains(&tensor);
    for operation in &graph.operations {
        graph.arguments(operation).for_each(|(_, operand)| operand.each_tensor(&mut |other| used |= other == tensor));
    }
    used
}

/// A constant: a tensor whose items are in the document.
pub(crate) fn constant(call: &Call) -> KernelResult {
    let shape = call.naturals("shape")?;
    let count = call.budget().room(&shape)?;
    let Some(value) = call.attribute("value") else { return Err(EvalError::argument("a constant has no value")) };
    let given = match constant::given(value) {
        Some(given) => given,
        None => Data::Float64(numbers(call, value)?),
    };
    let (name, len) = (call.name(), given.len());
    let data = constant::filled(given, count).ok_or_else(|| {
        EvalError::shapes(format!("`{name}` of shape {shape:?} has {count} items, {len} values are given"))
    })?;
    let tensor = Tensor::with(&shape, data)?;
    // Scalars may be written as integers; the type argument decides.
    let wanted = call.graph().tensors[output(call)?.index()].dtype.and_then(element_type);
    Ok(vec![match wanted {
        Some(wanted) => tensor.into_type(wanted).map_err(|error| EvalError::value(error.0))?,
        None => tensor,
    }])
}

/// The numbers of a value with items that are not literals, such as dimension symbols.
fn numbers(call: &Call, value: &Value) -> Result<Vec<f64>, EvalError> {
    let items = if let Value::Array(items) = value { items } else { std::slice::from_ref(value) };
    items.iter().map(|item| Ok(call.tensor_of(item)?.to_scalars().first().copied().unwrap_or(0.0))).collect()
}

/// A variable: a tensor whose data are not in the document.
pub(crate) fn variable(call: &Call) -> KernelResult {
    let label = call.string("label")?;
    let shape = call.naturals("shape")?;
    call.budget().room(&shape)?;
    let fail = |message: String| Err(EvalError::new(Code::EvalVariable, message));
    let output = output(call)?;
    let of = source_type(call.graph(), output);
    let quantizations = call.run.quantizations.filter(|quantizations| quantizations.has(output));
    // The codes of quantized data are integers. Floating point data are read as scalars in any case.
    let stored = if quantizations.is_some() { Some(DType::Int64) } else { of };
    let data = call.run.variables.load(label, &shape, stored).and_then(|data| match call.run.engine.seed() {
        Some(seed) if data.is_none() => random_variable(label, &shape, of, seed).map(Some),
        _ => Ok(data),
    });
    match data {
        Ok(Some(tensor)) => {
            let are_codes = of == Some(DType::Float64) && tensor.dtype() == DType::Int64;
            let tensor = match quantizations.filter(|_| are_codes) {
                Some(quantizations) => quantizations.decoded(call.run, output, tensor)?,
                None => tensor,
            };
            let given = tensor.shape().to_vec();
            checked(call, Code::EvalVariable, &format!("the data of variable '{label}'"), &given, || tensor)
        }
        Ok(None) => fail(format!("variable '{label}' has no data")),
        Err(error) => fail(format!("the data of variable '{label}': {error}")),
    }
}

/// The next value of a variable.
pub(crate) fn update(call: &Call) -> KernelResult {
    let (old, new) = (call.tensor("variable")?, call.tensor("value")?);
    if old.shape() != new.shape() {
        let (old, new) = (old.shape(), new.shape());
        return Err(EvalError::shapes(format!("a variable of shape {old:?} cannot be updated with shape {new:?}")));
    }
    let graph = call.graph();
    if let Some(Value::Tensor(variable)) = call.value("variable")
        && let Some(producer) = graph.tensors[variable.index()].producer
        && let Some(Value::String(label)) = graph.attribute(&graph.operations[producer.index()], "label")
    {
        call.run.updates.borrow_mut().push((label.to_string(), Arc::clone(&new)));
    }
    Ok(vec![Tensor::clone(&new)])
}
