//! Tensors, and their files.
//!
//! A tensor is a shape and packed elements of one type. A [`Tensor`] has its elements in row-major order, so
//! that its shape is a list of extents. An [`ArrayShape`] also has the number format, dynamic sizes and a [`Layout`].
//! A [`Buffer`] is the memory of a tensor in any layout. The types of NNEF are scalars, integers and logicals: the
//! reference evaluator and the readers of files represent them as 64-bit floating point numbers, 64-bit integers and
//! logicals, for any file, and scalars are rounded to 32 bits when written (see `docs/evaluation.md`). Networks
//! with loops use the types that they declare.

mod arrange;
mod buffer;
#[cfg(feature = "eval")]
pub(crate) mod dat;
mod data;
mod dense;
mod dtype;
mod error;
mod exact;
pub(crate) mod json;
pub(crate) mod kernels;
mod narrow;
#[cfg(all(feature = "eval", target_family = "wasm"))]
pub(crate) mod no_zip;
#[cfg(feature = "eval")]
pub(crate) mod npy;
#[cfg(feature = "eval")]
pub(crate) mod npz;
pub(crate) mod shape;
pub(crate) mod usage;
#[cfg(feature = "eval")]
pub(crate) mod value;

#[cfg(feature = "eval")]
pub(crate) use arrange::{spread, strides};
pub use buffer::Buffer;
pub use data::Data;
pub(crate) use data::Element;
pub use dense::Tensor;
pub(crate) use dense::{Dims, MAX_RANK, volume};
pub use dtype::DType;
pub use error::TensorError;
pub use narrow::{NarrowFloat, SmallInt};
pub use shape::{ArrayShape, Dimension, ElementType, Ignoring, Layout, PaddingValue, Shape, ShapeList};
