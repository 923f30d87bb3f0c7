//! Networks of ncnn: texts (`.param`) with one layer in each line, and the weights beside them (`.bin`).

mod import;
mod layer_table;
mod left;
mod lower;
pub(crate) mod model;
mod settings;
#[cfg(test)]
mod tests;
pub(crate) mod weights;
