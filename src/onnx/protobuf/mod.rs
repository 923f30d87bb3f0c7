//! The protobuf form of models: reading and writing field by field, without loss.
//!
//! Messages are read by handwritten code instead of generated code. Generated types have a `String` for each name,
//! drop unknown fields, and copy weights; here names are interned, unknown fields are kept, and fields that are not
//! interpreted stay slices of the file.

mod decode;
mod encode;
pub(super) mod fields;
mod paths;
pub(super) mod reader;
pub(super) mod sparse;
pub(super) mod texts;
pub(super) mod writer;

pub(crate) use reader::{MAX_DEPTH, WireError, payloads};
pub(crate) use writer::push_packed;

pub(crate) use decode::{Decoded, decode, decode_entry, decode_graph, decode_tensor};
pub(crate) use encode::{CountedPart, EncodedPart, encode, write, writes_plain_texts, written_bytes};
pub(crate) use paths::{FoundNode, Message, inner, path, stays_in_file};

#[cfg(test)]
mod tests;
