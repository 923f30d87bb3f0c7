//! `nnef-flatten layout`: shapes of XLA, and where their elements are in memory.

mod command;
mod drawing;
mod dump;
mod json;
mod listing;
mod questions;

pub(crate) use command::run;
