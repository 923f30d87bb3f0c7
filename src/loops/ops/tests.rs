//! The table of operations.
#![allow(clippy::unwrap_used)]

use super::spec::Compute;
use super::{Lowering, Op};

#[test]
fn names_are_unique_and_kernels_known() {
    let mut seen = std::collections::BTreeSet::new();
    for name in Op::names() {
        assert!(seen.insert(name), "{name} twice");
        let op = Op::find(name).unwrap();
        let by_kernel =
            matches!(op.0.lowering, Lowering::ByItem(..)) || ["mod", "floor_div", "xor"].contains(&op.name());
        assert!(!by_kernel || matches!(op.0.compute, Compute::Kernel(_)), "{name} has no kernel");
    }
}
