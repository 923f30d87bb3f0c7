//! The NNEF language: from bytes to a checked document, and back to text.

pub mod ast;
pub mod check;
pub(crate) mod compile;
pub mod datatypes;
pub mod dialect;
pub mod document;
pub(crate) mod expand;
pub mod grammar;
pub mod lexer;
pub mod operators;
pub mod print;
pub mod statements;
pub mod types;
