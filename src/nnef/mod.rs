//! The NNEF language: from bytes to a syntax tree and back.

pub mod ast;
pub mod dialect;
pub mod grammar;
pub mod lexer;
pub mod names;
pub mod print;
