//! The parser: from text to a [`Module`](super::ast::Module).
//!
//! The specification divides the language into flat and compositional syntax, and so does the parser.
//! At the start of a statement, a small reader (`flat.rs`) tries to read it from the bytes of the text.
//! Statements that are not flat, and headers, are divided into tokens; a linear check bounds their
//! nesting ([`depth::MAX_NESTING`]), a chumsky grammar parses them, and their tokens are dropped, so that only
//! the tokens of one statement are in memory. The rules of the grammar are functions that refer to each
//! other by name (see [`build::GrammarResult`]), so no parser has to be built before a text is parsed.
//!
//! The starts of statements are certain only in a text without errors. After the first error the text is
//! parsed again: all of it is divided into tokens, items and statements are found by their first tokens
//! (`split.rs`), and the grammar parses each. So an error affects only its statement, and messages do not
//! depend on how a statement was read.

mod build;
mod declaration;
mod depth;
mod explain;
mod expression;
mod flat;
mod items;
mod loops;
mod numbers;
mod parse;
mod run;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use parse::{ModuleKind, parse_module};

use parse::{BYTES_PER_NAME, ROOM};
use run::ParserRun;
