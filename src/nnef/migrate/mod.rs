//! Migration of flat graphs from the provisional dialect to NNEF 1.0.5.
//!
//! A pass between expansion and writing. The [`migration_table`] has the counterpart of each operation.
//! Operations without a counterpart are found before anything is changed, so that the expansion can be
//! repeated with the compounds among them expanded.

mod migration;
pub(crate) mod migration_table;
#[cfg(test)]
mod tests;

pub(crate) use migration::{Blocked, always_expanded, fragments, migrate};
