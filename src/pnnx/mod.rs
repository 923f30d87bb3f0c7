//! PNNX: element-wise expressions such as `mul(add(@0,@1),@2)`, and the files that contain them.

pub(crate) mod arguments;
pub(crate) mod data;
mod elements;
pub(crate) mod evaluate;
pub(crate) mod expand;
pub(crate) mod export;
mod expression_table;
mod flatten;
pub(crate) mod fold;
pub(crate) mod fuse;
pub(crate) mod given;
pub(crate) mod graph;
pub(crate) mod import;
pub(crate) mod item;
mod library;
pub(crate) mod lines;
pub(crate) mod lower;
pub(crate) mod model;
pub(crate) mod notation;
pub(crate) mod number;
pub(crate) mod parse;
mod repeated;
mod standard;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;
pub(crate) mod tree;
