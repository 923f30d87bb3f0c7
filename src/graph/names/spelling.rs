//! Names spelled one after the other into one text.

use super::{NameId, PATH, Suffixed, TensorNames};
use crate::source::literals::push_int;
use crate::source::names::{Name, Names};
use crate::source::short;

/// How many names are remembered. A power of two.
const RECENT: usize = 512;
/// How many stems are remembered. A power of two.
const STEMS: usize = 128;

/// A part of the text.
#[derive(Clone, Copy, Default)]
struct Place {
    start: u32,
    end: u32,
}

impl Place {
    fn copy_to_end(self, text: &mut String) {
        short::push_again(text, self.start as usize..self.end as usize);
    }
}

/// What names have in common that differ in the number at their end only.
#[derive(Clone, Copy, PartialEq)]
struct Stem {
    parent: NameId,
    segment: Name,
    /// The number before the one at the end, if there are two.
    ordinal: Option<u32>,
}

/// Spells names into a text that is not changed otherwise than by adding to it. A name is mostly
/// asked for again soon, or another one that continues it, or one that differs from it in a number:
/// what stands in the text already is copied from there.
pub struct Speller<'g> {
    table: &'g TensorNames,
    names: &'g Names,
    recent: Box<[(NameId, Place); RECENT]>,
    stems: Box<[(Option<Stem>, Place); STEMS]>,
}

impl<'g> Speller<'g> {
    /// A speller for a text of which nothing is known yet.
    pub fn new(table: &'g TensorNames, names: &'g Names) -> Self {
        let recent = Box::new([(NameId::ROOT, Place::default()); RECENT]);
        let stems = Box::new([(None, Place::default()); STEMS]);
        Speller { table, names, recent, stems }
    }

    /// Adds a name to the text.
    #[inline]
    pub fn write(&mut self, id: NameId, out: &mut String) {
        match self.recent[slot(id)] {
            (known, place) if known == id => place.copy_to_end(out),
            _ => self.spell(id, out),
        }
    }

    /// Adds a name that does not stand in the text, or nobody knows where.
    fn spell(&mut self, id: NameId, out: &mut String) {
        let start = out.len() as u32;
        match self.stem(id) {
            Some((stem, number)) if self.stems[stem.slot()].0 == Some(stem) => {
                self.stems[stem.slot()].1.copy_to_end(out);
                push_int(out, i64::from(number));
                self.recent[slot(id)] = (id, Place { start, end: out.len() as u32 });
            }
            stem => {
                let number = self.spell_parts(id, out);
                if let Some((stem, _)) = stem {
                    self.stems[stem.slot()] = (Some(stem), Place { start, end: number as u32 });
                }
            }
        }
    }

    /// What a name is without the number at its end, and that number, if there is one.
    fn stem(&self, id: NameId) -> Option<(Stem, u32)> {
        let entry = self.table.entries.get(id.0 as usize)?;
        let Suffixed { ordinal, suffix } = self.table.numbers(entry);
        let (number, ordinal) = if suffix > 0 { (suffix, Some(ordinal)) } else { (ordinal, None) };
        (number > 0).then_some((Stem { parent: entry.parent, segment: entry.segment, ordinal }, number))
    }

    /// Adds the longest prefix of a name that stands in the text, then part by part. Returns where
    /// the last number of the name starts, or would.
    fn spell_parts(&mut self, id: NameId, out: &mut String) -> usize {
        let start = out.len();
        let mut open = [NameId::ROOT; PATH];
        let mut count = 0;
        let mut continues = false;
        let mut next = id;
        while let Some(entry) = self.table.entries.get(next.0 as usize).filter(|_| count < PATH) {
            let (known, place) = self.recent[slot(next)];
            if known == next {
                place.copy_to_end(out);
                continues = true;
                break;
            }
            open[count] = next;
            count += 1;
            next = entry.parent;
        }
        let mut number = start;
        for &part in open[..count].iter().rev() {
            if std::mem::replace(&mut continues, true) {
                out.push('_');
            }
            number = self.table.write_part(self.names, part, out);
            self.recent[slot(part)] = (part, Place { start: start as u32, end: out.len() as u32 });
        }
        number
    }
}

impl Stem {
    /// The place that is remembered for a stem.
    fn slot(self) -> usize {
        let bits = self.parent.0.wrapping_mul(31).wrapping_add(self.segment.index() as u32);
        bits.wrapping_add(self.ordinal.map_or(0, |ordinal| ordinal.wrapping_mul(7).wrapping_add(1))) as usize % STEMS
    }
}

/// The place that is remembered for a name.
fn slot(id: NameId) -> usize {
    id.0 as usize % RECENT
}
