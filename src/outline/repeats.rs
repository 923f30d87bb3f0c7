//! Finds windows of a text that occur several times.
//!
//! For each power of two, equal windows of this length get one name, made of the names of their halves. Windows whose
//! distance to the equal one before them is the same, one after the other, are parts of a longer repeat. If it is longer
//! than the distance, parts follow each other, and the distance, or a multiple, is the length of one of them. The time is
//! linear in the text for each power of two.

use rustc_hash::FxHashMap;

use super::text::{CALL, NAME, NOWHERE, OutlineText};

/// The most repeats of each power of two that are counted exactly.
const COUNTED: usize = 12;

/// Equal windows of a text.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    /// Where they start; they do not overlap.
    pub(super) positions: Vec<u32>,
    /// Their number of steps.
    pub(super) length: u32,
    /// An estimate of the bytes that a body for them saves.
    pub(super) saved: u64,
}

/// Repeats that are worth a look, the most promising first.
pub(super) fn repeats(text: &OutlineText) -> Vec<Repeat> {
    let mut search = RepeatSearch::new(text);
    let mut found = Vec::new();
    while search.any {
        search.level(&mut found);
        search.double();
    }
    found.sort_unstable_by(|a, b| (b.saved, a.length, &a.positions).cmp(&(a.saved, b.length, &b.positions)));
    found
}

/// A window that occurs several times, by the names of its first and its last part, and its length.
type WindowKey = (u32, u32, u32);

struct RepeatSearch {
    /// The length of the windows that have names.
    width: usize,
    /// The name of the window at each position; none if it is the only one of its kind.
    names: Vec<u32>,
    /// The number of names.
    count: u32,
    /// Whether any window has a name.
    any: bool,
    /// The bytes of all steps before each one.
    bytes: Vec<u64>,
    /// The number of values that are computed before each step and used by it or later.
    crossing: Vec<u32>,
}

impl RepeatSearch {
    fn new(text: &OutlineText) -> Self {
        let mut bytes = Vec::with_capacity(text.steps.len() + 1);
        bytes.push(0);
        for (at, step) in text.steps.iter().enumerate() {
            bytes.push(bytes[at] + text.bytes(step));
        }
        let mut search =
            RepeatSearch { width: 1, names: Vec::new(), count: 0, any: false, bytes, crossing: crossing(text) };
        let tokens = text.steps.iter().map(|step| (step.source != NOWHERE).then_some((step.token, 0)));
        search.rename(tokens.collect());
        search
    }

    /// Gives names to windows by what they consist of. Those without an equal one get none.
    fn rename(&mut self, parts: Vec<Option<(u32, u32)>>) {
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut often: Vec<bool> = Vec::new();
        let names = parts.iter().map(|part| {
            let Some(part) = part else { return NOWHERE };
            let new = often.len() as u32;
            let name = *known.entry(*part).or_insert(new);
            if name == new {
                often.push(false)
            } else {
                often[name as usize] = true
            }
            name
        });
        self.names = names.collect();
        self.count = often.len() as u32;
        self.any = often.contains(&true);
        for name in &mut self.names {
            if often.get(*name as usize) == Some(&false) {
                *name = NOWHERE;
            }
        }
    }

    /// Names windows of twice the length.
    fn double(&mut self) {
        let width = self.width;
        let name = |at: usize| self.names.get(at).copied().filter(|name| *name != NOWHERE);
        let parts = (0..self.names.len()).map(|at| name(at).zip(name(at + width)));
        let parts = parts.collect();
        self.rename(parts);
        self.width *= 2;
    }

