//! Gives suffixes to names that others have already.

use smallvec::SmallVec;

use super::distinct::{FIRST_SUFFIX, Taken};
use super::guesses::Guesses;
use super::hashing::{Segments, Spelled, Spelling};
use super::{BLOCK, Entry, Suffixed, bits};

/// The names that are given out, and those to come.
pub struct Settling<'n> {
    segments: Segments<'n>,
    taken: Taken,
    /// The names so far, as they are in the end where their turn has come.
    hashes: Vec<Spelling>,
    /// Used from the first block on in which prefixes get suffixes that others have already.
    guesses: Option<Guesses>,
    suffixed: Vec<Suffixed>,
}

/// So many blocks are not looked ahead at after one whose suffixes were not guessed.
const SKIPPED: usize = 4;

/// What is expected of a name: where it belongs, and its suffix, or 0.
#[derive(Clone, Copy, Default)]
struct Expected {
    place: u32,
    suffix: u32,
}

impl<'n> Settling<'n> {
    /// Starts with the names of the document, which are kept to the letter. The hashes are room that
    /// is used.
    pub fn new(entries: &[Entry], taken: Taken, segments: Segments<'n>, mut hashes: Vec<Spelling>) -> Self {
        hashes.clear();
        hashes.resize(entries.len(), 0);
        let mut settling = Settling { segments, taken, hashes, guesses: None, suffixed: Vec::new() };
        settling.take_user_names(entries);
        settling
    }

    fn take_user_names(&mut self, entries: &[Entry]) {
        let mut names: SmallVec<[Spelled; BLOCK]> = SmallVec::new();
        let mut places: SmallVec<[u32; BLOCK]> = SmallVec::new();
        for (start, block) in (0..).step_by(BLOCK).zip(entries.chunks(BLOCK)) {
            names.clear();
            places.clear();
            for (i, entry) in (start..).zip(block).filter(|(_, entry)| entry.is_taken()) {
                let name = self.segments.spell(None, entry.segment, entry.ordinal);
                self.hashes[i] = name.hash;
                names.push(name);
                places.push(name.place);
            }
            self.taken.fetch(&places);
            for &name in &names {
                self.taken.insert(name);
            }
        }
    }

    /// Makes names distinct in the order of their making: first those of which none is from inside a
    /// standard operation, then the others. Returns the numbers of those that got suffixes.
    pub fn settle(mut self, entries: &mut [Entry]) -> Vec<Suffixed> {
        if self.settle_all(entries, false) {
            self.settle_all(entries, true);
        }
        self.suffixed
    }

    /// Returns whether there are names from inside standard operations.
    fn settle_all(&mut self, entries: &mut [Entry], inner: bool) -> bool {
        let mut all = 0;
        let mut ahead = [Expected::default(); BLOCK];
        let mut skipped = 0;
        for (start, block) in (0..).step_by(BLOCK).zip(entries.chunks_mut(BLOCK)) {
            let is_ahead = skipped == 0;
            if is_ahead {
                self.look_ahead(start, block, inner, &mut ahead);
            }
            skipped = skipped.max(1) - 1;
            let mut vain = 0;
            // A bit for each name of the block that is spelled otherwise than expected.
            let mut moved = 0u64;
            for (at, entry) in block.iter_mut().enumerate() {
                all |= entry.bits;
                if entry.is_taken() || inner && !entry.is(bits::INNER) {
                    continue;
                }
                let parent = entry.parent.index().checked_sub(start).filter(|parent| *parent < at);
                let is_vain = parent.is_some_and(|parent| moved >> parent & 1 == 1);
                let expected = match is_ahead && !is_vain {
                    true => ahead[at],
                    false => Expected { place: self.spell(start + at, entry).place, suffix: 0 },
                };
                let is_expected = !entry.claims(inner) || self.settle_one(start + at, entry, expected);
                vain += usize::from(is_vain);
                moved |= u64::from(is_vain || !is_expected) << at;
            }
            if is_ahead && vain > BLOCK / 4 {
                skipped = if self.guesses.is_some() { SKIPPED } else { 0 };
                self.guesses.get_or_insert_with(|| Guesses::new(self.hashes.len()));
            }
        }
        all & bits::INNER != 0
    }

    /// Spells the names of a block, as they are if they get the suffixes that are guessed, and makes
    /// ready what it takes to see whether they do.
    fn look_ahead(&mut self, start: usize, block: &[Entry], inner: bool, ahead: &mut [Expected; BLOCK]) {
        let mut wanted: SmallVec<[u32; BLOCK]> = SmallVec::new();
        let mut last = None;
        // What is made in a loop has one name, but for its suffix.
        let mut latest = None;
        for (at, entry) in block.iter().enumerate() {
            ahead[at] = Expected::default();
            if entry.is_taken() || inner && !entry.is(bits::INNER) {
                continue;
            }
            let path = (entry.parent, entry.segment, entry.ordinal);
            let name = match latest {
                Some((known, name)) if known == path => name,
                _ => self.spell_ahead(start, entry, ahead),
            };
            latest = Some((path, name));
            self.hashes[start + at] = name.hash;
            let mut suffix = 0;
            if entry.claims(inner) {
                suffix = match &mut self.guesses {
                    Some(guesses) => guesses.next(name.hash),
                    None if last == Some(name.hash) => FIRST_SUFFIX,
                    None => 0,
                };
                last = Some(name.hash);
                wanted.push(if suffix > 0 { Spelled::new(0, name.hash, suffix).place } else { name.place });
            }
            ahead[at] = Expected { place: name.place, suffix };
        }
        self.taken.fetch(&wanted);
    }

