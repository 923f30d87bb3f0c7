//! Operations without declarations that Khronos' converters write, named after operations of ONNX.

use super::registry::like_first;
use super::{Rule, is_one_of, without_variant};

/// The operations.
const OF_CONVERTERS: &str = "erf HardSigmoid mean_variance_normalization";

/// The rules, each with the operations it is for.
pub(crate) const RULES: &[(Rule, &str)] = &[(like_first, OF_CONVERTERS)];

/// Whether an operation is one that Khronos' converters write, and that is computed here.
pub(crate) fn is_of_converter(name: &str) -> bool {
    is_one_of(OF_CONVERTERS, without_variant(name))
}
