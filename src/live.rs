//! The bytes in use of a run, which all limits on memory share.
//!
//! The stages of a run have limits of their own, but what one of them holds, the next cannot use. So every stage counts
//! its bytes in a [`Held`], and those that are made while a [`LiveRun`] is open count in it, too, until they are dropped.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Bytes are taken from the counter of a run in pieces of this size, so that counting costs no more than without it.
const PIECE: u64 = 1 << 16;

/// The counter of a run.
#[derive(Debug)]
pub(crate) struct Ledger {
    limit: AtomicU64,
    taken: AtomicU64,
    /// Whether the limit did not allow what was wanted.
    exceeded: AtomicBool,
}

impl Ledger {
    fn new(limit: u64) -> Arc<Self> {
        Arc::new(Ledger { limit: limit.into(), taken: AtomicU64::new(0), exceeded: AtomicBool::new(false) })
    }

    /// Whether the limit did not allow what was wanted since this was asked.
    pub(crate) fn take_exceeded(&self) -> bool {
        self.exceeded.swap(false, Relaxed)
    }
}

thread_local! {
    /// The counter of the run that this thread works for.
    static CURRENT: RefCell<Option<Arc<Ledger>>> = const { RefCell::new(None) };
}

fn current() -> Option<Arc<Ledger>> {
    CURRENT.with_borrow(Clone::clone)
}

/// A counter for one of several parts of a run that work at the same time. Each has an equal share of what is left: with a
/// counter in common, whether a part fits would depend on how far the others are.
pub(crate) fn share(parts: u64) -> Option<Arc<Ledger>> {
    let left = |run: Arc<Ledger>| run.limit.load(Relaxed).saturating_sub(run.taken.load(Relaxed));
    current().map(|run| Ledger::new(left(run) / parts.max(1)))
}

/// While it exists, all that its thread counts is counted together.
#[must_use]
pub(crate) struct LiveRun {
    before: Option<Arc<Ledger>>,
}

impl LiveRun {
    /// A run that may have so many bytes in use. A part of another run belongs to that.
    pub(crate) fn within(limit: u64) -> Self {
        Self::of(current().or_else(|| Some(Ledger::new(limit))))
    }

    /// A part of a run, in a thread that helps.
    pub(crate) fn of(ledger: Option<Arc<Ledger>>) -> Self {
        LiveRun { before: CURRENT.replace(ledger) }
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

/// Bytes in use, which count in the run that was open when this was made.
#[derive(Debug)]
pub(crate) struct Held {
    ledger: Option<Arc<Ledger>>,
    bytes: AtomicU64,
    /// The bytes that were taken from the counter of the run: at least those in use.
    taken: AtomicU64,
}

impl Default for Held {
    fn default() -> Self {
        Held { ledger: current(), bytes: AtomicU64::new(0), taken: AtomicU64::new(0) }
    }
}

impl Held {
    /// So many bytes.
    pub(crate) fn of(bytes: u64) -> Self {
        let held = Held::default();
        held.add(bytes);
        held
    }

    /// The bytes in use.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Counts further bytes.
    #[inline]
    pub(crate) fn add(&self, bytes: u64) {
        self.set(self.bytes().saturating_add(bytes));
    }

    /// Counts bytes no longer.
    #[inline]
    pub(crate) fn remove(&self, bytes: u64) {
        self.set(self.bytes().saturating_sub(bytes));
    }

    /// Counts so many bytes from now on.
    #[inline]
    pub(crate) fn set(&self, bytes: u64) {
        self.bytes.store(bytes, Relaxed);
        if let Some(ledger) = &self.ledger {
            let taken = self.taken.load(Relaxed);
            if bytes > taken || taken - bytes > 2 * PIECE {
                self.take(ledger, bytes, taken);
            }
        }
    }

    /// Takes bytes from the counter of the run, or gives them back.
    #[cold]
    fn take(&self, ledger: &Ledger, bytes: u64, taken: u64) {
        let wanted = bytes.saturating_add(if bytes == 0 { 0 } else { PIECE });
        let change = |all: u64| Some(all.saturating_sub(taken).saturating_add(wanted));
        // It always succeeds.
        let _ = ledger.taken.fetch_update(Relaxed, Relaxed, change);
        self.taken.store(wanted, Relaxed);
    }

    /// Lets the run have so many bytes in any case, such as those for the data of a large model.
    pub(crate) fn allow(&self, bytes: u64) {
        self.ledger.iter().for_each(|ledger| _ = ledger.limit.fetch_max(bytes, Relaxed));
    }

    /// Whether a limit, and that of the run, allow this many more bytes.
    #[inline]
    pub(crate) fn fits(&self, more: u64, limit: u64) -> bool {
        let bytes = self.bytes().saturating_add(more);
        bytes <= limit && self.ledger.as_ref().is_none_or(|ledger| self.fits_run(ledger, bytes))
    }

    /// The limit that does not allow further bytes: a limit, or that of the run.
    pub(crate) fn exceeded(&self, more: u64, limit: u64) -> u64 {
        let run = self.ledger.as_ref().map_or(limit, |ledger| ledger.limit.load(Relaxed));
        if self.bytes().saturating_add(more) > limit { limit } else { run }
    }

    fn fits_run(&self, ledger: &Ledger, bytes: u64) -> bool {
        if bytes <= self.taken.load(Relaxed) {
            return true;
        }
        let others = ledger.taken.load(Relaxed).saturating_sub(self.taken.load(Relaxed));
        let fits = others.saturating_add(bytes) <= ledger.limit.load(Relaxed);
        if !fits {
            ledger.exceeded.store(true, Relaxed);
        }
        fits
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        let held = Held { ledger: self.ledger.clone(), bytes: AtomicU64::new(0), taken: AtomicU64::new(0) };
        held.add(self.bytes());
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(ledger) = &self.ledger {
            self.take(ledger, 0, self.taken.load(Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_holds_is_missing_to_its_other_stages() {
        let alone = Held::of(1 << 40);
        assert!(alone.fits(1, u64::MAX) && !alone.fits(1, 1 << 40));
        let run = LiveRun::within(10 << 20);
        let (first, second) = (Held::default(), Held::of(4 << 20));
        assert!(first.fits(5 << 20, 8 << 20) && !first.fits(7 << 20, 8 << 20), "the second one holds 4 MiB");
        first.add(5 << 20);
        assert!(!second.fits(2 << 20, 8 << 20));
        first.remove(4 << 20);
        assert!(second.fits(2 << 20, 8 << 20));
        drop(first);
        let part = LiveRun::within(u64::MAX);
        let copy = second.clone();
        assert!(!Held::default().fits(3 << 20, u64::MAX), "a part of a run has its limit");
        drop((part, copy, second));
        assert!(Held::default().fits(9 << 20, 9 << 20));
        let helper = share(2);
        let helper = std::thread::spawn(move || {
            let _part = LiveRun::of(helper);
            Held::default().fits(5 << 20, u64::MAX) && !Held::default().fits(6 << 20, u64::MAX)
        });
        assert!(helper.join().unwrap());
        Held::default().allow(12 << 20);
        assert!(Held::default().fits(11 << 20, u64::MAX), "a limit for more data");
        drop(run);
        assert!(current().is_none());
    }
}
