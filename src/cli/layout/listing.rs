//! The shapes in a text, such as a dump of HLO or a trace, by the memory that they take.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::json;

use super::drawing::{bytes, factor};
use crate::tensor::shape::arrays;

/// A shape and its memory.
struct Found {
    shape: String,
    /// The line on which it occurs first.
    line: usize,
    count: u64,
    /// The bytes of the elements and of the memory; `None` if a size is not known.
    bytes: Option<(u64, u64)>,
}

/// All shapes of arrays in a text, the largest first.
pub(super) struct Listing {
    found: Vec<Found>,
    /// The number of texts that look like shapes but are not.
    unread: u64,
}

impl Listing {
    pub(super) fn new(text: &str) -> Self {
        let mut listing = Listing { found: Vec::new(), unread: 0 };
        let mut known = HashMap::new();
        let (mut line, mut counted) = (1, 0);
        for (at, array) in arrays(text) {
            let Some(array) = array else {
                listing.unread += 1;
                continue;
            };
            line += text[counted..at].matches('\n').count();
            counted = at;
            let place = *known.entry(array).or_insert_with_key(|array| {
                let bytes = array.element_bytes().ok().zip(array.allocated_bytes().ok());
                listing.found.push(Found { shape: array.to_string(), line, count: 0, bytes });
                listing.found.len() - 1
            });
            listing.found[place].count += 1;
        }
        let size = |found: &Found| found.bytes.map_or(0, |(_, allocated)| allocated);
        listing.found.sort_by(|a, b| size(b).cmp(&size(a)).then(a.line.cmp(&b.line)));
        listing
    }

    /// The table for people.
    pub(super) fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{:>12}  {:>12}  {:>8}  {:>7}  {:>7}  shape", "memory", "wasted", "factor", "times", "line")?;
        for found in &self.found {
            let (allocated, waste, times) = match found.bytes {
                Some((size, allocated)) => {
                    (bytes(allocated), bytes(allocated.saturating_sub(size)), factor(allocated, size))
                }
                None => Default::default(),
            };
            let (count, line) = (found.count, found.line);
            writeln!(out, "{allocated:>12}  {waste:>12}  {times:>8}  {count:>7}  {line:>7}  {}", found.shape)?;
        }
        if self.unread > 0 {
            writeln!(out, "{} texts look like shapes, but are not", self.unread)?;
        }
        Ok(())
    }

    /// The table as JSON.
    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let row = |found: &Found| {
            json!({
                "shape": found.shape,
                "count": found.count,
                "line": found.line,
                "byte_size_of": found.bytes.map(|(size, _)| size),
                "array_size_bytes": found.bytes.map(|(_, allocated)| allocated),
                "wasted_bytes": found.bytes.map(|(size, allocated)| allocated.saturating_sub(size)),
            })
        };
        let rows: Vec<_> = self.found.iter().map(row).collect();
        writeln!(out, "{}", json!({ "shapes": rows, "unread": self.unread }))
    }
}
