//! Versions of the standard operator set of ONNX.

use crate::onnx::latest_opset;

/// Reads a version of the operator set.
///
/// # Errors
///
/// It is not a number, or there is no such version.
pub(crate) fn opset(text: &str) -> Result<i64, String> {
    let latest = latest_opset();
    let version = text.parse().ok().filter(|version| (1..=latest).contains(version));
    version.ok_or_else(|| format!("`{text}` is not a version of the operator set: 1 to {latest}"))
}
