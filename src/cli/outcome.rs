//! How a run of the command ends.

use crate::input::Findings;

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// The work is done.
    Done = 0,
    /// An input was refused.
    Refused = 1,
    /// Wrong usage, or a file could not be read or written.
    Failed = 2,
}

/// What stops a run.
#[derive(Debug)]
pub(super) enum Failure {
    /// An input is refused.
    Refused(Box<Findings>),
    /// Wrong usage, or an error of input or output.
    Message(String),
    /// The reader of the output has closed it.
    BrokenPipe,
}

impl Failure {
    /// A reader of the output who has left knows enough: the work goes on, since its status is still to be told.
    pub(super) fn unless_left(written: Result<(), Failure>) -> Result<(), Failure> {
        match written {
            Err(Failure::BrokenPipe) => Ok(()),
            other => other,
        }
    }
}

pub(super) type RunResult = Result<Status, Failure>;
