//! Values of constants whose type is the type argument of a fragment (T1): `constant<?>(…, value = [1.0])` in a call
//! with `?` = integer.
//!
//! A literal in the body of a generic fragment stands for a value of the type argument (3.3.2), which only expansion
//! knows.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::origin::with_origin;
use crate::graph::standard::CONSTANT;
use crate::graph::{Dialect, Graph, Kind, Operation, Primitive, Value};
use crate::source::names::Name;

/// Integers up to this magnitude are exact as scalars.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Converts the values of constants to the element type of the constant. Reports those that are not of that type.
pub(super) fn convert(graph: &mut Graph, value: Option<Name>, diagnostics: &mut Diagnostics) {
    let Some(value) = value.filter(|_| graph.dialect != Dialect::Draft && !graph.conventions.follows) else { return };
    let is_constant = |kind: &Kind| kind.standard && graph.text_of(kind.name) == CONSTANT;
    if !graph.kinds.iter().any(is_constant) {
        return;
    }
    let mut changed = Vec::new();
    for (i, operation) in graph.operations.iter().enumerate() {
        let (Some(wanted), _) = operation.type_argument() else { continue };
        let kind = graph.kind(operation);
        if !is_constant(kind) {
            continue;
        }
        let Some(given) = graph.argument_named(operation, value).and_then(|operand| operand.value()) else { continue };
        match converted(given, wanted) {
            Ok(None) => {}
            Ok(Some(new)) => changed.push((i, new)),
            Err(()) => diagnostics.report(mismatch(graph, operation, wanted)),
        }
    }
    if !changed.is_empty() {
        graph.replace_argument(value, changed);
    }
}

/// A value as one of a type: none if it is of that type already, an error if it cannot be one.
fn converted(value: &Value, wanted: Primitive) -> Result<Option<Value>, ()> {
    match (value, wanted) {
        (Value::Scalars(items), Primitive::Integer) => {
            let whole = |item: &f64| (item.trunc() == *item && item.abs() <= EXACT).then_some(*item as i64).ok_or(());
            Ok(Some(Value::Integers(items.iter().map(whole).collect::<Result<_, ()>>()?)))
        }
        (Value::Integers(items), Primitive::Scalar) if !items.is_empty() => {
            let exact = |item: &i64| (item.unsigned_abs() <= EXACT as u64).then_some(*item as f64).ok_or(());
            Ok(Some(Value::Scalars(items.iter().map(exact).collect::<Result<_, ()>>()?)))
        }
        (Value::Scalars(_), Primitive::Logical) => Err(()),
        (Value::Integers(items), Primitive::Logical) if !items.is_empty() => Err(()),
        (Value::Array(items), Primitive::Integer | Primitive::Scalar)
            if items.iter().any(|item| matches!(item, Value::Logical(_))) =>
        {
            Err(())
        }
        _ => Ok(None),
    }
}

fn mismatch(graph: &Graph, operation: &Operation, wanted: Primitive) -> Diagnostic {
    let wanted = match wanted {
        Primitive::Integer => "integers",
        Primitive::Logical => "logicals",
        _ => "scalars",
    };
    let message = format!("`value` of `constant` must consist of {wanted}, the type argument");
    with_origin(graph, operation, Diagnostic::new(Code::ArgumentType, operation.at, message))
}
