//! What the table says about an option of a subcommand.

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};

use super::option_table::OPTIONS;
use super::row::OptionRow;
use super::sets::Commands;
use crate::input::table::Notation;

/// The row of an option of a subcommand, by its id in clap.
pub(crate) fn row(id: &str, commands: Commands) -> Option<&'static OptionRow> {
    OPTIONS.iter().find(|row| row.is(id, commands))
}

/// Whether any subcommand has an option of a name.
pub(crate) fn has(name: &str) -> bool {
    OPTIONS.iter().any(|row| row.name == name)
}

/// Whether a subcommand writes an output for an input.
pub(super) fn written(output: &str, command: Commands, from: Option<&Notation>) -> bool {
    let uses = row("to", command).map_or(&[][..], |row| row.uses);
    uses.iter().any(|one| one.commands.has(command) && one.inputs.has(from) && one.outputs.has(output))
}

/// A command or a subcommand with the headings of its options. Those that it cannot use are parsed, so that they are
/// refused by their names, but not listed. The last of several values of an option counts, but a file is given once.
pub(crate) fn tabled(command: Command) -> Command {
    let known = Commands::named(if command.get_name() == "nnef-flatten" { "" } else { command.get_name() });
    let file = ValueParser::path_buf().type_id();
    command.mut_args(|arg| {
        let counts = matches!(arg.get_action(), ArgAction::Append | ArgAction::Count);
        let once = arg.is_positional() || counts || arg.get_value_parser().type_id() == file;
        let id = arg.get_id().clone();
        told(if once { arg } else { arg.overrides_with(id) }, known)
    })
}

fn told(arg: Arg, commands: Commands) -> Arg {
    if arg.is_positional() || commands == Commands(0) || arg.get_id() == "help" || arg.get_id() == "version" {
        return arg;
    }
    let Some(row) = row(arg.get_id().as_str(), commands) else { return arg.hide(true) };
    if row.heading.is_empty() { arg.help_heading("Options") } else { arg.help_heading(row.heading) }
}
