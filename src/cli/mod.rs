//! The command line: reads arguments and texts, calls the library, writes results and messages.
//!
//! Results go to standard output, everything else to standard error; the results of `check` are findings. The exit status is 0 when the
//! work is done, 1 when an input was refused, 2 for wrong usage or failed input and output.

mod args;
mod check;
mod command;
mod complete;
mod completions;
mod diff;
mod edit;
mod explain;
mod expr;
mod external;
mod fixes;
mod flatten;
mod fmt;
mod foreign;
mod inputs;
mod interrupt;
mod io;
mod keywords;
mod layout;
mod limits;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
mod models;
mod options;
mod outcome;
mod process;
mod progress;
mod report;
mod request;
mod run;
mod spool;
mod stats;
mod tensors;
mod terminal;
mod usage;
mod verify;
mod walk;

pub use crate::cancel::Cancellation;
pub use command::main;
pub use keywords::{Keywords, ListedPass, Saved, endings, passes};
