//! Shape inference: a rule for each standard operation of both dialects.
//!
//! The rule of an operation computes the shapes of its results from those of its arguments, and checks that the
//! arguments are compatible. Extents and ranks can be unknown: what depends on them is unknown too, and never
//! an error. The rule of a kind of operation is looked up once, with the positions of the attributes that rules
//! use ([`Plan`]).

mod axes;
mod convolution;
mod einsum;
mod elements;
mod elementwise;
mod infer;
mod items;
mod layout;
mod linear;
mod outcome;
mod plan;
mod pooling;
mod reduction;
mod registry;
mod roi;
mod rules;
mod sections;
mod selection;
mod shape;
mod shape_call;
mod sources;
mod stored;
#[cfg(test)]
mod tests;
mod values;
mod window;

pub(crate) use infer::{DEFECTIVE, infer, infer_more};
pub(crate) use items::{Item, Items};
pub(crate) use outcome::{Inferred, ShapeError};
pub(crate) use plan::Plan;
pub use shape::{Extent, InvalidExtent, Shape};
#[cfg(test)]
use shape_call::ROLES;
