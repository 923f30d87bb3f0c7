//! The largest sizes and numbers of memory spaces.

use crate::tensor::TensorError;

/// The maximum number of a memory space, which is a signed 8-bit integer.
pub(super) const MAX_MEMORY_SPACE: u64 = i8::MAX as u64;

/// Checks that a number fits into 63 bits.
pub(super) fn limited(number: u128) -> Result<u64, TensorError> {
    let fits = u64::try_from(number).ok().filter(|number| i64::try_from(*number).is_ok());
    fits.ok_or_else(|| TensorError::new("the array is too large: a size does not fit into 63 bits"))
}

/// The product of sizes.
pub(super) fn product(sizes: &[u64]) -> Result<u64, TensorError> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    sizes.iter().try_fold(1u64, |all, size| limited(u128::from(all) * u128::from(*size)))
}
