//! The text notation of models: parser and printer.
//!
//! The grammar has no operators, and one token of lookahead is sufficient, as for the flat syntax of NNEF. So it is
//! parsed in the same way: by recursive descent, directly from bytes, without a list of tokens.

mod attributes;
mod cursor;
mod data;
mod graphs;
mod headers;
mod marks;
mod parse;
mod parser;
mod print;
mod production;
mod recovery;
#[cfg(test)]
mod tests;
mod value_types;

#[cfg(feature = "lsp")]
pub(crate) use marks::{Marked, NameRole, TextMarks};
#[cfg(feature = "lsp")]
pub(crate) use parse::parse_marked;
pub(crate) use parse::{parse, parse_function};
pub(crate) use print::{ModelText, print};
#[cfg(feature = "lsp")]
pub(crate) use print::{quoted_name, value_name};
pub(crate) use production::{ParsedText, Production};
#[cfg(feature = "lsp")]
pub(crate) use recovery::starts_node;
