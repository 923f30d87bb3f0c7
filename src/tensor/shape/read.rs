//! Reads shapes and layouts from texts.

use std::str::FromStr;

use super::array_shape::ArrayShape;
use super::check;
use super::kinds::Shape;
use super::layout::Layout;
use crate::diagnostics::Diagnostics;
use crate::source::{FileId, Sources};

impl FromStr for Shape {
    type Err = Diagnostics;

    fn from_str(text: &str) -> Result<Shape, Diagnostics> {
        Shape::read("<shape>", text, &mut Sources::new())
    }
}

impl FromStr for Layout {
    type Err = Diagnostics;

    fn from_str(text: &str) -> Result<Layout, Diagnostics> {
        let file = Sources::new().add("<layout>", text.to_owned());
        Layout::read_at(text, 0, file)
    }
}

impl Layout {
    /// Reads a layout that begins at `start` in a text.
    pub(crate) fn read_at(text: &str, start: usize, file: FileId) -> Result<Layout, Diagnostics> {
        check::read_layout(text, start, file)
    }
}

impl Shape {
    /// Reads a shape. Messages refer to the text by `name`.
    ///
    /// # Errors
    ///
    /// The errors of the text.
    pub fn read(name: &str, text: &str, sources: &mut Sources) -> Result<Shape, Diagnostics> {
        let file = sources.add(name, text.to_owned());
        check::read(sources.file(file).text(), file)
    }

    /// The word for its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Shape::Array(_) => "array",
            Shape::Tuple(_) => "tuple",
            Shape::Buffer(_) => "buffer",
            Shape::Token => "token",
            Shape::Opaque => "opaque",
        }
    }

    /// The shape of an array.
    pub fn array(&self) -> Option<&ArrayShape> {
        match self {
            Shape::Array(array) => Some(array),
            _ => None,
        }
    }
}
