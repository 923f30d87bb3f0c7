//! The kinds of shapes: arrays, tuples, buffers and special values.

use super::array_shape::ArrayShape;

/// A shape of XLA: of an array, a tuple, a buffer or a special value.
///
/// ```
/// use nnef_flatten::tensor::Shape;
///
/// let shape: Shape = "(f32[2, 3]{0,1:T(8,128)}, token[])".parse()?;
/// assert_eq!(shape.to_string(), "(f32[2,3]{0,1:T(8,128)}, token[])");
/// let error = "f32[2,3]{0,0}".parse::<Shape>().unwrap_err();
/// assert!(error.to_string().contains("not a permutation"));
/// # Ok::<(), nnef_flatten::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// An array.
    Array(ArrayShape),
    /// A tuple of shapes.
    Tuple(Vec<Shape>),
    /// A buffer that contains an array.
    Buffer(Box<Shape>),
    /// A token, which orders side effects.
    Token,
    /// An opaque value.
    Opaque,
}
