//! The versions that models are written for.

/// The version of the operator set: no operator used by the rules has changed since.
pub(crate) const OPSET: i64 = 22;

/// The version of the format that was released with it.
pub(crate) const IR_VERSION: i64 = 10;
