//! Repeated structure of a graph as fragments.
//!
//! `listing` tells [`crate::outline`] which operations are equal but for tensors, `fragments` writes what it finds as kept
//! fragments and calls, and `naming` chooses names; `outlined` calls them.

mod fragments;
mod listing;
mod naming;
mod outlined;

#[cfg(feature = "pictures")]
pub(crate) use listing::operation_classes;
