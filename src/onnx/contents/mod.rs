//! The contents of a model's file: long constants stay in the file, and are read when they are needed.

mod disk;
mod field;
mod held;
mod scan;
#[cfg(test)]
mod tests;

pub(crate) use disk::{ClosedFile, DiskFile};
pub(crate) use field::FieldBytes;
pub(crate) use held::{Contents, Place};
pub(crate) use scan::{ScanError, scan};
