//! External data: constant tensors whose elements are in other files, wherever a model has constants.

mod findings;
mod place;
mod search;
mod stored;
#[cfg(test)]
mod tests;

pub(super) use findings::{Finding, findings};
pub(super) use place::{Folder, path_of};
pub(super) use search::stored;
pub(super) use stored::{PathStep, locations};
