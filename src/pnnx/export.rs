//! Exports flat graphs to PNNX files: element-wise regions become expressions, and every other operation becomes an
//! operator with its name.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::io;

use rustc_hash::{FxHashMap, FxHashSet};

use super::data::Archive;
use super::fuse::{FusionRule, GraphPart, fuse};
use super::model::{
    ATTRIBUTE, EXPR, EXPRESSION, INPUT, OUTPUT, Operator, OperatorParam, PnnxModel, Role, Setting, Typed, UNKNOWN,
};
use super::tokens::Literal;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::Variables;
use crate::graph::standard::{CONSTANT, EXTERNAL, VARIABLE};
use crate::graph::{Extent, Graph, Key, Operand, Operation, Primitive, TensorId, Value, constant};
use crate::parts::TRANSLATION;
use crate::source::Location;
use crate::source::literals::{push_int, push_scalar};
use crate::tensor::{Tensor, TensorError, volume};

impl PnnxModel {
    /// The model of a graph that [`check`] accepts, without the data of variables.
    pub(crate) fn of_graph(graph: &Graph) -> PnnxModel {
        let mut model = PnnxModel::default();
        let parts = fuse(graph, FusionRule::Once);
        let operands = operands(graph, &parts);
        let mut parts = parts.into_iter().peekable();
        for (at, operation) in graph.operations.iter().enumerate() {
            if matches!(graph.operation_name(operation), EXTERNAL | VARIABLE | CONSTANT) {
                model.operators.extend(source(graph, operation, &operands));
                continue;
            }
            let ends = |part: &GraphPart| match part {
                GraphPart::Region { output, .. } => graph.tensors_of(operation).next() == Some(*output),
                GraphPart::Other(other) => *other == at,
            };
            if let Some(part) = parts.next_if(ends) {
                model.operators.push(match part {
                    GraphPart::Region { output, expression, inputs } => {
                        let params = vec![OperatorParam::new(Role::Value, EXPR, expression.canonical())];
                        operator(graph, EXPRESSION, None, &inputs, &[output], params)
                    }
                    GraphPart::Other(_) => other(graph, operation),
                });
            }
        }
        for output in graph.outputs() {
            model.operators.push(operator(graph, OUTPUT, None, &[*output], &[], Vec::new()));
        }
        model
    }
}

/// Writes the file of a graph that [`check`] accepts.
pub(crate) fn write(graph: &Graph, out: &mut dyn io::Write) -> io::Result<()> {
    if let Some(part) = TRANSLATION.missing() {
        return Err(io::Error::other(part.reason()));
    }
    out.write_all(PnnxModel::of_graph(graph).print().as_bytes())
}

/// Checks that all arguments of a graph's operations have a form in files.
///
/// # Errors
///
/// Those that have none.
pub(crate) fn check(graph: &Graph) -> Result<(), Diagnostics> {
    if let Some(part) = TRANSLATION.missing() {
        return Err(part.at(graph.operations.first().map(|operation| operation.at).unwrap_or_default()));
    }
    let mut found = Diagnostics::new(false);
    for operation in &graph.operations {
        let name = graph.operation_name(operation);
        if matches!(name, EXTERNAL | VARIABLE | CONSTANT) {
            continue;
        }
        let mut used: FxHashSet<TensorId> = FxHashSet::default();
        for (key, operand) in graph.named_arguments(operation) {
            if let (Operand::Tensor(tensor), Some(key)) = (operand, key)
                && !graph.kind(operation).standard
                && !used.insert(tensor)
            {
                let message = format!(
                    "the argument `{key}` of `{name}` has no form in files of PNNX: another argument is the same tensor, \
                     and pnnx finds an operand by its name"
                );
                found.report(Diagnostic::new(Code::PnnxArgument, operation.at, message));
            }
            let Operand::Value(value) = operand else { continue };
            let reason = match key {
                None if !value.has_tensor() => Some("it has no name, and its position would be lost".to_owned()),
                _ => without_form(value, true),
            };
            if let Some(reason) = reason {
                let which = key.map_or_else(|| "an argument".to_owned(), |key| format!("the argument `{key}`"));
                let message = format!("{which} of `{name}` has no form in files of PNNX: {reason}");
                found.report(Diagnostic::new(Code::PnnxArgument, operation.at, message));
            }
        }
    }
    if found.has_errors() { Err(found) } else { Ok(()) }
}

