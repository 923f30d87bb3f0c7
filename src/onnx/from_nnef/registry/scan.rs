//! `tract_core_scan` as `Scan`, whose body is the graph of the fragment. [`crate::graph::scan`] describes the arguments,
//! `eval/scan.rs` computes them.

use std::rc::Rc;

use super::super::body::{BodyParameter, FragmentBody};
use super::super::lists::{before, from, known_at};
use super::super::translated_call::{Refused, TranslatedCall, Translation, checked_axis};
use super::super::value::{Attributes, KnownExtents, ModelValue, NnefElement, ints};
use crate::graph::scan::{self, Collected, Scan, ScanValue};
use crate::graph::{Key, Value};
use crate::onnx::model::AttributeValue;

/// An input that is cut along an axis: its sections are the items of a new axis.
struct Sections {
    value: ModelValue,
    axis: usize,
    /// Whether the first step gets the last section.
    reverse: bool,
    /// The extents of a section.
    section: KnownExtents,
}

/// What becomes of a result of the body.
enum ScanResult {
    /// The value of a state after the last step.
    State(usize),
    /// The results of all steps along an axis of their own; `usize` is the number of the output.
    Stacked(usize, Collected),
}

/// The names of parameters and results of a body.
fn place<'n>(mut names: impl Iterator<Item = &'n String>, written: &str, what: &str) -> Translation<usize> {
    let found = names.position(|name| scan::is_named(written, name));
    found.ok_or_else(|| Refused::meaning(format!("the body of a scan has no {what} `{written}`")))
}

/// The attributes of the results that are stacked.
fn stacking(outcomes: &[ScanResult]) -> Attributes<'_> {
    let stacked = |f: fn(&Collected) -> i64| {
        let each = outcomes.iter().filter_map(move |outcome| match outcome {
            ScanResult::Stacked(_, output) => Some(f(output)),
            ScanResult::State(_) => None,
        });
        ints(each.collect::<Vec<_>>())
    };
    vec![
        ("scan_output_axes", stacked(|output| if output.last { 0 } else { output.axis as i64 })),
        ("scan_output_directions", stacked(|output| i64::from(output.reverse))),
    ]
}

/// Runs the body for each section.
pub(in crate::onnx::from_nnef) fn scan(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let of = read(call)?;
    let body = FragmentBody::find(call, &of.body)?;
    let (params, results) = (body.params(), body.results());
    let mut given: Vec<Option<BodyParameter>> = vec![None; params.len()];
    let mut give = |name: &str, parameter: BodyParameter| {
        let at = place(params.iter(), name, "parameter")?;
        if let Some(given) = given.get_mut(at) {
            *given = Some(parameter);
        }
        Ok(at)
    };
    let (mut inputs, mut order) = (Vec::new(), Vec::new());
    for state in &of.states {
        let initial = operand(call, &state.initial)?;
        order.push(give(&state.param, BodyParameter::Local(initial.element, initial.dims.clone()))?);
        inputs.push(initial);
    }
    let (mut axes, mut directions) = (Vec::new(), Vec::new());
    for scanned in &of.scanned {
        let cut = sections(call, scanned)?;
        order.push(give(&scanned.param, BodyParameter::Local(cut.value.element, Some(cut.section)))?);
        axes.push(cut.axis as i64);
        directions.push(i64::from(cut.reverse));
        inputs.push(cut.value);
    }
    for (param, value) in &of.full {
        let value = operand(call, value)?;
        give(param, BodyParameter::Outer(value))?;
    }
    if of.scanned.is_empty() {
        return Err(Refused::meaning(format!("`{}` without inputs that are cut", call.name())));
    }
    let mut wanted = Vec::new();
    for state in &of.states {
        wanted.push(place(results.iter(), &state.result, "result")?);
    }
    let (mut outcomes, states) = (Vec::new(), wanted.len());
    for output in &of.outputs {
        let at = place(results.iter(), &output.result, "result")?;
        match before(&wanted, states).iter().position(|state| *state == at).filter(|_| output.last) {
            Some(state) => outcomes.push(ScanResult::State(state)),
            None => {
                outcomes.push(ScanResult::Stacked(wanted.len(), output.clone()));
                wanted.push(at);
            }
        }
    }
    let made = body.translated(call, given, &order, &wanted)?;
    for (after, initial) in made.results.iter().zip(&inputs).take(states) {
        changes(after, initial).map_or(Ok(()), |why| Err(Refused::meaning(format!("`{}`: {why}", call.name()))))?;
    }
    let mut attributes: Attributes = vec![
        ("body", AttributeValue::Graph(Box::new(made.graph))),
        ("num_scan_inputs", AttributeValue::Int(of.scanned.len() as i64)),
        ("scan_input_axes", ints(axes)),
        ("scan_input_directions", ints(directions)),
    ];
    if wanted.len() > states {
        attributes.extend(stacking(&outcomes));
    }
    let all = call.out.nodes("Scan", &inputs.iter().collect::<Vec<_>>(), attributes, wanted.len());
    let all: Vec<ModelValue> = all
        .into_iter()
        .zip(&made.results)
        .map(|(value, of)| ModelValue { element: of.element, dims: of.dims.clone(), ..value })
        .collect();
    outcomes.iter().map(|outcome| finished(call, &all, outcome)).collect()
}

