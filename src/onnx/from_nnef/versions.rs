//! The versions that models are written for.

/// The version of the operator set: no operator used by the rules has changed since.
pub(crate) const OPSET: i64 = 22;
