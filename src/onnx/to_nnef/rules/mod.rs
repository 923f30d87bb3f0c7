//! The rules, by family.

pub(super) mod elementwise;
