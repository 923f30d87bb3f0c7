//! A line on a terminal that shows the progress of long work, and is gone when the work is done.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::progress::{self, ProgressState, Unit};

/// The time before the line is shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between updates.
const INTERVAL: Duration = Duration::from_millis(100);
/// The width of a bar.
const WIDTH: u64 = 30;

/// The width of the line that is shown; 0 if there is none. Whoever writes to the terminal holds it.
static SHOWN: Mutex<usize> = Mutex::new(0);

/// While it lives, a thread shows what the process is doing.
pub(super) struct Watch {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts to watch, if that is wanted. Without it there is no thread: it takes address space, which may be limited.
    pub(super) fn new(wanted: bool) -> Self {
        if !wanted {
            return Watch { end: None, thread: None };
        }
        progress::watch(true);
        let (end, ended) = mpsc::channel();
        let show = move || {
            let mut pause = PATIENCE;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                draw(&line(&progress::state()));
                pause = INTERVAL;
            }
        };
        // If the thread cannot be started, nothing is shown.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(show).ok();
        Watch { end: Some(end), thread }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        progress::watch(false);
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
            drop(cleared());
        }
    }
}

/// Removes the line from the terminal. While the result lives, it is not shown again.
fn cleared() -> MutexGuard<'static, usize> {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if *shown > 0 {
        let _ = write!(io::stderr(), "\r{:1$}\r", "", *shown);
        *shown = 0;
    }
    shown
}

/// Shows a line instead of the one before it.
fn draw(line: &str) {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let width = line.chars().count();
    if width > 0 || *shown > 0 {
        let rest = shown.saturating_sub(width);
        let _ = write!(io::stderr(), "\r{line}{:rest$}{}", "", "\u{8}".repeat(rest));
        *shown = width;
    }
}

/// `input 12, expanding: 1234567 operations`
fn line(ProgressState { phase, done, total, input }: &ProgressState) -> String {
    let of_inputs = if *input > 0 { format!("input {input}, ") } else { String::new() };
    match (phase.name, phase.unit) {
        ("", _) => String::new(),
        (name, Unit::Bytes) if *total > 0 => format!("{of_inputs}{name} {}", bar(*done, *total)),
        (name, Unit::Bytes) => format!("{of_inputs}{name}: {:.1} MB", *done as f64 / 1e6),
        (name, Unit::Operations) => format!("{of_inputs}{name}: {done} operations"),
    }
}

/// `[=====     ]  1.2 / 20.0 GB`
fn bar(done: u64, total: u64) -> String {
    let filled = done.saturating_mul(WIDTH).checked_div(total).unwrap_or(WIDTH).min(WIDTH) as usize;
    let (bar, width) = ("=".repeat(filled), WIDTH as usize);
    let giga = |bytes: u64| bytes as f64 / 1e9;
    format!("[{bar:width$}] {:6.1} / {:.1} GB", giga(done), giga(total))
}

/// A stream that may be the terminal of the line: nothing is written into it.
pub(super) struct Undisturbed<W>(pub(super) W);

impl<W: Write> Write for Undisturbed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _held = cleared();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_one_width() {
        assert_eq!(bar(0, 20_000_000_000), format!("[{:30}]    0.0 / 20.0 GB", ""));
        assert_eq!(bar(10_000_000_000, 20_000_000_000), format!("[{:30}]   10.0 / 20.0 GB", "=".repeat(15)));
        assert_eq!(bar(0, 0).len(), bar(7, 7).len());
    }

    #[test]
    fn lines_have_a_phase_and_a_count() {
        let told = |phase| line(&ProgressState { phase: progress::row_of(phase), done: 1_234_567, total: 0, input: 2 });
        assert_eq!(told(progress::Phase::Quiet), "", "nothing is done");
        assert_eq!(told(progress::Phase::Expanding), "input 2, expanding: 1234567 operations");
        assert_eq!(told(progress::Phase::Reading), "input 2, reading: 1.2 MB");
    }
}
