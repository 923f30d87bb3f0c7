//! The shapes in a text, such as a dump of HLO or a trace, by the memory that they take.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;

use super::drawing::{bytes, factor};
use crate::tensor::{ArrayShape, ShapeList};

/// A shape with the bytes of its elements and of its memory; `None` if a size is not known.
struct ListedShape<'l> {
    shape: &'l ArrayShape,
    line: usize,
    count: u64,
    bytes: Option<(u64, u64)>,
}

/// What the shapes of a memory space take. Those of unknown sizes do not count.
#[derive(Clone, Copy, Debug, Default)]
struct SpaceSum {
    shapes: u64,
    /// The bytes of all shapes, each once.
    bytes: u64,
    /// The occurrences of the shapes in the text, and the bytes that as many arrays take.
    times: u64,
    all_bytes: u64,
}

/// The shapes of a list, the largest first.
pub(super) struct Listing<'l> {
    rows: Vec<ListedShape<'l>>,
    /// The sums by memory spaces.
    spaces: BTreeMap<u64, SpaceSum>,
    unread: u64,
}

impl<'l> Listing<'l> {
    pub(super) fn new(list: &'l ShapeList) -> Self {
        let row = |(shape, line, count): (&'l ArrayShape, usize, u64)| {
            let bytes = shape.element_bytes().ok().zip(shape.allocated_bytes().ok());
            ListedShape { shape, line, count, bytes }
        };
        let mut rows: Vec<ListedShape> = list.shapes().map(row).collect();
        let size = |row: &ListedShape| row.bytes.map_or(0, |(_, allocated)| allocated);
        rows.sort_by(|a, b| size(b).cmp(&size(a)).then(a.line.cmp(&b.line)));
        let mut spaces: BTreeMap<u64, SpaceSum> = BTreeMap::new();
        for (row, (_, allocated)) in rows.iter().filter_map(|row| Some((row, row.bytes?))) {
            let space = row.shape.layout().memory_space();
            let sum = spaces.entry(space).or_default();
            sum.shapes += 1;
            sum.times = sum.times.saturating_add(row.count);
            sum.bytes = sum.bytes.saturating_add(allocated);
            sum.all_bytes = sum.all_bytes.saturating_add(allocated.saturating_mul(row.count));
        }
        Listing { rows, spaces, unread: list.unread() }
    }

    /// The table for people.
    pub(super) fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            writeln!(out, "no shapes of arrays")?;
            return self.write_unread(out);
        }
        writeln!(out, "{:>12}  {:>12}  {:>8}  {:>7}  {:>7}  shape", "memory", "wasted", "factor", "times", "line")?;
        for row in &self.rows {
            let (allocated, waste, times) = match row.bytes {
                Some((size, allocated)) => {
                    (bytes(allocated), bytes(allocated.saturating_sub(size)), factor(allocated, size))
                }
                None => Default::default(),
            };
            let ListedShape { shape, line, count, .. } = row;
            writeln!(out, "{allocated:>12}  {waste:>12}  {times:>8}  {count:>7}  {line:>7}  {shape}")?;
        }
        for (space, SpaceSum { shapes, bytes: once, times, all_bytes }) in &self.spaces {
            let (once, all) = (bytes(*once), bytes(*all_bytes));
            writeln!(out, "memory space {space}: {once} for {shapes} shapes, {all} for {times} occurrences")?;
        }
        self.write_unread(out)
    }

    /// How many texts look like shapes, but are not.
    fn write_unread(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.unread {
            0 => Ok(()),
            unread => writeln!(out, "{unread} texts look like shapes, but are not"),
        }
    }

    /// The table as JSON.
    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"shapes\":[")?;
        for (i, row) in self.rows.iter().enumerate() {
            let object = json!({
                "shape": row.shape.to_string(),
                "count": row.count,
                "line": row.line,
                "byte_size_of": row.bytes.map(|(size, _)| size),
                "array_size_bytes": row.bytes.map(|(_, allocated)| allocated),
                "wasted_bytes": row.bytes.map(|(size, allocated)| allocated.saturating_sub(size)),
            });
            write!(out, "{}{object}", if i > 0 { "," } else { "" })?;
        }
        let space = |(space, sum): (&u64, &SpaceSum)| {
            json!({
                "memory_space": space,
                "shapes": sum.shapes,
                "array_size_bytes": sum.bytes,
                "count": sum.times,
                "array_size_bytes_of_all": sum.all_bytes,
            })
        };
        let spaces: Vec<_> = self.spaces.iter().map(space).collect();
        writeln!(out, "],\"memory_spaces\":{},\"unread\":{}}}", json!(spaces), self.unread)
    }
}
