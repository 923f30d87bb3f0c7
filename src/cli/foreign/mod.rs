//! Words of other programs: a table with what does their work here, which the command tells, and
//! `docs/from-other-tools.md` lists.

#[cfg(test)]
mod document;
mod foreign_table;
mod lookup;
mod meant;

pub(super) use meant::{behind_input, instead_of, instead_of_option, option_like};
