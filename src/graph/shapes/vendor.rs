//! Undeclared operations that Khronos' converters write, with names of ONNX operations.

use super::registry::like_first;
use super::{Rule, is_one_of, without_variant};

/// The operations.
const OF_CONVERTERS: &str = "erf HardSigmoid mean_variance_normalization";

/// The rules, each with the names of its operations.
pub(crate) const RULES: &[(Rule, &str)] = &[(like_first, OF_CONVERTERS)];

/// Whether an operation is one of Khronos' converters that is supported here.
pub(crate) fn is_of_converter(name: &str) -> bool {
    is_one_of(OF_CONVERTERS, without_variant(name))
}
