//! Rules for element types that depend on the operands: for operations of tract registries, whose declarations
//! accept any element type; and in documents with registries, for standard operations, too.

use super::call::Call;
use crate::graph::scan::Scan;
use crate::graph::{Operand, Primitive};

/// A rule for the element type of results without a declared one.
pub(super) type ElementRule = fn(&Call) -> Option<Primitive>;

/// The rules for standard operations in documents with registries, where a sum of integers is an integer.
pub(super) const STANDARD: &[(ElementRule, &str)] = &[
    (widest, "copy neg abs sign floor ceil round sqr relu add sub mul div pow min max select clamp"),
    (first, "reshape transpose squeeze unsqueeze concat split stack unstack slice tile pad gather copy_n"),
    (first, "sum_reduce max_reduce min_reduce mean_reduce matmul linear conv deconv box debox max_pool"),
];

/// The rules for operations of registries and converters. By default, the element type is that of the first operand.
pub(super) const REGISTERED: &[(ElementRule, &str)] = &[
    (|call| stated(call, "datum_type"), "tract_core_external tract_onnx_random"),
    // If the type is missing, it is in graph.quant: a quantized type.
    (|call| stated(call, "to").or(Some(Primitive::Scalar)), "tract_core_cast"),
    (|call| stated(call, "datum_type").or(first(call)), "tract_core_gather tract_transformers_dyn_kv_cache"),
    (
        widest,
        "tract_core_range tract_core_xor tract_core_bitand tract_core_bitor tract_core_bitxor tract_shl tract_shr",
    ),
    (values, "tract_onnx_ml_direct_lookup"),
    (states, "tract_core_scan"),
    (|_| None, "tract_core_submodel tract_resource_get"),
];

/// The element type that a string argument specifies.
fn stated(call: &Call, name: &str) -> Option<Primitive> {
    call.text(name).and_then(Primitive::of_datum_type)
}

/// The element type of the first tensor in the operands.
pub(super) fn first(call: &Call) -> Option<Primitive> {
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