/// Why a value cannot be the state after a step, if it is known.
fn changes(after: &ModelValue, initial: &ModelValue) -> Option<&'static str> {
    let differ = |(a, b): (&Option<i64>, &Option<i64>)| a.zip(*b).is_some_and(|(a, b)| a != b);
    let dims = after.dims.as_ref().zip(initial.dims.as_ref());
    if after.element != initial.element {
        Some("the type of a state changes with the first step")
    } else if dims.is_some_and(|(a, b)| a.len() != b.len() || a.iter().zip(b.iter()).any(differ)) {
        Some("the shape of a state changes with the first step")
    } else {
        None
    }
}

/// The arguments.
fn read(call: &TranslatedCall) -> Translation<Scan<Value>> {
    let argument = |position: usize, name: &str| {
        let declared = || {
            let mut arguments = call.graph.arguments(call.operation);
            arguments.find(|(key, _)| *key == Key::Param(position as u32)).map(|(_, operand)| operand)
        };
        call.attribute(name, position).or_else(declared).map(|operand| operand.to_value())
    };
    let of = Scan::read(argument).map_err(Refused::meaning)?;
    if of.skip != 0 {
        return Err(Refused::meaning(format!("`{}` that skips {} steps", call.name(), of.skip)));
    }
    Ok(of)
}

/// A value of an argument.
fn operand(call: &mut TranslatedCall, value: &Value) -> Translation<ModelValue> {
    match value {
        Value::Tensor(tensor) => call.tensor(*tensor),
        Value::Scalar(item) => Ok(call.out.number(NnefElement::Float, *item)),
        Value::Logical(item) => Ok(call.out.number(NnefElement::Bool, f64::from(u8::from(*item)))),
        other => match other.integer() {
            Some(item) => Ok(call.out.integer(item)),
            None => Err(call.unknown("state")),
        },
    }
}

/// Cuts an input along an axis.
fn sections(call: &mut TranslatedCall, of: &scan::Scanned<Value>) -> Translation<Sections> {
    let value = operand(call, &of.tensor)?;
    let rank = call.rank(&value)?;
    let axis = checked_axis(call, i64::try_from(of.axis).unwrap_or(i64::MAX), Some(rank))?;
    let dims = value.dims.clone().unwrap_or_default();
    let chunk = of.chunk.saturating_abs();
    let section: KnownExtents =
        dims.iter().enumerate().map(|(at, extent)| if at == axis { Some(chunk) } else { *extent }).collect();
    let next = axis.saturating_add(1);
    let cut = if chunk == 1 {
        call.out.unsqueeze(&value, &[next as i64])
    } else {
        let mut parts = extents(call, &value, 0..axis);
        parts.push(call.out.list("shape", &[-1, chunk]));
        parts.extend(extents(call, &value, next..rank));
        let shape = call.joined(parts);
        call.node("Reshape", &[&value, &shape], Vec::new())
    };
    let count = known_at(&dims, axis).and_then(|extent| extent.checked_div(chunk));
    let all = before(&dims, axis).iter().copied().chain([count]).chain(from(&section, axis).iter().copied());
    Ok(Sections { value: cut.with(all), axis, reverse: of.chunk < 0, section: Rc::clone(&section) })
}

/// The extents of a value along some axes, as lists of one integer.
fn extents(call: &mut TranslatedCall, value: &ModelValue, axes: std::ops::Range<usize>) -> Vec<ModelValue> {
    axes.map(|axis| call.extent_of(value, axis)).collect()
}

/// A result of the operation.
fn finished(call: &mut TranslatedCall, all: &[ModelValue], outcome: &ScanResult) -> Translation<ModelValue> {
    let (number, of) = match outcome {
        ScanResult::State(state) => return all.get(*state).cloned().ok_or_else(|| call.missing("state")),
        ScanResult::Stacked(number, of) => (*number, of),
    };
    let made = all.get(number).cloned().ok_or_else(|| call.missing("output"))?;
    let (step, element) = (made.dims.clone(), made.element);
    if of.last {
        let last = call.out.integer(-1);
        let value = call.node("Gather", &[&made, &last], vec![("axis", AttributeValue::Int(0))]);
        return Ok(ModelValue { element, dims: step, ..value });
    }
    let step =
        step.ok_or_else(|| Refused::unknown(format!("`{}`: a result of its body has no known rank", call.name())))?;
    let axis = checked_axis(call, i64::try_from(of.axis).unwrap_or(i64::MAX), Some(step.len()))?;
    let next = axis.saturating_add(1);
    let stacked = made.with(before(&step, axis).iter().copied().chain([None]).chain(from(&step, axis).iter().copied()));
    let value = if known_at(&step, axis) == Some(1) {
        let axes = call.out.list("axes", &[next as i64]);
        call.node("Squeeze", &[&stacked, &axes], Vec::new())
    } else {
        let mut parts = extents(call, &stacked, 0..axis);
        parts.push(call.out.list("shape", &[-1]));
        parts.extend(extents(call, &stacked, next.saturating_add(1)..step.len().saturating_add(1)));
        let shape = call.joined(parts);
        call.node("Reshape", &[&stacked, &shape], Vec::new())
    };
    let dims = step.iter().enumerate().map(|(at, extent)| if at == axis { None } else { *extent });
    Ok(ModelValue { element, ..value.with(dims) })
}
