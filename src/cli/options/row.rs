//! The row of an option: where it has an effect, and what is told where it has none.

use super::sets::{Commands, Inputs, Outputs};
use crate::cli::args::Language;
use crate::input::table::Notation;

/// Where an option has an effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(super) commands: Commands,
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// Options of which one has to be given, too; none if it needs no other one.
    pub(super) with: &'static [&'static str],
}

/// Values with which an option has no effect.
#[derive(Clone, Copy)]
pub(crate) struct NoEffect {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// The option with such a value.
    pub(super) what: &'static str,
    pub(super) is: fn(&Language) -> bool,
}

/// An option, in one or several subcommands.
pub(crate) struct OptionRow {
    /// Its name without the dashes.
    pub(crate) name: &'static str,
    /// The heading of `--help` under which it stands; empty for the options of a subcommand itself.
    pub(super) heading: &'static str,
    pub(super) uses: &'static [Use],
    pub(super) no_effect: &'static [NoEffect],
    /// Inputs and outputs with which it holds anyway, and why; that is told.
    pub(super) held: &'static [(Inputs, Outputs, &'static str)],
    /// Why some inputs do not take it.
    pub(super) because: &'static [(Inputs, &'static str)],
    /// Whether it holds for a part of a model (`--production`), which is read, and written again.
    pub(super) of_parts: fn(&Language) -> bool,
}

impl OptionRow {
    /// Whether an option with its id in clap stands in this row for a subcommand.
    pub(super) fn is(&self, id: &str, commands: Commands) -> bool {
        self.name.len() == id.len()
            && self.name.bytes().zip(id.bytes()).all(|(a, b)| a == b || a == b'-' && b == b'_')
            && self.commands().has(commands)
    }

    /// The subcommands that have the option.
    pub(super) fn commands(&self) -> Commands {
        self.uses.iter().fold(Commands(0), |all, one| all.and(one.commands))
    }

    /// Why what the option asks for holds anyway with an input notation and an output.
    pub(super) fn holds(&self, command: Commands, from: Option<&Notation>, output: &str) -> Option<&'static str> {
        let of_command = self.commands().has(command) && from.is_some();
        let mut held = self.held.iter().filter(|_| of_command);
        held.find(|(inputs, outputs, _)| inputs.has(from) && outputs.has(output)).map(|(_, _, why)| *why)
    }
}
