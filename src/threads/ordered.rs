//! Work on many inputs in several threads, whose results come in the order of the inputs.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, panicking, scope};

use crate::cancel::{self, Cancellation, WorkScope};
use crate::live::{Ledger, LiveRun, share};

/// The results that may wait for an earlier one, for each thread.
const WAITING: u64 = 2;

/// Makes a result of each item, in a number of threads, and gives them to a function in the order of the items. It is the
/// same as with one thread: each has a share of the memory of the run, and an item for which that does not suffice is made
/// again while the others wait.
///
/// # Errors
///
/// The function failed. It gets no further results.
pub(crate) fn in_order<I: Send, R: Send, E>(
    threads: usize,
    mut items: impl Iterator<Item = I> + Send,
    make: impl Fn(&I) -> R + Sync,
    mut take: impl FnMut(I, R) -> Result<(), E>,
) -> Result<(), E> {
    if threads < 2 || cfg!(target_family = "wasm") {
        return items.try_for_each(|item| {
            let made = make(&item);
            take(item, made)
        });
    }
    let line = ItemLine::new(items, WAITING * threads as u64);
    let (make, work) = (&make, cancel::current());
    let shares: Vec<Option<Arc<Ledger>>> = (0..threads).map(|_| share(threads as u64)).collect();
    scope(|scope| {
        let mut started = 0;
        for share in &shares {
            let (line, work) = (&line, work.clone());
            // If the system refuses a thread, the others do the work, or this one alone.
            started += usize::from(Builder::new().spawn_scoped(scope, move || line.work(make, share, work)).is_ok());
        }
        let _end = EndOfLine(&line);
        while let Some((item, made)) = line.next(make, started > 0) {
            take(item, made)?;
        }
        Ok(())
    })
}

/// Items that wait, and results that do.
struct ItemLine<W, I, R> {
    state: Mutex<ItemLineState<W, I, R>>,
    changed: Condvar,
    /// The most results that may wait.
    most: u64,
}

struct ItemLineState<W, I, R> {
    items: W,
    /// The number of items that were given out, and of results that were taken.
    given: u64,
    taken: u64,
    /// The results behind those that were taken; none for those that are not made yet.
    made: VecDeque<Option<Made<I, R>>>,
    working: usize,
    /// Whether one is made alone.
    paused: bool,
    ended: bool,
    failed: bool,
}

/// A result, and whether the memory did not suffice.
struct Made<I, R> {
    item: I,
    result: R,
    over: bool,
}

impl<W: Iterator<Item = I>, I, R> ItemLine<W, I, R> {
    fn new(items: W, most: u64) -> Self {
        let (made, paused, ended, failed) = (VecDeque::new(), false, false, false);
        let state = ItemLineState { items, given: 0, taken: 0, made, working: 0, paused, ended, failed };
        ItemLine { state: Mutex::new(state), changed: Condvar::new(), most }
    }

    fn state(&self) -> MutexGuard<'_, ItemLineState<W, I, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, ItemLineState<W, I, R>>) -> MutexGuard<'s, ItemLineState<W, I, R>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item with its number, when its result may wait; none after the last one.
    fn item(&self) -> Option<(u64, I)> {
        let mut state = self.state();
        while !state.ended && (state.paused || state.given - state.taken >= self.most) {
            state = self.wait(state);
        }
        let item = if state.ended { None } else { state.items.next() };
        let Some(item) = item else {
            state.ended = true;
            self.changed.notify_all();
            return None;
        };
        let number = state.given;
        (state.given, state.working) = (number + 1, state.working + 1);
        state.made.push_back(None);
        Some((number, item))
    }

