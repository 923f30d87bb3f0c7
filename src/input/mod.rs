//! One door for all notations: documents and models of NNEF, networks with loops, models of ONNX, files of PNNX.
//!
//! [`open`] recognizes the notation of a file, a folder, an archive or of bytes by its first bytes, then by its
//! extension. What is in the format of another program is refused by its name. The [`Input`] has the same verbs in every
//! notation: [`check`](Input::check), [`flatten`](Input::flatten), [`graph`](Input::graph),
//! [`evaluate`](Input::evaluate), [`print`](Input::print). Each of them uses the input up, and returns all
//! [`Findings`] about it once, with the texts that they refer to.
//!
//! ```
//! use nnef_flatten::{Options, open};
//!
//! let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }";
//! let input = open(("example", text), &Options::default())?;
//! assert_eq!(input.notation(), "nnef");
//! let (graph, findings) = input.flatten()?;
//! assert_eq!(graph.operations().len(), 2);
//! assert!(!findings.has_errors());
//! # Ok::<(), nnef_flatten::input::Refusal>(())
//! ```
//!
//! A model of ONNX is written again as one, with its functions expanded; documents are translated to ONNX:
//!
//! ```
//! use nnef_flatten::{Options, open};
//!
//! let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }";
//! let mut model = Vec::new();
//! open(("example", text), &Options::default())?.print("onnx", &mut model)?;
//! let input = open(("model", model), &Options::default())?;
//! assert_eq!(input.notation(), "onnx");
//! let mut text = Vec::new();
//! input.print("onnxtxt", &mut text)?;
//! assert!(String::from_utf8_lossy(&text).contains("y = Relu (x)"));
//! # Ok::<(), nnef_flatten::input::Refusal>(())
//! ```

mod arrays;
pub(crate) mod differ;
pub(crate) mod edit;
pub(crate) mod foreign;
pub(crate) mod layouts;
pub(crate) mod looks;
pub(crate) mod model_run;
pub(crate) mod models;
mod open;
pub(crate) mod opened;
pub(crate) mod passes;
mod recognize;
mod refusal;
pub(crate) mod settings;
pub(crate) mod source;
mod stored;
#[cfg(feature = "kernels")]
pub(crate) mod summaries;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod verify;

pub use open::{Given, Input, open};
pub use refusal::{Findings, Refusal};
