//! Names spelled one after the other into one text.

use super::{NameId, PATH, TensorNames};
use crate::nnef::names::Names;

/// How many places are remembered. A power of two.
const RECENT: usize = 512;

/// Where a name stands in the text.
#[derive(Clone, Copy)]
struct Place {
    id: NameId,
    start: u32,
    end: u32,
}

impl Place {
    const NONE: Place = Place { id: NameId::ROOT, start: 0, end: 0 };
}

/// Spells names into a text that is not changed otherwise than by adding to it. A name is mostly
/// asked for again soon, or another one that continues it: what stands in the text already is
/// copied from there.
pub struct Speller<'g> {
    table: &'g TensorNames,
    names: &'g Names,
    recent: Box<[Place; RECENT]>,
}

impl<'g> Speller<'g> {
    /// A speller for a text of which nothing is known yet.
    pub fn new(table: &'g TensorNames, names: &'g Names) -> Self {
        Speller { table, names, recent: Box::new([Place::NONE; RECENT]) }
    }

    /// Adds a name to the text.
    #[inline]
    pub fn write(&mut self, id: NameId, out: &mut String) {
        let Place { id: known, start, end } = self.recent[slot(id)];
        match known == id {
            true => out.extend_from_within(start as usize..end as usize),
            false => self.spell(id, out),
        }
    }

    /// Adds a name that does not stand in the text, or nobody knows where: the longest prefix that
    /// does, then part by part.
    fn spell(&mut self, id: NameId, out: &mut String) {
        let start = out.len() as u32;
        let mut open = [NameId::ROOT; PATH];
        let mut count = 0;
        let mut continues = false;
        let mut next = id;
        while let Some(entry) = self.table.entries.get(next.0 as usize).filter(|_| count < PATH) {
            let place = self.recent[slot(next)];
            if place.id == next {
                out.extend_from_within(place.start as usize..place.end as usize);
                continues = true;
                break;
            }
            open[count] = next;
            count += 1;
            next = entry.parent;
        }
        for &part in open[..count].iter().rev() {
            if std::mem::replace(&mut continues, true) {
                out.push('_');
            }
            self.table.write_part(self.names, part, out);
            self.recent[slot(part)] = Place { id: part, start, end: out.len() as u32 };
        }
    }
}

/// The place that is remembered for a name.
fn slot(id: NameId) -> usize {
    id.0 as usize % RECENT
}
