//! The table of kernels: one row for each operator that is evaluated.

use super::call::Kernel;
use super::kernels::{constants, layout};

/// The kernels by domain and operator.
pub(super) static KERNELS: &[(&str, &str, Kernel)] = &[
    // Constants.
    ("", "Constant", constants::constant),
    // Layout.
    ("", "Identity", layout::identity),
    ("", "Reshape", layout::reshape),
];
