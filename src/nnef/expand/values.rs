//! Values that arguments of standard operations can have (H16): borders, interpolation methods, numbers of bits. The
//! table follows the sections 4.3 to 4.6 and 5.1 of the specification.

use crate::diagnostics::suggest::did_you_mean;
use crate::diagnostics::{Code, Diagnostic};
use crate::graph::{Graph, Kind, Operand, Operation, Value};

/// What an argument can be.
#[derive(Clone, Copy, Debug)]
enum Allowed {
    /// One of these words. Programs in use also write and read the second ones.
    Words(&'static [&'static str], &'static [&'static str]),
    /// An integer within these bounds, which belong to them.
    Within(i64, i64),
}

/// The borders that read values outside of a tensor. Without a border, a sum is that with zeros around the tensor.
const FILLED: Allowed = Allowed::Words(&["constant", "replicate", "reflect", "reflect-even"], &["ignore"]);
/// All borders. A compound gives its border to the operations in its body: `max_pool` to `sample`.
const BORDERS: Allowed = Allowed::Words(&["ignore", "constant", "replicate", "reflect", "reflect-even"], &[]);
const ZEROS: Allowed = Allowed::Words(&["constant"], &["ignore", "replicate", "reflect", "reflect-even"]);
/// The borders of `pad`; tract says `replicated`.
const PADS: Allowed = Allowed::Words(&["constant", "replicate", "reflect", "reflect-even"], &["ignore", "replicated"]);
const METHODS: Allowed = Allowed::Words(&["asymmetric", "symmetric", "aligned"], &[]);
const BITS: Allowed = Allowed::Within(1, 64);

/// The table: operations, the parameter, and what its arguments can be.
const TABLE: &[(&str, &str, Allowed)] = &[
    ("conv deconv separable_conv separable_deconv planewise_conv planewise_deconv", "border", FILLED),
    ("box debox argmax_pool max_pool max_pool_with_index avg_pool rms_pool sample", "border", BORDERS),
    ("desample", "border", ZEROS),
    ("multilinear_upsample", "border", FILLED),
    ("pad", "border", PADS),
    ("multilinear_upsample roi_resample", "method", METHODS),
    ("avg_roi_align max_roi_align", "resize_method", METHODS),
    ("linear_quantize min_max_linear_quantize zero_point_linear_quantize logarithmic_quantize", "bits", BITS),
];

/// What the arguments for one parameter of a kind of operation can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    parameter: &'static str,
    /// The position of the parameter.
    position: u32,
    allowed: Allowed,
}

/// The limits for the arguments of a kind of operation.
pub(super) fn limits(graph: &Graph, kind: &Kind) -> Vec<Limit> {
    let name = graph.text_of(kind.name);
    let rows = TABLE.iter().filter(|(names, ..)| kind.standard && names.split(' ').any(|known| known == name));
    let limit = |(_, parameter, allowed): &(&str, &'static str, Allowed)| {
        let position = kind.params.iter().position(|param| graph.text_of(param.name) == *parameter)?;
        Some(Limit { parameter, position: position as u32, allowed: *allowed })
    };
    rows.filter_map(limit).collect()
}

/// H16: checks an argument. `draft` tells whether the operation belongs to the draft, which names no words.
pub(super) fn check(graph: &Graph, operation: &Operation, limit: Limit, draft: bool) -> Option<Diagnostic> {
    let Limit { parameter, position, allowed } = limit;
    let Some(Operand::Value(value)) = graph.argument_of(operation, position) else { return None };
    let name = graph.operation_name(operation);
    match (allowed, value) {
        (Allowed::Words(standard, common), Value::String(word)) => {
            if standard.contains(&&**word) || draft && common.contains(&&**word) {
                return None;
            }
            let code = if common.contains(&&**word) { Code::CommonValue } else { Code::ArgumentValue };
            let words = standard.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
            let message = format!("`{parameter}` of `{name}` is '{word}'; it can be {words}");
            let meant = did_you_mean(word, standard.iter().copied());
            Some(Diagnostic::new(code, operation.at, message).help_if(meant))
        }
        (Allowed::Within(least, most), Value::Int(given)) if !(least..=most).contains(given) => {
            let message = format!("`{parameter}` of `{name}` is {given}; it can be {least} to {most}");
            Some(Diagnostic::new(Code::ArgumentValue, operation.at, message))
        }
        _ => None,
    }
}
