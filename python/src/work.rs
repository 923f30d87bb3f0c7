//! Long work: without the interpreter's lock, and ended by Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use nnef_flatten::cli::Cancellation;
use nnef_flatten::input::Refusal;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError};
use pyo3::prelude::*;

use crate::refusal::exception;

/// The time between two looks at the signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long work takes, as far as that is known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// Mostly less than it takes to start a thread.
    Short,
    /// Anything.
    Any,
}

/// How work ended.
type Done<T> = std::thread::Result<Option<Result<T, Refusal>>>;

/// Does work without the interpreter's lock. A panic, which is a mistake in this program, becomes a `RuntimeError`. Signals
/// are handled while it is done; where a handler raises an exception, as that of Ctrl-C does, the work ends.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    length: Length,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> PyResult<T> {
    let done = match length {
        Length::Short => here(py, work)?,
        Length::Any => beside(py, work)?,
    };
    match done {
        Ok(Some(result)) => result.map_err(exception),
        Ok(None) => Err(PyKeyboardInterrupt::new_err(())),
        Err(payload) => {
            let told = payload.downcast_ref::<&str>().copied();
            let told = told.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown");
            Err(PyRuntimeError::new_err(format!("internal error, please report it: {told}")))
        }
    }
}

/// Does work in this thread, which looks at the signals where the work counts what is done.
fn here<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Refusal> + Send) -> PyResult<Done<T>> {
    let raised = Arc::new(Mutex::new(None));
    let raising = Arc::clone(&raised);
    let cancellation = Cancellation::asking(move || {
        let signal = Python::attach(|py| py.check_signals()).err();
        let is_raised = signal.is_some();
        *raising.lock().unwrap_or_else(PoisonError::into_inner) = signal;
        is_raised
    });
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| cancellation.run(work))));
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(raised) => Err(raised),
        None => Ok(done),
    }
}

/// Does work in another thread, while this one looks at the signals. Work that is not wanted any more ends by itself: it is
/// not waited for, since a single step may take long.
fn beside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> PyResult<Done<T>> {
    let cancellation = Cancellation::default();
    let (told, mut done) = channel();
    let other = cancellation.clone();
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(|| other.run(work)));
        // Nobody waits if the work is not wanted any more.
        let _ = told.send(done);
    };
    Builder::new().name("nnef_flatten".to_owned()).spawn(work).map_err(PyOSError::new_err)?;
    loop {
        let waiting = &mut done;
        match py.detach(move || waiting.recv_timeout(INTERVAL)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancellation.cancel())?,
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the thread has ended")),
        }
    }
}
