//! What this process is doing, for a command that shows it to people.
//!
//! Long work names its phase and counts what is done. That costs a load of a flag unless somebody watches: a command does,
//! a library does not. The state belongs to the process, because it is shown in one place, a terminal. Where work counts what is
//! done, it can be ended, too.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::cancel;

/// A phase of long work. Its row in [`PHASES`] has its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing that is shown, such as writing to a terminal.
    Quiet,
    Reading,
    Checking,
    Expanding,
    Translating,
    Evaluating,
    Drawing,
    Writing,
    /// Copying the files of a model.
    Copying,
}

/// What a phase is called, and what it counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PhaseRow {
    pub(crate) phase: Phase,
    /// Its name; empty for one that is not shown.
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Operations,
}

const fn row(phase: Phase, name: &'static str, unit: Unit) -> PhaseRow {
    PhaseRow { phase, name, unit }
}

/// All phases, in the order of their numbers.
static PHASES: &[PhaseRow] = &[
    row(Phase::Quiet, "", Unit::Bytes),
    row(Phase::Reading, "reading", Unit::Bytes),
    row(Phase::Checking, "checking", Unit::Operations),
    row(Phase::Expanding, "expanding", Unit::Operations),
    row(Phase::Translating, "translating", Unit::Operations),
    row(Phase::Evaluating, "evaluating", Unit::Operations),
    row(Phase::Drawing, "drawing", Unit::Operations),
    row(Phase::Writing, "writing", Unit::Bytes),
    row(Phase::Copying, "copying", Unit::Bytes),
];

static WATCHED: AtomicBool = AtomicBool::new(false);
static PHASE: AtomicU8 = AtomicU8::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static TOTAL: AtomicU64 = AtomicU64::new(0);
static INPUT: AtomicU64 = AtomicU64::new(0);

/// The state of the work.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProgressState {
    pub(crate) phase: &'static PhaseRow,
    /// How much is done.
    pub(crate) done: u64,
    /// How much there is to do; 0 if that is not known.
    pub(crate) total: u64,
    /// The number of the input, of several ones; 0 for a single one.
    pub(crate) input: u64,
}

/// The row of a phase.
#[cfg(test)]
pub(crate) fn row_of(phase: Phase) -> &'static PhaseRow {
    numbered(phase as u8)
}

/// The row of the phase with a number.
fn numbered(phase: u8) -> &'static PhaseRow {
    PHASES.get(usize::from(phase)).unwrap_or(&PHASES[0])
}

/// Whether anybody watches from now on.
pub(crate) fn watch(watched: bool) {
    WATCHED.store(watched, Ordering::Relaxed);
}

/// What is being done.
pub(crate) fn state() -> ProgressState {
    ProgressState {
        phase: numbered(PHASE.load(Ordering::Relaxed)),
        done: DONE.load(Ordering::Relaxed),
        total: TOTAL.load(Ordering::Relaxed),
        input: INPUT.load(Ordering::Relaxed),
    }
}

/// Begins a phase.
pub(crate) fn enter(phase: Phase) {
    enter_of(phase, 0);
}

/// Begins a phase with a known end.
pub(crate) fn enter_of(phase: Phase, total: u64) {
    cancel::look();
    if WATCHED.load(Ordering::Relaxed) {
        PHASE.store(phase as u8, Ordering::Relaxed);
        DONE.store(0, Ordering::Relaxed);
        TOTAL.store(total, Ordering::Relaxed);
    }
}

/// Begins the work on one of several inputs, by its number from 1. Of inputs that are worked on at the same time the last one
/// that was begun is shown, with what all of them count.
pub(crate) fn input(number: u64) {
    PHASE.store(Phase::Quiet as u8, Ordering::Relaxed);
    INPUT.store(number, Ordering::Relaxed);
}

/// Counts what is done in addition.
#[inline]
pub(crate) fn add(count: u64) {
    cancel::look();
    if WATCHED.load(Ordering::Relaxed) {
        DONE.fetch_add(count, Ordering::Relaxed);
    }
}

/// Sets how much is done.
#[inline]
pub(crate) fn reached(count: u64) {
    cancel::look();
    if WATCHED.load(Ordering::Relaxed) {
        DONE.store(count, Ordering::Relaxed);
    }
}

/// A reader or writer whose bytes are counted.
pub(crate) struct Metered<S>(pub(crate) S);

impl<S: std::io::Read> std::io::Read for Metered<S> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        add(count as u64);
        Ok(count)
    }
}

impl<S: std::io::Write> std::io::Write for Metered<S> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.0.write(bytes)?;
        add(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_stand_at_their_numbers() {
        assert!(PHASES.iter().enumerate().all(|(i, row)| row.phase as usize == i));
    }
}
