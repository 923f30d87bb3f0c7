//! Networks of ncnn: texts (`.param`) with one layer in each line, and the weights beside them (`.bin`).

mod import;
mod left;
mod lower;
pub(crate) mod model;
mod settings;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod weights;
