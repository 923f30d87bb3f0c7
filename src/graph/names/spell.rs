//! Writers of many names.

use super::{NameId, TensorNames};
use crate::source::names::Names;

/// The maximum size of the cache of written names. A power of two.
const REMEMBERED: usize = 512;

/// The size of the cache for a table of names: small graphs are written faster than a large cache is filled.
fn remembered(table: &TensorNames) -> usize {
    table.entries.len().clamp(1, REMEMBERED).next_power_of_two()
}

/// Writes names into a text, to which callers may only append. A name, or its prefix, is copied from the text
/// if it was written before: names are mostly used soon after they are defined.
pub(crate) struct Speller<'g> {
    table: &'g TensorNames,
    names: &'g Names,
    /// Cached names, and their positions in the text.
    places: Box<[(NameId, u32, u32)]>,
}

impl<'g> Speller<'g> {
    /// A speller for a text without known names.
    pub(crate) fn new(table: &'g TensorNames, names: &'g Names) -> Self {
        Speller { table, names, places: vec![(NameId::ROOT, 0, 0); remembered(table)].into() }
    }

    /// Appends a name to the text.
    #[inline]
    pub(crate) fn write(&mut self, id: NameId, out: &mut String) {
        match self.places[id.index() & (self.places.len() - 1)] {
            (known, start, end) if known == id => out.extend_from_within(start as usize..end as usize),
            _ => self.spell(id, out),
        }
    }

    /// Forgets where names are in the text, which was changed.
    pub(crate) fn forget(&mut self) {
        self.places.fill((NameId::ROOT, 0, 0));
    }

    /// Appends a name that is not in the cache. The recursion is not deep, since paths are short.
    fn spell(&mut self, id: NameId, out: &mut String) {
        let Some(entry) = self.table.entries.get(id.index()) else { return };
        let start = out.len() as u32;
        if entry.parent != NameId::ROOT {
            self.write(entry.parent, out);
            out.push('_');
        }
        self.table.write_part(self.names, entry, out);
        let place = id.index() & (self.places.len() - 1);
        self.places[place] = (id, start, out.len() as u32);
    }
}

/// The length at which [`Spellings`] clears its text.
const TEXT: usize = 1 << 16;

/// Spells single names, with a text of its own.
pub(crate) struct Spellings<'g> {
    speller: Speller<'g>,
    text: String,
}

impl<'g> Spellings<'g> {
    /// Spellings of the names of a table.
    pub(crate) fn new(table: &'g TensorNames, names: &'g Names) -> Self {
        Spellings { speller: Speller::new(table, names), text: String::new() }
    }

    /// The spelling of a name.
    pub(crate) fn spell(&mut self, id: NameId) -> &str {
        if self.text.len() >= TEXT {
            self.text.clear();
            self.speller.forget();
        }
        let start = self.text.len();
        self.speller.write(id, &mut self.text);
        &self.text[start..]
    }
}

/// The lengths of spellings.
pub(crate) struct SpelledLengths<'g> {
    table: &'g TensorNames,
    names: &'g Names,
    /// Cached names and their lengths.
    known: Box<[(NameId, u64)]>,
}

impl<'g> SpelledLengths<'g> {
    /// The lengths of the names of a table.
    pub(crate) fn new(table: &'g TensorNames, names: &'g Names) -> Self {
        SpelledLengths { table, names, known: vec![(NameId::ROOT, 0); remembered(table)].into() }
    }

    /// The length of a name. The recursion is not deep, since paths are short.
    #[inline]
    pub(crate) fn of(&mut self, id: NameId) -> u64 {
        match self.known[id.index() & (self.known.len() - 1)] {
            (known, len) if known == id => len,
            _ => self.measure(id),
        }
    }

    fn measure(&mut self, id: NameId) -> u64 {
        let prefix = self.table.parent(id).map_or(0, |parent| self.of(parent) + 1);
        let len = prefix + u64::from(self.table.part_len(self.names, id));
        let place = id.index() & (self.known.len() - 1);
        self.known[place] = (id, len);
        len
    }
}
