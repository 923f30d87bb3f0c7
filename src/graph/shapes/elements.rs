//! Rules for element types that depend on the operands: for operations of tract registries, whose declarations
//! accept any element type; and in documents with registries, for standard operations, too.

use super::shape_call::Call;
use crate::dictionary::ElementRule;
use crate::graph::scan::Scan;
use crate::graph::{Operand, Primitive};

/// The element type of results without a declared one, by a rule.
pub(super) fn of(rule: ElementRule, call: &Call) -> Option<Primitive> {
    match rule {
        ElementRule::First => first(call),
        ElementRule::Widest => widest(call),
        ElementRule::DatumType => stated(call, "datum_type"),
        ElementRule::DatumTypeOrFirst => stated(call, "datum_type").or_else(|| first(call)),
        ElementRule::To => stated(call, "to").or(Some(Primitive::Scalar)),
        ElementRule::Values => values(call),
        ElementRule::Recurrences => states(call),
        ElementRule::Unknown => None,
    }
}

/// The element type that a string argument specifies.
fn stated(call: &Call, name: &str) -> Option<Primitive> {
    call.text(name).and_then(Primitive::of_datum_type)
}

/// The element type of the first tensor in the operands.
fn first(call: &Call) -> Option<Primitive> {
    match call.first_tensor() {
        Some(tensor) => call.graph.tensors[tensor.index()].dtype,
        None => call.argument(0).and_then(|operand| call.graph.elements(operand)),
    }
}

/// The widest element type of all tensors in the operands; without tensors, that of the numbers.
fn widest(call: &Call) -> Option<Primitive> {
    let (mut tensors, mut others) = (None, None);
    let mut none = true;
    for operand in call.graph.operands_of(call.operation) {
        match operand {
            Operand::Tensor(tensor) => {
                none = false;
                tensors = Primitive::wider(tensors, call.graph.tensors[tensor.index()].dtype);
            }
            operand => others = Primitive::wider(others, call.graph.elements(operand)),
        }
    }
    if none { others } else { tensors }
}

/// The widest element type of the recurrences of a scan, or else that of its first tensor.
fn states(call: &Call) -> Option<Primitive> {
    let scan = Scan::read(|_, name| call.named(name).map(Operand::to_value)).ok()?;
    let initial = scan.states.iter().map(|state| &state.initial);
    let elements = initial.map(|value| call.graph.elements(Operand::from(value)));
    elements.reduce(Primitive::wider).flatten().or_else(|| first(call))
}

/// The element type of the argument `values`.
fn values(call: &Call) -> Option<Primitive> {
    call.named("values").and_then(|operand| call.graph.elements(operand))
}
