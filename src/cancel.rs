//! Ends long work when it is no longer wanted: an interpreter that hosts it has got a signal, a caller has left.
//!
//! The work unwinds from the places that count what is done ([`crate::progress`], budgets). That costs a load of a flag where
//! nothing can be ended, as in the command, whose process ends by the signal.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two questions.
const INTERVAL: Duration = Duration::from_millis(30);
/// The clock is only read at every so many looks: reading it takes longer than most of what is counted.
const LOOKS: u32 = 64;

/// Whether any work of this process can be ended.
static USED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The work that this thread does.
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
    /// The looks since the clock was read.
    static SINCE: Cell<u32> = const { Cell::new(0) };
}

/// What unwinding work carries.
struct Ended;

/// Ends work: asked for from another thread, or by a question that the work itself asks from time to time.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    wanted: AtomicBool,
    question: Option<Question>,
}

/// What tells whether the work should end, and when it was last asked.
struct Question {
    ask: Box<dyn Fn() -> bool + Send + Sync>,
    last: Mutex<Instant>,
}

impl Cancellation {
    /// Asks the work itself, about thirty times a second.
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let question = Question { ask: Box::new(ask), last: Mutex::new(Instant::now()) };
        Cancellation(Arc::new(CancelState { wanted: AtomicBool::new(false), question: Some(question) }))
    }

    /// Ends the work at the next place where it looks.
    pub fn cancel(&self) {
        self.0.wanted.store(true, Relaxed);
    }

    /// Does work that can be ended; none if it was.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        USED.store(true, Relaxed);
        let _part = WorkScope::of(Some(self.clone()));
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(done) => Some(done),
            Err(payload) if payload.is::<Ended>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Whether it may be wanted now. Most looks end here.
    fn may_be_wanted(&self) -> bool {
        self.0.wanted.load(Relaxed) || self.0.question.as_ref().is_some_and(Question::is_due)
    }

    fn is_wanted(&self) -> bool {
        self.0.wanted.load(Relaxed) || self.0.question.as_ref().is_some_and(|question| (question.ask)())
    }
}

impl Question {
    fn is_due(&self) -> bool {
        let since = SINCE.get() + 1;
        SINCE.set(since % LOOKS);
        since == LOOKS && self.is_late()
    }

    fn is_late(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let is_late = now.duration_since(*last) >= INTERVAL;
        if is_late {
            *last = now;
        }
        is_late
    }
}

/// While it lives, this thread does the work, or a part of it.
#[must_use]
pub(crate) struct WorkScope(Option<Cancellation>);

impl WorkScope {
    /// The work that another thread does, for one that helps it.
    pub(crate) fn of(work: Option<Cancellation>) -> Self {
        WorkScope(CURRENT.replace(work))
    }
}

impl Drop for WorkScope {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// The work that this thread does.
pub(crate) fn current() -> Option<Cancellation> {
    CURRENT.with_borrow(Clone::clone)
}

/// Ends the work here if it is not wanted any more.
#[inline]
pub(crate) fn look() {
    if USED.load(Relaxed) {
        end_if_wanted();
    }
}

#[inline(never)]
fn end_if_wanted() {
    let may_be_wanted = |work: &Option<Cancellation>| work.as_ref().is_some_and(Cancellation::may_be_wanted);
    if !CURRENT.with_borrow(may_be_wanted) {
        return;
    }
    // The answer may do other work in this thread. What runs while work unwinds is short.
    if current().is_some_and(|work| work.is_wanted()) && !std::thread::panicking() {
        resume_unwind(Box::new(Ended));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_where_it_looks() {
        assert_eq!(Cancellation::default().run(|| (look(), 1).1), Some(1));
        let wanted = Cancellation::default();
        wanted.cancel();
        assert_eq!(wanted.run(|| (look(), 1).1), None);
        let start = Instant::now();
        let asking = Cancellation::asking(move || start.elapsed() > Duration::from_millis(50));
        let endless = || loop {
            look();
        };
        assert_eq!(asking.run(endless), None::<()>);
        assert!(start.elapsed() > Duration::from_millis(50), "it ended before the answer was yes");
        assert!(current().is_none());
    }

    #[test]
    fn helpers_of_the_work_end_with_it() {
        let work = Cancellation::default();
        work.cancel();
        let both = || crate::threads::both(look, || ());
        assert!(work.run(both).is_none());
    }

    #[test]
    fn other_panics_stay() {
        let other = catch_unwind(AssertUnwindSafe(|| Cancellation::default().run(|| resume_unwind(Box::new(5)))));
        assert_eq!(other.map(drop).unwrap_err().downcast_ref(), Some(&5));
    }
}
