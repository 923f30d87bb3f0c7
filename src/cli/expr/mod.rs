//! `nnef-flatten expr`: expressions of PNNX.

mod asked;
mod command;
mod fuse;
mod json;
mod listing;
mod told;

pub(crate) use command::run;
