//! The description of a shape as text: a table, and a drawing of small memories.

use std::fmt::Write;

use super::questions::{Answer, LayoutQuestions, array, located};
use crate::diagnostics::Code;
use crate::tensor::shape::Memory;
use crate::tensor::{ArrayShape, Dimension};

/// The largest memory that is drawn without `--memory`, in places for elements.
const SMALL: u64 = 256;
/// The longest line of a drawing, in characters.
const WIDTH: usize = 100;

/// A number of bytes, with a suitable unit.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let unit = (count.ilog2() / 10 - 1) as usize;
    format!("{:.1} {}", count as f64 / 1024f64.powi(unit as i32 + 1), UNITS[unit])
}

/// How many times larger the memory is than its elements.
pub(super) fn factor(allocated: u64, elements: u64) -> String {
    match elements {
        0 => "-".to_owned(),
        _ => format!("{:.2}", allocated as f64 / elements as f64),
    }
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>, between: &str) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.is_empty() { "none".to_owned() } else { items.join(between) }
}

/// The letter that names a dimension, for arrays of rank 2 to 4.
fn letter(rank: usize, dimension: usize) -> Option<char> {
    (2..=4).contains(&rank).then(|| ['p', 'z', 'y', 'x'][4 - rank + dimension])
}

impl LayoutQuestions {
    /// The description as text.
    pub(super) fn drawing(&self) -> Answer<String> {
        let mut text = format!("{}\n", self.shape);
        let mut row = |name: &str, value: &str| {
            let _ = writeln!(text, "  {name:11}{value}");
        };
        let (arguments, wanted) = (&self.result, self.memory || !self.indices.is_empty());
        let Some(array) = self.shape.array() else {
            if arguments.is_some() || wanted {
                array(&self.shape, self.at)?;
            }
            row("kind", self.shape.kind());
            return Ok(text);
        };
        for (name, value) in self.rows(array)? {
            row(name, &value);
        }
        if let (Some(bitcast), Some((to, order, _))) = (self.bitcast()?, &self.result) {
            let what = if order.is_some() { "transpose" } else { "reshape" };
            row(what, &format!("to {to} {}", if bitcast { "moves nothing" } else { "moves elements" }));
        }
        let sized = array.dims().iter().all(|dimension| *dimension != Dimension::Unbounded);
        if self.memory || sized {
            let memory = located(array.memory(), Code::ShapeUnsized, self.at)?;
            if self.memory || (1..=SMALL).contains(&memory.places()) {
                let walk = located(memory.walk(), Code::ShapeMemory, self.at)?;
                text.push_str(&draw(&walk, &memory));
            }
        }
        Ok(text)
    }

    fn rows(&self, array: &ArrayShape) -> Answer<Vec<(&'static str, String)>> {
        let (layout, rank) = (array.layout(), array.rank());
        let named = |&dimension: &usize| match letter(rank, dimension) {
            Some(letter) => format!("{dimension} ({letter})"),
            None => dimension.to_string(),
        };
        let order = list(layout.major_to_minor().iter().map(named), ", ");
        let mut rows = vec![("order", format!("{order}{}", if rank > 1 { ", major to minor" } else { "" }))];
        if array.dims().contains(&Dimension::Unbounded) && self.indices.is_empty() {
            rows.push(("size", "not known: a dimension is ?".to_owned()));
            return Ok(rows);
        }
        let sized = |result| located(result, Code::ShapeUnsized, self.at);
        let memory = located(array.memory(), Code::ShapeUnsized, self.at)?;
        let (elements, size) = (sized(array.elements())?, sized(array.element_bytes())?);
        let allocated = sized(array.allocated_bytes())?;
        rows.push(("elements", format!("{elements}, {}", bytes(size))));
        let waste = match allocated.saturating_sub(size) {
            0 => ", nothing wasted".to_owned(),
            waste => format!(", {} wasted: {} times the elements", bytes(waste), factor(allocated, size)),
        };
        rows.push(("places", memory.places().to_string()));
        rows.push(("memory", format!("{}{waste}", bytes(allocated))));
        if let Some((sizes, value)) = layout.padding() {
            rows.push(("padded", format!("to {}, with {}", list(sizes, " × "), value.name())));
        }
        if !layout.is_plain() {
            rows.push(("physical", list(memory.physical(), " × ")));
        }
        let strides = located(array.byte_strides(), Code::ShapeUnsized, self.at)?;
        if let Some(strides) = strides.filter(|strides| !strides.is_empty()) {
            rows.push(("strides", format!("{} bytes", list(strides, ", "))));
        }
        for (index, place) in self.places(array)? {
            rows.push(("index", format!("({}) is at place {place}", list(index, ", "))));
        }
        Ok(rows)
    }
}

/// The elements in the order of the memory, by their row-major numbers, with points for padding and
/// bars between rows.
fn draw(walk: &[Option<u64>], memory: &Memory) -> String {
    let width = walk.iter().flatten().max().map_or(1, |last| last.to_string().len()) + 1;
    let (line, row) = memory.lines(WIDTH / (width + 1));
    let mut text = String::new();
    for (place, item) in walk.iter().enumerate() {
        if place % line == 0 {
            text.push_str("\n  ");
        } else if place % row == 0 && row > 1 {
            text.push_str(" |");
        }
        let item = item.map_or("·".to_owned(), |element| element.to_string());
        let _ = write!(text, "{item:>width$}");
    }
    text.push('\n');
    text
}
