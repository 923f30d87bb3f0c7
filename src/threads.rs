//! Work in several threads.

pub(crate) mod ordered;
pub(crate) mod pieces;

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

use crate::cancel::{self, WorkScope};
use crate::live::{LiveRun, share};

/// The results of two functions that run at the same time, the first one in a thread of its own; one after the other where
/// there are no threads.
///
/// # Errors
///
/// The thread cannot be started.
pub(crate) fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> io::Result<(A, B)> {
    if cfg!(target_family = "wasm") {
        return Ok((first(), second()));
    }
    let (run, other) = (share(2), share(2));
    let work = cancel::current();
    scope(|scope| {
        let first = move || {
            let (_run, _scope) = (LiveRun::of(run), WorkScope::of(work));
            first()
        };
        let started = Builder::new().spawn_scoped(scope, first)?;
        let _run = LiveRun::of(other);
        let second = second();
        Ok((started.join().unwrap_or_else(|panic| resume_unwind(panic)), second))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn each_function_can_wait_for_the_other() {
        let ((give, given), (answer, answered)) = (channel(), channel());
        let first = move || given.recv().map(|value: i32| answer.send(value + 1));
        let (sent, received) = both(first, move || give.send(1).map(|()| answered.recv())).unwrap();
        assert_eq!((sent, received), (Ok(Ok(())), Ok(Ok(2))));
    }
}