    /// Adds repeats that are at least as long as the windows, and shorter than twice that.
    fn level(&self, found: &mut Vec<Repeat>) {
        let mut known: FxHashMap<WindowKey, (u32, u64)> = FxHashMap::default();
        let mut last = vec![NOWHERE; self.count as usize];
        // The start and the end of the windows whose distance is the same, and the distance.
        let mut open = (0, 0, 0);
        for (at, name) in self.names.iter().enumerate().filter(|(_, name)| **name != NOWHERE) {
            let before = std::mem::replace(&mut last[*name as usize], at as u32);
            if before == NOWHERE {
                continue;
            }
            let distance = at - before as usize;
            if open.2 == distance && open.1 + 1 == at {
                open.1 = at;
                continue;
            }
            self.close(open, &mut known);
            open = (at, at, distance);
        }
        self.close(open, &mut known);
        let saved = |(start, length, count): (u32, u32, u64)| {
            let end = (start + length) as usize;
            ((count - 1) * (self.bytes[end] - self.bytes[start as usize])).saturating_sub(count * CALL)
        };
        let all =
            known.into_iter().map(|((.., length), (start, count))| (saved((start, length, count)), start, length));
        let mut all: Vec<(u64, u32, u32)> = all.filter(|(saved, ..)| *saved > 0).collect();
        all.sort_unstable_by(|a, b| (b.0, a.1, a.2).cmp(&(a.0, b.1, b.2)));
        for (_, start, length) in all.into_iter().take(COUNTED) {
            let positions = self.occurrences(start as usize, length as usize);
            if positions.len() > 1 {
                let saved = saved((start, length, positions.len() as u64));
                found.push(Repeat { positions, length, saved });
            }
        }
    }

    /// Notes the repeat of windows from `first` to `last` that have an equal one at a distance.
    fn close(&self, (first, last, distance): (usize, usize, usize), known: &mut FxHashMap<WindowKey, (u32, u64)>) {
        if distance == 0 {
            return;
        }
        let (start, length) = (first - distance, last - first + self.width);
        let (start, length, more) = if length < distance {
            (start, length, 1)
        } else {
            let unit = distance * self.width.div_ceil(distance);
            let Some((phase, count)) = self.phase(start, length + distance, (distance, unit)) else { return };
            (start + phase, unit, count - 1)
        };
        if length >= 2 * self.width {
            return;
        }
        let key = (self.names[start], self.names[start + length - self.width], length as u32);
        known.entry(key).or_insert((start as u32, 1)).1 += more;
    }

    /// Where the first of parts that follow each other starts, so that few values cross from one to the next, and the
    /// number of parts.
    fn phase(&self, start: usize, span: usize, (period, unit): (usize, usize)) -> Option<(usize, u64)> {
        let bytes = self.bytes[start + unit.min(span)] - self.bytes[start];
        let mut best: Option<(u64, usize, u64)> = None;
        for phase in 0..period.min((span + 1).saturating_sub(2 * unit)) {
            let count = ((span - phase) / unit) as u64;
            let crossing = u64::from(self.crossing[start + phase + unit]);
            let saved = ((count - 1) * bytes).saturating_sub(count * (CALL + 2 * NAME * crossing));
            if best.is_none_or(|(most, ..)| saved > most) {
                best = Some((saved, phase, count));
            }
        }
        best.map(|(_, phase, count)| (phase, count))
    }

    /// All windows equal to one, from left to right, without those that overlap an earlier one.
    fn occurrences(&self, start: usize, length: usize) -> Vec<u32> {
        let inner = length - self.width;
        let (head, tail) = (self.names[start], self.names[start + inner]);
        let mut positions = Vec::new();
        let mut at = 0;
        while at + inner < self.names.len() {
            if self.names[at] == head && self.names[at + inner] == tail {
                positions.push(at as u32);
                at += length;
            } else {
                at += 1;
            }
        }
        positions
    }
}

/// The number of values that are computed before each step and used by it or later.
fn crossing(text: &OutlineText) -> Vec<u32> {
    let mut ends = vec![0; text.values.len()];
    for (at, step) in text.steps.iter().enumerate() {
        text.operands(step).iter().for_each(|value| ends[*value as usize] = at);
    }
    let mut changes = vec![0i64; text.steps.len() + 2];
    for (made, end) in text.made.iter().zip(ends) {
        let made = made.0 as usize;
        if made < end {
            changes[made + 1] += 1;
            changes[end + 1] -= 1;
        }
    }
    let mut now = 0;
    let counts = changes.iter().map(|change| {
        now += change;
        now as u32
    });
    counts.collect()
}