    /// Spells a name of a block after its prefix, as that is if it gets the suffix that is guessed.
    #[inline(always)]
    fn spell_ahead(&mut self, start: usize, entry: &Entry, ahead: &[Expected; BLOCK]) -> Spelled {
        let parent = entry.parent.index();
        let suffix = parent.checked_sub(start).and_then(|parent| ahead.get(parent)).map_or(0, |parent| parent.suffix);
        let parent = self.hashes.get(parent).map(|&parent| self.segments.spell_suffix(parent, suffix));
        self.segments.spell(parent, entry.segment, entry.ordinal)
    }

    /// Gives a name whose turn has come a suffix if it needs one. Returns whether that was expected.
    #[inline(always)]
    fn settle_one(&mut self, i: usize, entry: &mut Entry, expected: Expected) -> bool {
        let name = self.hashes[i];
        let (suffix, hash) = self.taken.claim(Spelled { hash: name, place: expected.place });
        if suffix > 0 {
            self.hashes[i] = hash;
            let place = self.suffixed.len() as u32;
            self.suffixed.push(Suffixed { ordinal: entry.ordinal, suffix });
            (entry.ordinal, entry.bits) = (place, entry.bits | bits::SUFFIXED);
        }
        if suffix != expected.suffix
            && let Some(guesses) = &mut self.guesses
        {
            guesses.correct(name, suffix);
        }
        suffix == expected.suffix
    }

    /// Spells a name after its prefix, as that is so far.
    #[inline(always)]
    fn spell(&mut self, i: usize, entry: &Entry) -> Spelled {
        let parent = self.hashes.get(entry.parent.index()).copied();
        let name = self.segments.spell(parent, entry.segment, entry.ordinal);
        self.hashes[i] = name.hash;
        name
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{NameId, TensorNames};
    use super::*;
    use crate::source::names::Names;

    /// The names that a table should have in the end, by their texts alone.
    fn expected(table: &TensorNames, names: &Names) -> Vec<String> {
        let entries = &table.entries;
        let mut texts = vec![String::new(); entries.len()];
        let user_names = entries.iter().filter(|entry| entry.is_taken()).map(|entry| names.text(entry.segment));
        let mut taken: HashSet<String> = user_names.map(str::to_owned).collect();
        for inner in [false, true] {
            for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| !inner || entry.is(bits::INNER)) {
                let parent = texts.get(entry.parent.index()).map_or(String::new(), |parent| format!("{parent}_"));
                let ordinal = if entry.ordinal > 0 { entry.ordinal.to_string() } else { String::new() };
                let text = format!("{parent}{}{ordinal}", names.text(entry.segment));
                let mut all = std::iter::once(text.clone()).chain((2..).map(|suffix| format!("{text}_{suffix}")));
                texts[i] = match entry.claims(inner) {
                    true => all.find(|text| taken.insert(text.clone())).unwrap_or_default(),
                    false => text,
                };
            }
        }
        texts
    }

    /// Names of few spellings, below each other and side by side.
    fn table(names: &mut Names, seed: u64) -> TensorNames {
        let segments = ["a", "b_2", "a1", "_", "a_a", "b2"].map(|text| names.intern(text));
        let mut state = seed;
        let mut random = |below: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % below
        };
        let mut table = TensorNames::default();
        // New names are below one of the last few, or of all.
        let near = [3, 50, usize::MAX][random(3)];
        let mut users = HashSet::new();
        for i in 0..500 {
            let segment = segments[random(segments.len())];
            let id = if i == 0 || random(20) == 0 {
                table.user(segment)
            } else {
                let parent = NameId((i - 1 - random(i.min(near))) as u32);
                let is_inner = table.entries[parent.index()].is(bits::INNER) || random(10) == 0;
                table.child(parent, segment, [0, 0, 1, 2, 12][random(5)], is_inner)
            };
            let is_new = !table.is_user(id) || users.insert(segment);
            if is_new && random(4) > 0 {
                table.mark_used(id);
            }
        }
        table
    }

    #[test]
    fn names_are_made_distinct_in_their_order() {
        for seed in 0..60 {
            let mut names = Names::new();
            let mut table = table(&mut names, seed);
            let expected = expected(&table, &names);
            table.resolve(&names);
            for (i, expected) in expected.iter().enumerate() {
                let mut text = String::new();
                table.write(&names, NameId(i as u32), &mut text);
                assert_eq!(&text, expected, "name {i} of table {seed}");
            }
        }
    }
}
