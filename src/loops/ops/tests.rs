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
        let is_known = match (&op.0.compute, op.0.lowering) {
            (Compute::Kernel(row), Lowering::ByItem(lowered)) => row.kernel.is_some() && row.name == lowered.name,
            (Compute::Kernel(_), _) | (_, Lowering::ByItem(_)) => false,
            _ => true,
        };
        assert!(is_known, "{name} has no kernel");
    }
}
