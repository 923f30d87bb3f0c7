//! Expansion: from a checked document to a flat graph.

pub(crate) mod compounds;
mod constants;
mod datatypes;
pub(crate) mod definition;
mod expander;
mod expansion;
mod independent;
mod kept;
mod named;
mod rules;
mod scan;
mod values;

pub use expansion::Expansion;
pub(crate) use expansion::expand;

use expansion::tensors;
