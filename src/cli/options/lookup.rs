//! What the table says about an option of a subcommand.

use super::row::OptionRow;
use super::sets::Commands;
use super::table::OPTIONS;
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
