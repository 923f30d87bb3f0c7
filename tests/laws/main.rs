//! The laws of the design as properties of generated expressions and documents, and of real ones.

#[path = "../common/mod.rs"]
mod common;
mod documents;
mod expr;
mod expressions;
mod flattening;
mod model;
mod real;
mod tape;
