//! Flattens neural-network descriptions into graphs of primitive operations.
//!
//! NNEF, ONNX, PNNX, ncnn and networks with loops describe a network compactly: with fragments and functions that call
//! each other, branches, loops, expressions. This crate reads them, checks them, and gives the flat [`Graph`] that an
//! inference engine needs.
//!
//! # Any input: `open`
//!
//! [`open`] recognizes a path, or bytes under a name, as the command does. The [`Input`](input::Input) has the verbs
//! `check`, `flatten`, `graph`, `evaluate`, `diff` and `print`, each of which returns all findings once.
//!
//! ```
//! use nnef_flatten::{Options, open};
//!
//! let text = r#"
//!     <ir_version: 10, opset_import: ["" : 21, "local" : 1]>
//!     g (float[2] x) => (float[2] y) { y = local.twice (x) }
//!     <domain: "local", opset_import: ["" : 21]> twice (a) => (b) { b = Add (a, a) }
//! "#;
//! let (graph, findings) = open(("model.onnxtxt", text), &Options::default())?.flatten()?;
//! for finding in &findings {
//!     println!("{}: {}", finding.severity, finding);
//! }
//! for operation in &graph {
//!     println!("{} from {:?}", operation.name(), operation.calls().map(|(name, _)| name).collect::<Vec<_>>());
//! }
//! assert_eq!(graph.iter().last().map(|operation| operation.name()), Some("Add"));
//!
//! let mut flat = Vec::new();
//! open(("model.onnxtxt", text), &Options::default())?.print("onnxtxt", &mut flat)?;
//! assert!(String::from_utf8(flat)?.contains("y = Add (x, x)"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A document of NNEF
//!
//! [`parse`], [`check()`] and [`expand()`] need no feature. Fragments, selects, comprehensions, subscripts, operators
//! and recursion are evaluated.
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
//! let mut options = Options::default();
//! options.shapes.add_shape("x=4,3")?;
//! let parsed = parse("example.nnef", text.to_string(), &options);
//! assert!(!parsed.diagnostics.has_errors());
//! let graph = expand(&parsed.document, &options)?.graph;
//! let flat = graph.to_string();
//! assert!(flat.contains("y_twice1 = add(x, x);"));
//! assert!(flat.contains("y = add(y_twice1, y_twice1);"));
//! let y = graph.tensor("y").and_then(|y| graph.shape(y));
//! assert_eq!(y.map(|shape| shape.to_string()).as_deref(), Some("[4, 3]"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A model with its data
//!
//! Folders and archives are inputs of [`open`], too, which reads the data of variables when a verb needs them.
//! [`model::Model`] has the files of a model of NNEF, [`onnx::Document`] edits a model of ONNX without loss, and
//! [`model::Target`] writes folders and archives.
//!
//! ```
//! use nnef_flatten::tensor::Tensor;
//! use nnef_flatten::{Options, open};
//!
//! let folder = tempfile::tempdir()?;
//! let text = "version 1.0;
//!     graph G( x ) -> ( y ) { x = external(shape = [2]); w = variable(shape = [2], label = 'w'); y = mul(x, w); }";
//! std::fs::write(folder.path().join("graph.nnef"), text)?;
//! std::fs::write(folder.path().join("w.dat"), Tensor::scalars(&[2], vec![0.5, 2.0])?.to_dat()?)?;
//!
//! let x = Tensor::scalars(&[2], vec![4.0, 3.0])?;
//! let (outputs, _) = open(folder.path(), &Options::default())?.evaluate(&[("x".to_owned(), x)])?;
//! assert_eq!(outputs, [("y".to_owned(), Tensor::scalars(&[2], vec![2.0, 6.0])?)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! Nothing panics on an input. What `open` and the verbs refuse is a [`Refusal`](input::Refusal): findings with stable
//! [codes](diagnostics::Code), a failure of the system, or a request that does not fit the input. `expand` returns
//! [`Diagnostics`]. All of them are [`std::error::Error`]. [`Options::untrusted`] has the limits for inputs that nobody
//! trusts.
//!
//! ```
//! use nnef_flatten::input::Refusal;
//! use nnef_flatten::{Options, open};
//!
//! let text = "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2]); y = exp(z); }";
//! match open(("example.nnef", text), &Options::untrusted()).and_then(|input| input.flatten()) {
//!     Ok((graph, _)) => println!("{graph}"),
//!     Err(Refusal::Found(findings)) => {
//!         let found = findings.iter().next().unwrap();
//!         assert_eq!(found.message, "`z` is not defined");
//!         assert_eq!(findings.sources.start(found.at).line, 2);
//!     }
//!     Err(other) => return Err(other),
//! }
//! # Ok::<(), Refusal>(())
//! ```
//!
//! # Features
//!
//! | for | in `Cargo.toml` | what there is |
//! |---|---|---|
//! | documents of NNEF | `default-features = false` | [`parse`], [`check()`], [`expand()`], [`graph`], [`diff`](mod@diff), [`write`](mod@write) |
//! | any notation, without evaluation and translation | `default-features = false, features = ["input"]` | [`open`] and all verbs but `evaluate`; [`model`], [`onnx`], [`loops`], [`picture`], [`tensor`] |
//! | all that the command does | `default-features = false, features = ["input", "kernels", "outline", "translate", "render"]` | [`eval`], folding, notations into each other, [`Diagnostic::write_human`] |
//!
//! The default features are all: also `cli` and `lsp`, which make the command. `tensor`, `eval`, `loops`, `model`,
//! `onnx`, `pnnx` and `pictures` are parts of `input`, and can be had alone.
//!
//! # Order of evaluation
//!
//! Statements of the graph are evaluated in order, and the arguments of a call in the order of the
//! parameters, before the call. A local of a fragment is evaluated at its statement if a result always
//! needs it, on first use if only a branch of a select refers to it, and never if no result needs it.
//! A select evaluates its condition and then the chosen branch only; `&&` and `||` evaluate their right
//! side only if needed. [`Options::strict`] and [`Options::keep_unused`] evaluate every local.

#![warn(unreachable_pub)]
// docs.rs shows the features that each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
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
mod extents;
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
pub use options::{GivenShapes, Lower, Options};

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
