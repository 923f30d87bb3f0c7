//! `nnef-flatten completions`: a script for a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::{RunResult, Status, io};

/// Writes the completion script of a shell.
pub(crate) fn run(shell: Shell) -> RunResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "nnef-flatten", &mut script);
    io::write_stdout(&mut |out| out.write_all(&script))?;
    Ok(Status::Done)
}
