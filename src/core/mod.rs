//! The core: what every notation shares.
//!
//! A notation compiles its text to *units* ([`unit`], [`program`]): a signature, and a body of
//! instructions for a stack machine. The [`machine`] runs them and adds operations to a graph. Bodies
//! are compiled when they are called first: the machine asks for a body that is missing
//! ([`Machine::run`](machine::Machine::run)). The core knows no notation.

pub(crate) mod arithmetic;
pub(crate) mod budget;
mod builtins;
mod calls;
mod constant;
mod emit;
mod frame;
mod implied;
mod inference;
mod instructions;
mod iteration;
pub(crate) mod list;
mod looping;
pub(crate) mod machine;
pub(crate) mod program;
mod run;
mod scan;
mod shapes;
mod sites;
mod slots;
mod symbolic;
mod tail_call;
pub(crate) mod unit;
pub(crate) mod value;
