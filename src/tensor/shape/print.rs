//! Prints shapes as XLA does: with layouts, without default values, and with blanks only in tuples.

use std::fmt::{Display, Formatter, Result, Write};

use super::{ArrayShape, Dimension, Layout, Shape};

fn joined<T: Display>(f: &mut Formatter, items: impl IntoIterator<Item = T>, between: &str) -> Result {
    for (i, item) in items.into_iter().enumerate() {
        f.write_str(if i > 0 { between } else { "" })?;
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Shape::Array(array) => array.fmt(f),
            Shape::Tuple(items) => {
                f.write_char('(')?;
                joined(f, items, ", ")?;
                f.write_char(')')
            }
            Shape::Buffer(of) => write!(f, "b({of})"),
            Shape::Token => f.write_str("token[]"),
            Shape::Opaque => f.write_str("opaque[]"),
        }
    }
}

impl Display for Dimension {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Dimension::Static(size) => write!(f, "{size}"),
            Dimension::Bounded(size) => write!(f, "<={size}"),
            Dimension::Unbounded => f.write_char('?'),
        }
    }
}

impl Display for ArrayShape {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "{}[", self.element)?;
        joined(f, &self.dims, ",")?;
        f.write_char(']')?;
        let layout = self.layout.to_string();
        f.write_str(if layout == "{}" { "" } else { &layout })
    }
}

impl Display for Layout {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let mut attributes = String::new();
        for (i, tile) in self.tiles.iter().enumerate() {
            attributes.push_str(if i == 0 { "T" } else { "" });
            attributes.push_str(&group(tile.iter().map(|size| size.map_or("*".to_owned(), |size| size.to_string()))));
        }
        let types = [("#", self.index_type), ("*", self.pointer_type)];
        let types = types.map(|(name, of)| of.map(|of| format!("{name}({of})")).unwrap_or_default());
        let number = |name: &str, value: u64| if value > 0 { format!("{name}({value})") } else { String::new() };
        attributes.push_str(&number("L", self.tail_alignment));
        attributes.push_str(&types.concat());
        attributes.push_str(&number("E", self.element_bits));
        attributes.push_str(&number("S", self.memory_space));
        for (i, (dimension, indices)) in self.splits.iter().enumerate() {
            let indices: Vec<String> = indices.iter().map(u64::to_string).collect();
            attributes.push_str(if i == 0 { "SC" } else { "" });
            attributes.push_str(&format!("({dimension}:{})", indices.join(",")));
        }
        attributes.push_str(&number("M", self.metadata_prefix));
        f.write_char('{')?;
        joined(f, &self.minor_to_major, ",")?;
        f.write_str(if attributes.is_empty() { "" } else { ":" })?;
        write!(f, "{attributes}}}")
    }
}

fn group(items: impl Iterator<Item = String>) -> String {
    format!("({})", items.collect::<Vec<_>>().join(","))
}
