//! XLA shapes with layouts: element types, sizes, and the place of each element in memory.
//!
//! A text is parsed by a grammar (`grammar.rs`) and checked (`check.rs`); [`Shape`]s are printed as by XLA. A layout
//! is evaluated once, to a [`Memory`]: the physical dimensions after padding and tiling. Places, indices, walks through
//! memory, bitcasts and the primitives of a layout are computed from it.
//!
//! Dimensions are numbered from 0. Those of a matrix are called y, x; three dimensions z, y, x; four p, z, y, x.

mod array_shape;
mod bitcast;
mod check;
mod decompose;
mod digits;
mod dimension;
mod element;
mod functions;
mod grammar;
mod indexer;
mod kinds;
mod layout;
mod limits;
mod list;
mod memory;
mod print;
mod read;
mod tpu;

pub use array_shape::ArrayShape;
pub use dimension::Dimension;
pub use element::ElementType;
pub use functions::Ignoring;
pub use kinds::Shape;
pub use layout::Layout;
pub use layout::PaddingValue;
pub(crate) use layout::permutation;
pub use list::ShapeList;
pub(crate) use memory::{Memory, Tiling};

use limits::{MAX_MEMORY_SPACE, limited, product};
