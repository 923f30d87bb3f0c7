//! Elements of results where those of the operands decide: operations of registries, which are declared
//! for tensors of any elements, and in documents of registries those of the standard, too.

use super::call::Call;
use crate::graph::scan::Scan;
use crate::graph::{Operand, Primitive};

/// A rule for the elements of results that are not declared.
pub(super) type ElementRule = fn(&Call) -> Option<Primitive>;

/// What follows the operands among the standard operations: in documents of registries sums of integers are
/// integers.
pub(super) const STANDARD: &[(ElementRule, &str)] = &[
    (widest, "copy neg abs sign floor ceil round sqr relu add sub mul div pow min max select clamp"),
    (first, "reshape transpose squeeze unsqueeze concat split stack unstack slice tile pad gather copy_n"),
    (first, "sum_reduce max_reduce min_reduce mean_reduce matmul linear conv deconv box debox max_pool"),
];

/// The rules for operations of registries and converters; all others follow their first operand.
pub(super) const REGISTERED: &[(ElementRule, &str)] = &[
    (|call| stated(call, "datum_type"), "tract_core_external tract_onnx_random"),
    // Without a type it is one of graph.quant: quantized numbers.
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

/// The elements that an argument names.
fn stated(call: &Call, name: &str) -> Option<Primitive> {
    call.text(name).and_then(Primitive::of_datum_type)
}

/// The elements of the first tensor among the operands.
pub(super) fn first(call: &Call) -> Option<Primitive> {
    match call.first_tensor() {
        Some(tensor) => call.graph.tensors[tensor.index()].dtype,
        None => call.argument(0).and_then(|operand| call.graph.elements(operand)),
    }
}

/// The widest elements of all tensors among the operands; of numbers, where there are no tensors.
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

/// The elements of what a scan carries from step to step, or of what it runs along.
fn states(call: &Call) -> Option<Primitive> {
    let scan = Scan::read(|_, name| call.named(name).map(Operand::to_value)).ok()?;
    let initial = scan.states.iter().map(|state| &state.initial);
    let elements = initial.map(|value| call.graph.elements(Operand::from(value)));
    elements.reduce(Primitive::wider).flatten().or_else(|| first(call))
}

/// The elements of the argument `values`.
fn values(call: &Call) -> Option<Primitive> {
    call.named("values").and_then(|operand| call.graph.elements(operand))
}
