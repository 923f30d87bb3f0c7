//! The diagnostics of a run, of which as many are kept as fit in bounded memory.

use std::error::Error;
use std::fmt;

use rustc_hash::FxHashMap;

use super::codes::Code;
use super::diagnostic::{Diagnostic, Severity};
use crate::live::Held;
use crate::source::Location;

/// The most warnings of one code that are kept; the others are counted.
const WARNINGS_PER_CODE: u32 = 20;

/// The most errors that are kept; the others are counted.
const MAX_ERRORS: u32 = 200;

/// The memory for diagnostics if all are kept, which is enough for a million of them, unless that of the run is full before;
/// the others are counted.
const KEPT_BYTES: u64 = 512 << 20;

/// The most messages of one code at one place that are compared with further ones.
const DIFFERENT: usize = 16;

/// How diagnostics are judged, and how many of them are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Whether deviations that the default mode tolerates are errors.
    pub(crate) strict: bool,
    /// Whether all are kept, as far as [`KEPT_BYTES`] suffice: programs want all, people read the first ones.
    pub(crate) all: bool,
}

impl From<bool> for Policy {
    fn from(strict: bool) -> Self {
        Policy { strict, all: false }
    }
}

/// The positions of the errors of a code at a place.
type Called = FxHashMap<(Code, Location), Vec<u32>>;

/// The diagnostics of a run, in the order in which they were reported.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    policy: Policy,
    list: Vec<Diagnostic>,
    per_code: FxHashMap<Code, u32>,
    /// The errors that calls reach, by their place: a mistake in a body is told once.
    called: Option<Box<Called>>,
    /// The warnings that were only counted, by code.
    counted: FxHashMap<Code, usize>,
    errors: u32,
    suppressed: usize,
    /// The memory of those that are kept, if all are. In a box, so that results with a list stay small.
    held: Option<Box<Held>>,
}

impl Diagnostics {
    /// An empty list. With `strict`, deviations that the default mode tolerates are errors.
    pub fn new(strict: bool) -> Self {
        Diagnostics::of(strict.into())
    }

    /// An empty list for diagnostics that are judged in a way.
    pub(crate) fn of(policy: Policy) -> Self {
        Diagnostics { policy, ..Self::default() }
    }

    /// How diagnostics are judged.
    pub(crate) fn policy(&self) -> Policy {
        self.policy
    }

    /// Whether tolerated deviations are errors.
    pub(crate) fn strict(&self) -> bool {
        self.policy.strict
    }

    /// Adds a diagnostic with the severity that its code has in this mode. Diagnostics beyond a limit are
    /// only counted, so that memory is bounded; the document is refused for any error.
    pub(crate) fn report(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.severity = diagnostic.code.severity(self.policy.strict);
        let place = (diagnostic.code, diagnostic.at);
        let in_call = diagnostic.is_error() && !diagnostic.expansion.is_empty();
        if in_call && let Some(known) = self.same(&diagnostic) {
            return self.list[known].merge(&diagnostic);
        }
        if diagnostic.is_error() {
            self.errors = self.errors.saturating_add(1);
            if !self.policy.all && self.errors > MAX_ERRORS {
                self.suppressed += 1;
                return;
            }
        } else {
            let count = self.per_code.entry(diagnostic.code).or_default();
            *count += 1;
            if !self.policy.all && *count > WARNINGS_PER_CODE {
                *self.counted.entry(diagnostic.code).or_default() += 1;
                self.suppressed += 1;
                return;
            }
        }
        if self.policy.all {
            let bytes = diagnostic.bytes() as u64;
            let held = self.held.get_or_insert_default();
            // The first error is kept in any case: nothing else says why the document is refused.
            let is_first = diagnostic.is_error() && self.errors == 1;
            if !is_first && !held.fits(bytes, KEPT_BYTES) {
                self.suppressed += 1;
                return;
            }
            held.add(bytes);
        }
        if in_call {
            let of_place = self.called.get_or_insert_default().entry(place).or_default();
            if of_place.len() < DIFFERENT {
                of_place.push(self.list.len() as u32);
            }
        }
        self.list.push(diagnostic);
    }

    /// The position of an error that tells the same mistake for another call.
    fn same(&self, diagnostic: &Diagnostic) -> Option<usize> {
        let of_place = self.called.as_ref()?.get(&(diagnostic.code, diagnostic.at))?;
        let mut known = of_place.iter().map(|known| *known as usize);
        known.find(|known| self.list.get(*known).is_some_and(|known| known.is_same(diagnostic)))
    }

    /// Whether the document is refused.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether another diagnostic of a code would only be counted, so that it need not be made.
    pub(crate) fn only_counts(&self, code: Code) -> bool {
        !self.policy.all && self.is_frequent(code)
    }

