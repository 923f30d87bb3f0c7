//! The protobuf form of models: reading and writing, field by field, without loss.
//!
//! Messages are read by functions of their own instead of generated ones. Generated types hold a `String`
//! for each name, drop fields that they do not know, and copy weights; here names are interned, unknown
//! fields survive, and what nobody looks into stays a slice of the file.

mod decode;
mod encode;
pub(super) mod fields;
pub(super) mod reader;
pub(super) mod writer;

pub(crate) use reader::{MAX_DEPTH, WireError};
pub(crate) use writer::push_packed;

pub(crate) use decode::decode;
pub(crate) use encode::{Part, encode};

#[cfg(test)]
mod tests;
