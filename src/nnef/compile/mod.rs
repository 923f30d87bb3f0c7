//! Compiles checked bodies to the instructions of the core.

mod calls;
mod compiler;
mod constants;
pub(crate) mod demand;
pub(crate) mod entry;
mod expressions;
mod loops;
pub(crate) mod lowering;
pub(crate) mod units;

pub(crate) use compiler::{Compiler, Mode, Scratch};
