//! Flattens neural-network descriptions into graphs of primitive operations.
//!
//! A document in the NNEF notation describes a network compactly: with fragments that call each
//! other, selects, comprehensions, subscripts, operators and recursion. [`expand()`] evaluates all
//! of these and returns the flat [`Graph`] that an inference engine needs.
//!
//! ```
//! use nnef_flatten::{Options, expand, parse};
//!
//! let text = "
//!     version 1.0;
//!     extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
//!     fragment twice( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x + x; }
//!     graph G( x ) -> ( y ) { x = external(shape = [2, 3]); y = twice(twice(x)); }
//! ";
//! let options = Options::default();
//! let parsed = parse("example.nnef", text.to_string(), &options);
//! assert!(!parsed.diagnostics.has_errors());
//! let expansion = expand(&parsed.document, &options).expect("a valid document");
//! let mut flat = Vec::new();
//! expansion.graph.write_nnef(&mut flat)?;
//! let flat = String::from_utf8_lossy(&flat);
//! assert!(flat.contains("y_twice1 = add(x, x);"));
//! assert!(flat.contains("y = add(y_twice1, y_twice1);"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Order of evaluation
//!
//! Statements of the graph are evaluated in order, and the arguments of a call in the order of the
//! parameters, before the call. A local of a fragment is evaluated at its statement if a result always
//! needs it, on first use if only a branch of a select refers to it, and never if no result needs it.
//! A select evaluates its condition and then the chosen branch only; `&&` and `||` evaluate their right
//! side only if needed. [`Options::strict`] and [`Options::keep_unused`] evaluate every local.

#![warn(unreachable_pub)]
// Some items are only used by the command.
#![cfg_attr(not(all(feature = "cli", feature = "lsp")), allow(dead_code, unused_imports))]

#[cfg_attr(not(feature = "cli"), allow(unreachable_pub))]
mod cancel;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod core;
pub mod diagnostics;
mod dictionary;
pub mod diff;
#[cfg(feature = "eval")]
pub mod eval;
#[cfg(feature = "model")]
mod files;
pub mod graph;
#[cfg(feature = "input")]
pub mod input;
#[cfg(feature = "tensor")]
mod layout;
mod library;
mod live;
#[cfg(feature = "loops")]
pub mod loops;
#[cfg(feature = "lsp")]
mod lsp;
#[cfg(feature = "model")]
pub mod model;
#[cfg(feature = "input")]
mod ncnn;
mod nnef;
#[cfg(feature = "onnx")]
pub mod onnx;
mod options;
mod outline;
mod parts;
#[cfg(feature = "pictures")]
pub mod picture;
#[cfg(feature = "pnnx")]
mod pnnx;
mod progress;
mod room;
mod sink;
pub mod source;
#[cfg(feature = "tensor")]
pub mod tensor;
#[cfg(test)]
mod tests;
mod threads;
pub mod write;

pub use diagnostics::{Diagnostic, Diagnostics};
pub use graph::{Cut, Dialect, Graph};
#[cfg(feature = "input")]
pub use input::open;
pub use nnef::document::{Document, Parsed};
pub use nnef::expand::Expansion;
use nnef::grammar::ModuleKind;
pub use options::{Lower, Options};

/// Parses a document. `name` identifies it in messages.
///
/// ```
/// let parsed = nnef_flatten::parse("broken", "version 1.0; graph".to_string(), &Default::default());
/// assert!(parsed.diagnostics.has_errors());
/// ```
pub fn parse(name: &str, text: String, options: &Options) -> Parsed {
    Document::parse(name, text, ModuleKind::Document, options)
}

/// Parses a file of declarations such as those of [`Options::libraries`], to format it.
///
/// ```
/// let text = "fragment f( x: tensor<> )->(y: tensor<scalar>);".to_string();
/// let parsed = nnef_flatten::parse_library("ops.nnef", text, &Default::default());
/// assert_eq!(parsed.document.format(), "fragment f(x: tensor<>) -> (y: tensor<scalar>);\n");
/// ```
pub fn parse_library(name: &str, text: String, options: &Options) -> Parsed {
    Document::parse(name, text, ModuleKind::Library, options)
}

/// Checks a document without expanding it: declarations, names, arguments, types.
///
/// ```
/// use nnef_flatten::{Options, check, parse};
///
/// let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = exp(z); }";
/// let options = Options::default();
/// let parsed = parse("example", text.to_string(), &options);
/// let found = check(&parsed.document, &options);
/// assert!(found.iter().any(|diagnostic| diagnostic.message == "`z` is not defined"));
/// ```
pub fn check(document: &Document, options: &Options) -> Diagnostics {
    nnef::check::check(document, options).1
}

/// Checks a document and expands it into a flat graph.
///
/// # Errors
///
/// The diagnostics of the document, warnings included. For a document with syntax errors they include
/// [`Parsed::diagnostics`]. A name in the options that the document does not have is an error, too.
pub fn expand(document: &Document, options: &Options) -> Result<Expansion, Diagnostics> {
    nnef::expand::expand(document, options)
}

/// The examples in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the page on the library.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Library;