    /// Whether there are so many diagnostics of a code that another one needs no help that takes long to find.
    pub(crate) fn is_frequent(&self, code: Code) -> bool {
        match code.severity(self.policy.strict) {
            Severity::Error => self.errors >= MAX_ERRORS,
            _ => self.per_code.get(&code).is_some_and(|count| *count >= WARNINGS_PER_CODE),
        }
    }

    /// The diagnostics that are kept.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The diagnostics that are kept, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        self.list.iter_mut()
    }

    /// How many diagnostics were only counted.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }

    /// How many warnings of each code were only counted.
    pub(crate) fn suppressed_warnings(&self) -> impl Iterator<Item = (Code, usize)> {
        self.counted.iter().map(|(code, count)| (*code, *count))
    }

    /// How many diagnostics are kept.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Appends the diagnostics of a later stage.
    pub fn extend(&mut self, other: Diagnostics) {
        self.suppressed += other.suppressed;
        for (code, count) in other.counted {
            *self.counted.entry(code).or_default() += count;
        }
        let kept = other.list.iter().filter(|diagnostic| diagnostic.is_error()).count();
        for diagnostic in other.list {
            self.report(diagnostic);
        }
        // Errors that were only counted refuse the document, too.
        self.errors = self.errors.saturating_add(other.errors.saturating_sub(kept as u32));
    }

    /// Appends the diagnostics of a later stage and returns its result, if there is one.
    pub(crate) fn take<T>(&mut self, stage: Result<(T, Diagnostics), Diagnostics>) -> Option<T> {
        let (result, found) = match stage {
            Ok((result, found)) => (Some(result), found),
            Err(found) => (None, found),
        };
        self.extend(found);
        result
    }

    /// The diagnostics that are kept, sorted by file and position, without duplicates. Those that several calls reach tell
    /// how many.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        for diagnostic in self.list.iter_mut().filter(|diagnostic| diagnostic.again > 0) {
            let calls = std::mem::take(&mut diagnostic.again) + 1;
            diagnostic.message.push_str(&format!(" (in {calls} calls)"));
        }
        self.list.sort_by_key(|d| (d.at.file, d.at.span.start, d.at.span.end, d.code));
        self.list.dedup();
        self.list
    }
}

/// A line for each diagnostic, in the order of [`Diagnostics::into_sorted`].
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, diagnostic) in self.clone().into_sorted().iter().enumerate() {
            write!(f, "{}{diagnostic}", if i > 0 { "\n" } else { "" })?;
        }
        match (self.list.is_empty(), self.suppressed) {
            (false, 0) => Ok(()),
            (true, 0) => f.write_str("nothing was found wrong"),
            (_, count) => write!(f, "\n({count} more not shown)"),
        }
    }
}

impl Error for Diagnostics {}

impl<'d> IntoIterator for &'d Diagnostics {
    type Item = &'d Diagnostic;
    type IntoIter = std::slice::Iter<'d, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{Held, LiveRun};

    const ALL: Policy = Policy { strict: false, all: true };

    fn error(code: Code) -> Diagnostic {
        Diagnostic::new(code, Location::default(), "wrong")
    }

    /// Where nothing else fits into the memory of a run, the first error does: a refusal says why.
    #[test]
    fn errors_refuse_whatever_memory_is_left() {
        let _run = LiveRun::within(1 << 10);
        let full = Held::of(1 << 20);
        let mut found = Diagnostics::of(ALL);
        found.report(Diagnostic::new(Code::UnknownOperation, Location::default(), "only a warning"));
        found.report(error(Code::MemoryBudget));
        assert_eq!((found.errors, found.len(), found.suppressed()), (1, 1, 1));
        let mut all = Diagnostics::of(ALL);
        all.extend(found);
        assert_eq!((all.errors, all.len(), all.suppressed()), (1, 1, 1));
        drop(full);
    }

    /// Errors that were only counted count in a list that takes them over.
    #[test]
    fn errors_that_are_not_kept_refuse() {
        let mut found = Diagnostics::default();
        (0..=MAX_ERRORS).for_each(|at| {
            found.report(Diagnostic::new(Code::DivisionByZero, Location::default(), format!("{at}")));
        });
        assert_eq!((found.errors, found.len(), found.suppressed()), (MAX_ERRORS + 1, MAX_ERRORS as usize, 1));
        let mut all = Diagnostics::default();
        all.report(error(Code::BadCast));
        all.extend(found);
        assert_eq!((all.errors, all.len(), all.suppressed()), (MAX_ERRORS + 2, MAX_ERRORS as usize, 2));
    }
}
