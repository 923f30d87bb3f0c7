//! Operators for which pnnx has no name of torch: they keep that of the library below it, `aten::NAME`, and their
//! operands have no names.

use super::{Line, table};
use crate::pnnx::model::Role;

/// The names of the operands by position.
const SIGNATURES: &[(&str, &[&str])] = &[
    ("add", &["input", "other", "alpha"]),
    ("addcdiv", &["input", "tensor1", "tensor2", "value"]),
    ("addcmul", &["input", "tensor1", "tensor2", "value"]),
    ("argsort", &["input", "dim", "descending"]),
    ("bitwise_and", &["input", "other"]),
    ("bitwise_left_shift", &["input", "other"]),
    ("bitwise_not", &["input"]),
    ("bitwise_or", &["input", "other"]),
    ("bitwise_right_shift", &["input", "other"]),
    ("bitwise_xor", &["input", "other"]),
    ("clamp", &["input", "min", "max"]),
    ("clamp_max", &["input", "max"]),
    ("clamp_min", &["input", "min"]),
    ("clip", &["input", "min", "max"]),
    ("clone", &["input", "memory_format"]),
    ("cross", &["input", "other", "dim"]),
    ("diag", &["input", "diagonal"]),
    ("diagonal", &["input", "offset", "dim1", "dim2"]),
    ("dot", &["input", "tensor"]),
    ("eq", &["input", "other"]),
    ("expand_as", &["input", "other"]),
    ("flip", &["input", "dims"]),
    ("gather", &["input", "dim", "index", "sparse_grad"]),
    ("ge", &["input", "other"]),
    ("gt", &["input", "other"]),
    ("index_add", &["input", "dim", "index", "source", "alpha"]),
    ("index_copy", &["input", "dim", "index", "source"]),
    ("index_fill", &["input", "dim", "index", "value"]),
    ("index_put", &["input", "indices", "values", "accumulate"]),
    ("index_select", &["input", "dim", "index"]),
    ("inner", &["input", "other"]),
    ("isfinite", &["input"]),
    ("isinf", &["input"]),
    ("isnan", &["input"]),
    ("kthvalue", &["input", "k", "dim", "keepdim"]),
    ("le", &["input", "other"]),
    ("lerp", &["input", "end", "weight"]),
    ("linalg_cross", &["input", "other", "dim"]),
    ("logical_and", &["input", "other"]),
    ("logical_not", &["input"]),
    ("logical_or", &["input", "other"]),
    ("logical_xor", &["input", "other"]),
    ("lt", &["input", "other"]),
    ("masked_fill", &["input", "mask", "value"]),
    ("matmul", &["input", "other"]),
    ("mv", &["input", "vec"]),
    ("narrow", &["input", "dim", "start", "length"]),
    ("ne", &["input", "other"]),
    ("outer", &["input", "vec2"]),
    ("pow", &["input", "exponent"]),
    ("ravel", &["input"]),
    ("roll", &["input", "shifts", "dims"]),
    ("rot90", &["input", "k", "dims"]),
    ("scatter_add", &["input", "dim", "index", "src"]),
    ("select_scatter", &["input", "src", "dim", "index"]),
    ("slice_scatter", &["input", "src", "dim", "start", "end", "step"]),
    ("sort", &["input", "dim", "descending"]),
    ("sub", &["input", "other", "alpha"]),
    ("take", &["input", "index"]),
    ("topk", &["input", "k", "dim", "largest", "sorted"]),
    ("trace", &["input"]),
    ("tril", &["input", "diagonal"]),
    ("triu", &["input", "diagonal"]),
    ("type_as", &["input", "other"]),
    ("unflatten", &["input", "dim", "sizes"]),
    ("where", &["condition", "input", "other"]),
];

/// The kind whose rule applies to an operator. Operands without names get those of the signature.
pub(super) fn kind(line: &mut Line) -> String {
    let kind = line.operator.kind.as_str();
    let Some(name) = kind.strip_prefix("aten::") else { return kind.to_owned() };
    let Some((_, names)) = SIGNATURES.iter().find(|(known, _)| *known == name) else { return kind.to_owned() };
    let is_named = line.operator.params(Role::Argument).next().is_some();
    if !is_named && line.operands.len() <= names.len() {
        for (operand, name) in line.operands.iter_mut().zip(*names) {
            operand.name = (*name).to_owned();
        }
    }
    let name = name.replace("linalg_", "linalg.");
    let spelled = ["torch.", "Tensor."].map(|prefix| [prefix, &name].concat());
    let has_rule = |kind: &&String| table().any(|(kinds, _)| kinds.contains(&kind.as_str()));
    spelled.iter().find(has_rule).cloned().unwrap_or_else(|| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rules_or_operations() {
        assert!(SIGNATURES.is_sorted_by_key(|(name, _)| name));
        for (name, _) in SIGNATURES {
            let name = name.replace("linalg_", "linalg.");
            let spelled = ["torch.", "Tensor."].map(|prefix| [prefix, &name].concat());
            let has_rule = table().any(|(kinds, _)| spelled.iter().any(|kind| kinds.contains(&kind.as_str())));
            assert!(has_rule || crate::pnnx::table::Op::named(&name).is_some(), "{name}");
        }
    }
}
