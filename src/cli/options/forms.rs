//! The names of what subcommands write.

use clap::ValueEnum;

use super::sets::Commands;
use crate::cli::args::{ExprTo, LayoutTo, RunTo, To};

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
