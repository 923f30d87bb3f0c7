//! Lines and columns of many locations, computed together.

use rustc_hash::FxHashMap;

use super::{FileId, Location, Position, Sources};

/// The number of offsets that are remembered while equal ones are left out: copies of an operation have one place.
const REMEMBERED: usize = 1 << 10;

/// Offsets without most of the repetitions.
fn different(offsets: impl Iterator<Item = (FileId, u32)>) -> Vec<(FileId, u32)> {
    let mut offsets = offsets.peekable();
    if offsets.peek().is_none() {
        return Vec::new();
    }
    let mut recent = vec![None; REMEMBERED];
    offsets
        .filter(|offset| {
            let known = &mut recent[offset.1 as usize % REMEMBERED];
            known.replace(*offset) != Some(*offset)
        })
        .collect()
}

/// The lines and columns of locations. Each text is scanned once, regardless of the lengths of its lines.
#[derive(Debug, Default)]
pub(crate) struct Places {
    starts: FxHashMap<(FileId, u32), Position>,
}

impl Places {
    /// Computes the positions of the starts of locations.
    pub(crate) fn new(sources: &Sources, places: impl IntoIterator<Item = Location>) -> Self {
        Self::of_offsets(sources, different(places.into_iter().map(|at| (at.file, at.span.start))))
    }

    /// Computes the positions of starts and ends.
    pub(crate) fn with_ends(sources: &Sources, places: impl IntoIterator<Item = Location>) -> Self {
        let both = |at: Location| [(at.file, at.span.start), (at.file, at.span.end)];
        Self::of_offsets(sources, different(places.into_iter().flat_map(both)))
    }

    fn of_offsets(sources: &Sources, mut wanted: Vec<(FileId, u32)>) -> Self {
        wanted.sort_unstable();
        wanted.dedup();
        let mut starts = FxHashMap::default();
        for of_file in wanted.chunk_by(|a, b| a.0 == b.0) {
            let file = sources.file(of_file[0].0);
            let mut known: Option<(u32, Position)> = None;
            for &(id, offset) in of_file {
                let line_start = file.line_start(offset);
                let position = match known {
                    Some((before, position)) if before >= line_start => {
                        let between = file.text().get(before as usize..offset as usize);
                        let more = between.map_or(0, |text| text.chars().count() as u32);
                        Position { column: position.column + more, ..position }
                    }
                    _ => file.position(offset),
                };
                known = Some((offset, position));
                starts.insert((id, offset), position);
            }
        }
        Places { starts }
    }

    /// The start of a location; line 1, column 1 if it was not requested.
    pub(crate) fn start(&self, at: Location) -> Position {
        self.position(at.file, at.span.start)
    }

    /// The end of a location; line 1, column 1 if it was not requested.
    pub(crate) fn end(&self, at: Location) -> Position {
        self.position(at.file, at.span.end)
    }

    fn position(&self, file: FileId, offset: u32) -> Position {
        self.starts.get(&(file, offset)).copied().unwrap_or(Position { line: 1, column: 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn places_are_where_single_ones_are() {
        let mut sources = Sources::new();
        let text = "ab\ncé x\r\nlast\rmac é é é\n\n";
        let file = sources.add("t", text);
        let offsets = (0..=text.len() as u32).filter(|i| text.is_char_boundary(*i as usize));
        let mut all: Vec<Location> = offsets.rev().map(|i| Location::new(file, Span::new(i, i))).collect();
        // The same offsets of another file are other places.
        let other = sources.add("u", "\n\nx");
        all.extend((0..=3).map(|i| Location::new(other, Span::new(i, i))));
        let places = Places::new(&sources, all.iter().copied());
        for at in all {
            assert_eq!(places.start(at), sources.start(at), "{at:?}");
        }
    }
}
