//! What differs between two flat graphs.
//!
//! Names of inner tensors do not identify operations: these are matched by structure. `hashes` has two hashes of each
//! operation, of what it is computed from and of what is computed from it; `matching` pairs operations by them, then
//! those beside pairs, and at last what is left, in its order (`align`). `changes` compares the pairs, `report` writes
//! what it finds. All take linear time.

mod align;
mod changes;
mod comparison;
mod difference;
mod ends;
mod hashes;
mod matching;
mod report;
#[cfg(test)]
mod tests;

pub(crate) use comparison::compare;
pub use comparison::diff;
pub use difference::Difference;
pub(crate) use difference::{ChangedTensors, Compared, DataDigest, What};