/// Warns of extents that are not numbers: the file has `?` for them, and texts in arguments that depend on them, which
/// readers take for something else. Inputs are named, or else the first other tensor.
pub(crate) fn warn_open(graph: &Graph, found: &mut Diagnostics) {
    let is_open = |tensor: &TensorId| graph.shape(*tensor).is_none_or(|shape| shape.known().is_none());
    let inputs: Vec<TensorId> = graph.inputs().iter().copied().filter(is_open).collect();
    let rest = || graph.operations.iter().flat_map(|operation| graph.tensors_of(operation)).find(is_open);
    let told = if inputs.is_empty() { rest().into_iter().collect() } else { inputs };
    for tensor in told {
        let name = graph.tensor_name(tensor);
        let extents =
            graph.shape(tensor).map(|shape| shape.extents().iter().map(Extent::to_string).collect::<Vec<_>>());
        let shape = extents.map_or_else(|| "?".to_owned(), |extents| extents.join(","));
        let message =
            format!("the shape of `{name}` is ({shape}), and files of PNNX have no symbols: it is written with `?`");
        let at = graph.producer(tensor).map(|operation| operation.at).unwrap_or_default();
        let mut warning = Diagnostic::new(Code::PnnxOpen, at, message);
        if graph.inputs().contains(&tensor) {
            warning =
                warning.help(format!("give it numbers: --input-shape {name}={shape}, with a number for each extent"));
        }
        found.report(warning);
    }
}

/// Why a value has no form; none if it has one. `outer` is false within a list.
fn without_form(value: &Value, outer: bool) -> Option<String> {
    match value {
        Value::Array(items) | Value::Tuple(items) => {
            let tensors = items.iter().filter(|item| item.has_tensor()).count();
            if tensors > 0 && tensors < items.len() {
                return Some("it is a list of tensors and other values".to_owned());
            }
            items.iter().find_map(|item| without_form(item, false))
        }
        Value::String(text) => {
            let divided = !outer && text.contains([',', '(', ')']);
            let read = OperatorParam::new(Role::Value, "", &**text).setting();
            let same = match read {
                Setting::Word(_) => true,
                // Literals of PNNX that NNEF does not have are texts.
                Setting::Literal(Literal::Float(float)) => !float.is_finite(),
                Setting::Literal(Literal::Complex(..) | Literal::None) => true,
                Setting::Literal(_) | Setting::List(_) => false,
            };
            let held = same && !divided && !text.is_empty() && !text.contains(char::is_whitespace);
            (!held).then(|| format!("the text {:?} would be read back as another value", &**text))
        }
        _ => None,
    }
}

/// The data of a graph's variables and constants, if it has any.
type StoredData = Option<Archive>;
/// The variables without data, with their locations.
type Missing = Vec<(String, Location)>;

