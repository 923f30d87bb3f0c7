//! The options of the command as one table: what each of them is for, and what it applies to.
//!
//! `option_table.rs` has a row for each option of each subcommand. From the rows come the refusals of options that
//! would have no effect, the headings of `--help`, and `docs/options.md`.

#[cfg(test)]
mod applies;
mod asked;
#[cfg(test)]
mod document;
mod forms;
mod help;
mod listed;
mod lookup;
mod option_table;
mod row;
mod sets;

pub(crate) use asked::Asked;
pub(crate) use forms::name;
pub(crate) use help::{command, whole_command};
pub(crate) use listed::listed;
pub(crate) use lookup::{has, tabled};
pub(crate) use sets::Commands;
