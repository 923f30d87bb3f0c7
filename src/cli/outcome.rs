//! How a run of the command ends.

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

/// A failure that stops a run: a message for standard error, or a closed output.
#[derive(Debug)]
pub(super) enum Failure {
    /// Wrong usage, or an error of input or output.
    Message(String),
    /// The reader of the output has closed it.
    BrokenPipe,
}

pub(super) type RunResult = Result<Status, Failure>;
