//! The command with what the table of options says: headings, and what a subcommand does not have. What options apply
//! to is in `docs/options.md` and in the refusals: beside each option it would be longer than the help itself.

use clap::{Command, CommandFactory};

use super::lookup::tabled;
use crate::cli::args::Cli;

/// The command. Its subcommands get their arguments when they are parsed.
pub(crate) fn command() -> Command {
    tabled(Cli::command())
}

/// The command with the arguments of all subcommands.
pub(crate) fn whole_command() -> Command {
    let mut command = command();
    command.build();
    command
}
