//! Layouts as graphs: primitive operations that produce the memory of an array; removal of bitcasts.

mod axes;
mod bitcasts;
mod primitives;

pub(crate) use bitcasts::Removed;
