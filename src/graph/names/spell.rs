//! Names spelled one after the other into one text.

use super::{NameId, TensorNames};
use crate::source::names::Names;

/// How many names are remembered. A power of two.
const REMEMBERED: usize = 512;

/// Spells names into a text that is not changed otherwise than by adding to it. A name is copied
/// where it or its prefix stands in the text already: it is mostly used soon after it is defined.
pub(crate) struct Speller<'g> {
    table: &'g TensorNames,
    names: &'g Names,
    /// Names, and where they stand in the text.
    places: Box<[(NameId, u32, u32); REMEMBERED]>,
}

impl<'g> Speller<'g> {
    /// A speller for a text of which nothing is known yet.
    pub(crate) fn new(table: &'g TensorNames, names: &'g Names) -> Self {
        Speller { table, names, places: Box::new([(NameId::ROOT, 0, 0); REMEMBERED]) }
    }

    /// Adds a name to the text.
    #[inline]
    pub(crate) fn write(&mut self, id: NameId, out: &mut String) {
        match self.places[id.index() % REMEMBERED] {
            (known, start, end) if known == id => out.extend_from_within(start as usize..end as usize),
            _ => self.spell(id, out),
        }
    }

    /// The same for a name that does not stand in the text. Paths are short.
    fn spell(&mut self, id: NameId, out: &mut String) {
        let Some(entry) = self.table.entries.get(id.index()) else { return };
        let start = out.len() as u32;
        if entry.parent != NameId::ROOT {
            self.write(entry.parent, out);
            out.push('_');
        }
        self.table.write_part(self.names, entry, out);
        self.places[id.index() % REMEMBERED] = (id, start, out.len() as u32);
    }
}

/// How long the text of names is that [`Spellings`] remembers.
const TEXT: usize = 1 << 16;

/// Spells names one by one, not into a text of the caller.
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
            self.speller.places.fill((NameId::ROOT, 0, 0));
        }
        let start = self.text.len();
        self.speller.write(id, &mut self.text);
        &self.text[start..]
    }
}
