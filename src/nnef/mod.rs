//! The NNEF language: from bytes to a checked document, and back to text.

pub(crate) mod ast;
pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod datatypes;
pub(crate) mod dialect;
pub(crate) mod document;
pub(crate) mod expand;
pub(crate) mod grammar;
pub(crate) mod lexer;
pub(crate) mod migrate;
pub(crate) mod operators;
pub(crate) mod print;
pub(crate) mod registries;
pub(crate) mod reserved;
pub(crate) mod standardize;
pub(crate) mod types;