/// The data of the attribute operators in the model of a graph.
///
/// # Errors
///
/// Data cannot be read, or different data would have one name.
pub(crate) fn data(graph: &Graph, variables: &dyn Variables) -> Result<(StoredData, Missing), TensorError> {
    let (mut members, mut missing) = (Vec::new(), Vec::new());
    let mut named = FxHashMap::default();
    let operands = operands(graph, &fuse(graph, FusionRule::Once));
    for operation in &graph.operations {
        if !matches!(graph.operation_name(operation), VARIABLE | CONSTANT) {
            continue;
        }
        let Some(attribute) = source(graph, operation, &operands) else { continue };
        let label = match graph.attribute(operation, "label") {
            Some(Value::String(label)) => Some(&**label),
            _ => None,
        };
        match named.insert(attribute.name.clone(), label) {
            None => {}
            // Variables of one label have one member.
            Some(before) if before.is_some() && before == label => continue,
            Some(_) => {
                return Err(TensorError::new(format!("different data would have the same name, `{}`", attribute.name)));
            }
        }
        let Some(typed) = attribute.params(Role::Data).next().and_then(OperatorParam::typed) else { continue };
        let shape = typed.extents.iter().map(|extent| extent.and_then(|extent| usize::try_from(extent).ok()));
        let Some(shape) = shape.collect::<Option<Vec<usize>>>() else { continue };
        let loaded = match label {
            Some(label) => variables.load(label, &shape, None)?,
            None => constant(graph, operation, &shape),
        };
        match loaded {
            Some(tensor) => members.push((format!("{}.data", attribute.name), stored(&tensor, &typed.element))),
            None => missing.push((attribute.name, operation.at)),
        }
    }
    let archive = Archive::of(members.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    Ok((if members.is_empty() { None } else { Some(archive?) }, missing))
}

/// The tensor of a constant.
fn constant(graph: &Graph, operation: &Operation, shape: &[usize]) -> Option<Tensor> {
    let given = constant::given(graph.attribute(operation, "value")?)?;
    Tensor::with(shape, constant::filled(given, volume(shape)?)?).ok()
}

/// The bytes of a tensor in an element type of attribute operators.
fn stored(tensor: &Tensor, element: &str) -> Vec<u8> {
    let primitive = match element {
        "i64" => Primitive::Integer,
        "bool" => Primitive::Logical,
        _ => Primitive::Scalar,
    };
    constant::stored(tensor.data(), primitive)
}

/// The shape and type of a tensor.
fn typed(graph: &Graph, tensor: TensorId) -> Option<Typed> {
    let extents = graph.shape(tensor)?.extents().iter().map(|extent| extent.known()).collect();
    let element = match graph.dtype(tensor) {
        Some(Primitive::Integer) => "i64",
        Some(Primitive::Logical) => "bool",
        Some(Primitive::Scalar) => "f32",
        Some(Primitive::String | Primitive::Generic) | None => UNKNOWN,
    };
    Some(Typed { extents, element: element.to_owned() })
}

/// An operator; without `name`, it is named after its result.
fn operator(
    graph: &Graph,
    kind: &str,
    name: Option<String>,
    inputs: &[TensorId],
    outputs: &[TensorId],
    mut params: Vec<OperatorParam>,
) -> Operator {
    let names = |tensors: &[TensorId]| tensors.iter().map(|tensor| graph.tensor_name(*tensor)).collect::<Vec<_>>();
    let mut known: FxHashSet<TensorId> = FxHashSet::default();
    for tensor in inputs.iter().chain(outputs).filter(|tensor| known.insert(**tensor)) {
        if let Some(typed) = typed(graph, *tensor) {
            params.push(OperatorParam::new(Role::Shape, &graph.tensor_name(*tensor), typed.to_string()));
        }
    }
    let (inputs, outputs) = (names(inputs), names(outputs));
    let name = name.unwrap_or_else(|| match (outputs.first(), inputs.first()) {
        (Some(output), _) => output.clone(),
        (None, input) => format!("output_{}", input.map_or("", String::as_str)),
    });
    Operator { kind: kind.to_owned(), name, inputs, outputs, params, ..Operator::default() }
}

/// The tensors that operators of a file have as operands.
fn operands(graph: &Graph, parts: &[GraphPart]) -> FxHashSet<TensorId> {
    let mut found: FxHashSet<TensorId> = graph.outputs().iter().copied().collect();
    for part in parts {
        match part {
            GraphPart::Region { inputs, .. } => found.extend(inputs),
            GraphPart::Other(at) => {
                if let Some(operation) = graph.operations.get(*at) {
                    graph.each_operand_tensor(operation, |tensor| found.extend([tensor]));
                }
            }
        }
    }
    found
}

/// The operator of an input, a variable or a constant; none for a constant of rank 0 that no operator has as an operand,
/// since expressions have its literal.
fn source(graph: &Graph, operation: &Operation, operands: &FxHashSet<TensorId>) -> Option<Operator> {
    let tensor = graph.tensors_of(operation).next()?;
    let is_scalar = || graph.shape(tensor).is_some_and(|shape| shape.rank() == 0);
    match graph.operation_name(operation) {
        EXTERNAL => return Some(operator(graph, INPUT, None, &[], &[tensor], Vec::new())),
        CONSTANT if !operands.contains(&tensor) && is_scalar() => return None,
        _ => {}
    }
    let name = match graph.attribute(operation, "label") {
        Some(Value::String(label)) => Some(label.split_ascii_whitespace().collect::<Vec<_>>().join("_")),
        _ => None,
    };
    let mut data = typed(graph, tensor)?;
    if data.element == UNKNOWN {
        // Their data are written as such.
        data.element = "f32".to_owned();
    }
    let data = OperatorParam::new(Role::Data, "data", data.to_string());
    Some(operator(graph, ATTRIBUTE, name, &[], &[tensor], vec![data]))
}

fn other(graph: &Graph, operation: &Operation) -> Operator {
    let (mut inputs, mut params, mut named) = (Vec::new(), Vec::new(), Vec::new());
    let mut order: Vec<(Key, (Option<&str>, Operand))> =
        graph.keys(operation).iter().copied().zip(graph.named_arguments(operation)).collect();
    // Operands without keys are in the order of the parameters.
    order.sort_by_key(|(key, _)| if let Key::Param(param) = key { *param } else { 0 });
    for (_, (key, operand)) in order {
        let before = inputs.len();
        operand.each_tensor(&mut |tensor| inputs.push(tensor));
        match (operand, key) {
            (Operand::Tensor(tensor), Some(key)) => {
                named.push(OperatorParam::new(Role::Argument, key, graph.tensor_name(tensor)));
            }
            (Operand::Value(value), Some(key)) if inputs.len() == before => {
                let mut text = String::new();
                push(&mut text, value, true);
                params.push(OperatorParam::new(Role::Value, key, text));
            }
            _ => {}
        }
    }
    // pnnx finds an operand by its name: of two keys for one operand, one would be lost.
    let mut once: FxHashSet<TensorId> = FxHashSet::default();
    if inputs.iter().all(|input| once.insert(*input)) {
        params.extend(named);
    }
    let outputs: Vec<TensorId> = graph.tensors_of(operation).collect();
    let kind = format!("nnef.{}", graph.operation_name(operation));
    operator(graph, &kind, None, &inputs, &outputs, params)
}

/// Appends a value without blanks. Nested lists are flattened, since PNNX files do not have them.
fn push(out: &mut String, value: &Value, outer: bool) {
    let mut list = |items: &mut dyn Iterator<Item = Value>| {
        out.push_str(if outer { "(" } else { "" });
        for (i, item) in items.enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            push(out, &item, false);
        }
        out.push_str(if outer { ")" } else { "" });
    };
    match value {
        Value::Integers(items) => list(&mut items.iter().map(|item| Value::Int(*item))),
        Value::Scalars(items) => list(&mut items.iter().map(|item| Value::Scalar(*item))),
        Value::Array(items) | Value::Tuple(items) => list(&mut items.iter().cloned()),
        Value::Int(int) => push_int(out, *int),
        Value::Scalar(scalar) => push_scalar(out, *scalar),
        Value::Logical(truth) => out.push_str(if *truth { "True" } else { "False" }),
        Value::String(text) | Value::Symbol(text) => out.push_str(text),
        Value::Tensor(_) => {}
    }
}
