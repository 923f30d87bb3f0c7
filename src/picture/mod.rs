//! Pictures of flat graphs: SVG, an HTML page, and the DOT language of Graphviz.
//!
//! ```
//! use nnef_flatten::{Options, expand, parse, picture::Picture};
//!
//! let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2, 3]); y = relu(x); }";
//! let parsed = parse("example.nnef", text.to_string(), &Options::default());
//! let expansion = expand(&parsed.document, &Options::default()).expect("a valid document");
//! let picture = Picture::new(&expansion.graph, parsed.document.sources()).expect("a small graph");
//! let mut svg = Vec::new();
//! picture.write_svg(&mut svg)?;
//! assert!(String::from_utf8_lossy(&svg).contains(">relu</text>"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The output is deterministic: it depends only on the graph and its sources.

mod category;
mod dot;
mod drawing;
mod grouping;
mod groups;
mod html;
mod label;
mod layout;
mod parts;
mod paths;
mod quotient;
mod regroup;
mod runs;
mod scene;
mod sheet;
mod svg;
#[cfg(test)]
mod tests;
#[cfg_attr(not(feature = "kernels"), allow(dead_code, reason = "such builds read no data"))]
mod values;

pub(crate) use drawing::MAX_OPERATIONS;
pub use drawing::Picture;
#[cfg(feature = "cli")]
pub(crate) use html::{Comparison, MarkKind, MarkedChange};
#[cfg(feature = "kernels")]
pub(crate) use values::{Summaries, Summary, Summing};
