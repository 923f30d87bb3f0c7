//! The command with what the table of options says: headings, applicability, and what a subcommand does not have.

use clap::{Arg, Command, CommandFactory, ValueEnum};

use super::listed::listed;
use super::lookup::row;
use super::row::{OptionRow, Use};
use super::sets::{Commands, Inputs, Outputs};
use crate::cli::args::{Cli, ExprTo, LayoutTo, RunTo, To};
use crate::input::table::NOTATIONS;

/// The command with the headings of its options. Options that a subcommand cannot use are parsed, so that they are
/// refused by their names, but not listed.
pub(crate) fn command() -> Command {
    let told = |command: Command| {
        let known = Commands::named(if command.get_name() == "nnef-flatten" { "" } else { command.get_name() });
        command.mut_args(|arg| told(arg, known))
    };
    told(Cli::command()).mut_subcommands(told)
}

fn told(arg: Arg, commands: Commands) -> Arg {
    if arg.is_positional() || commands == Commands(0) || arg.get_id() == "help" || arg.get_id() == "version" {
        return arg;
    }
    let Some(row) = row(arg.get_id().as_str(), commands) else { return arg.hide(true) };
    let arg = if row.heading.is_empty() { arg.help_heading("Options") } else { arg.help_heading(row.heading) };
    let Some(applies) = row.applies(commands) else { return arg };
    let text = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    // Without a break before the name of an option, no line begins like the entry of another option.
    let applies = applies.replace(" --", "\u{a0}--");
    arg.long_help(format!("{text}\n\n[{applies}]"))
}

impl OptionRow {
    /// What the option applies to in some subcommands, if not to everything.
    pub(super) fn applies(&self, commands: Commands) -> Option<String> {
        let mut told: Vec<(Inputs, String)> = Vec::new();
        for one in self.uses.iter().filter(|one| one.commands.has(commands)) {
            let rest = one.rest();
            match told.iter_mut().find(|(_, known)| *known == rest) {
                Some((inputs, _)) => *inputs = inputs.and(one.inputs),
                None => told.push((one.inputs, rest)),
            }
        }
        let parts = told.into_iter().map(|(inputs, rest)| {
            let inputs = inputs.told();
            let comma = if inputs.is_empty() || rest.is_empty() { "" } else { ", " };
            inputs + comma + &rest
        });
        let held = self.held.iter().filter_map(|(inputs, outputs, _)| {
            let inputs = listed(&inputs.names());
            match outputs {
                Outputs::Of(_) | Outputs::Not(_) if !commands.has(Commands::FLATTEN) => None,
                Outputs::Of(names) => Some(format!("changes nothing for {inputs} with --to {}", listed(names))),
                Outputs::Any | Outputs::Not(_) => Some(format!("changes nothing for {inputs}")),
            }
        });
        let parts: Vec<String> = parts.chain(held).collect();
        parts.iter().all(|part| !part.is_empty()).then(|| parts.join("; "))
    }
}

impl Inputs {
    fn told(self) -> String {
        let names = self.names();
        if names.len() == NOTATIONS.len() { String::new() } else { format!("for {}", listed(&names)) }
    }
}

impl Use {
    /// What it needs besides an input in one of its notations.
    fn rest(&self) -> String {
        let outputs = match self.outputs {
            Outputs::Any => String::new(),
            Outputs::Of(names) => format!("--to {}", listed(names)),
            Outputs::Not(names) => format!("not --to {}", listed(names)),
        };
        let with: Vec<String> = self.with.iter().map(|other| format!("--{other}")).collect();
        let with = if with.is_empty() { String::new() } else { format!("with {}", listed(&with)) };
        let comma = if outputs.is_empty() || with.is_empty() { "" } else { ", " };
        outputs + comma + &with
    }
}

/// The output notations of a subcommand, or the forms of its answer.
pub(super) fn forms(command: Commands) -> Vec<String> {
    match command {
        Commands::FLATTEN => names::<To>(),
        Commands::RUN => names::<RunTo>(),
        Commands::EXPR | Commands::FUSE => names::<ExprTo>(),
        Commands::LAYOUT | Commands::LISTING => names::<LayoutTo>(),
        _ => Vec::new(),
    }
}

fn names<T: ValueEnum>() -> Vec<String> {
    T::value_variants().iter().map(name).collect()
}

/// The name of a value of an option.
pub(crate) fn name<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
