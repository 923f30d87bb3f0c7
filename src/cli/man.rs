//! `nnef-flatten man`: the manual page.

use clap::CommandFactory;

use super::args::Cli;
use super::{RunResult, Status, io};

/// Writes the manual page, in roff.
pub(crate) fn run() -> RunResult {
    let page = clap_mangen::Man::new(Cli::command());
    io::write_stdout(&mut |out| page.render(out))?;
    Ok(Status::Done)
}