    /// Makes results until there are no more items.
    fn work(&self, make: impl Fn(&I) -> R, share: &Option<Arc<Ledger>>, work: Option<Cancellation>) {
        let (_run, _scope) = (LiveRun::of(share.clone()), WorkScope::of(work));
        while let Some((number, item)) = self.item() {
            let working = Working(self);
            let result = make(&item);
            let over = share.as_ref().is_some_and(|share| share.take_exceeded());
            let mut state = self.state();
            let place = (number - state.taken) as usize;
            if let Some(place) = state.made.get_mut(place) {
                *place = Some(Made { item, result, over });
            }
            drop(state);
            drop(working);
        }
    }

    /// The next result; none after the last one. Without other threads, this one makes it.
    fn next(&self, make: impl Fn(&I) -> R, helped: bool) -> Option<(I, R)> {
        if !helped {
            let item = self.state().items.next()?;
            let result = make(&item);
            return Some((item, result));
        }
        let mut state = self.state();
        let Made { item, result, over } = loop {
            if let Some(Some(_)) = state.made.front()
                && let Some(Some(made)) = state.made.pop_front()
            {
                state.taken += 1;
                break made;
            }
            if state.failed || state.ended && state.given == state.taken {
                return None;
            }
            state = self.wait(state);
        };
        if !over {
            self.changed.notify_all();
            return Some((item, result));
        }
        state.paused = true;
        while state.working > 0 && !state.failed {
            state = self.wait(state);
        }
        drop((state, result));
        let result = make(&item);
        self.state().paused = false;
        self.changed.notify_all();
        Some((item, result))
    }
}

/// A thread that makes a result. If it panics, nobody waits for it.
struct Working<'l, W: Iterator<Item = I>, I, R>(&'l ItemLine<W, I, R>);

impl<W: Iterator<Item = I>, I, R> Drop for Working<'_, W, I, R> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.working -= 1;
        state.failed |= panicking();
        self.0.changed.notify_all();
    }
}

/// No further item is made when this is dropped.
struct EndOfLine<'l, W: Iterator<Item = I>, I, R>(&'l ItemLine<W, I, R>);

impl<W: Iterator<Item = I>, I, R> Drop for EndOfLine<'_, W, I, R> {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Held;

    #[test]
    fn results_are_those_of_one_thread_in_its_order() {
        for threads in [1, 2, 3, 8] {
            for count in [0, 1, 2, 100] {
                let mut found = Vec::new();
                let make = |item: &u64| {
                    // The first ones take longest.
                    (0..1000 * (count - item)).map(|i| i ^ item).max();
                    item * item
                };
                let taken = in_order(threads, 0..count, make, |item, square| {
                    found.push((item, square));
                    Ok::<(), ()>(())
                });
                assert_eq!(taken, Ok(()));
                assert_eq!(found, (0..count).map(|item| (item, item * item)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_first_failure_ends_the_work() {
        for threads in [1, 4] {
            let mut found = Vec::new();
            let failed = in_order(
                threads,
                0..,
                |item: &u64| *item,
                |item, _| {
                    found.push(item);
                    if item == 10 { Err(item) } else { Ok(()) }
                },
            );
            assert_eq!((failed, found), (Err(10), (0..=10).collect()));
        }
    }

    /// What fits into all of the memory, but not into the share of a thread, is made alone.
    #[test]
    fn each_item_has_all_the_memory() {
        let _run = LiveRun::within(8 << 20);
        let make = |item: &u64| {
            let held = Held::default();
            let fits = held.fits(*item << 20, u64::MAX);
            if fits {
                held.add(*item << 20);
            }
            fits
        };
        for threads in [1, 2, 4] {
            let mut found = Vec::new();
            let taken = in_order(threads, (0..40u64).map(|i| i % 10), make, |item, fits| {
                found.push((item, fits));
                Ok::<(), ()>(())
            });
            assert_eq!(taken, Ok(()));
            let wanted: Vec<(u64, bool)> = (0..40).map(|i| (i % 10, i % 10 <= 8)).collect();
            assert_eq!(found, wanted, "{threads} threads");
        }
    }
}
