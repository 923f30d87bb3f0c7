//! The command with what the table of options says: headings, and what a subcommand does not have. What options apply
//! to is in `docs/options.md` and in the refusals: beside each option it would be longer than the help itself.

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command, CommandFactory, ValueEnum};

use super::lookup::row;
use super::sets::Commands;
use crate::cli::args::{Cli, ExprTo, LayoutTo, RunTo, To};

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
