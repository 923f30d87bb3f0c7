//! The core: the stack machine that expands calls into operations of a graph.
//!
//! A notation compiles its text to *units* ([`unit`], [`program`]): a signature and, for fragments, a body of
//! instructions. The [`machine`] runs the bodies and adds operations to a graph. A body is compiled when it is
//! first called: the machine requests a missing body from its caller ([`Machine::run`](machine::Machine::run)).
//! The core does not depend on any notation.

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
mod known;
pub(crate) mod list;
mod looping;
pub(crate) mod machine;
pub(crate) mod program;
pub(crate) mod repetition;
mod run;
mod shapes;
mod sites;
mod slots;
mod symbolic;
mod tail_call;
pub(crate) mod unit;
pub(crate) mod value;
pub(crate) mod wanted;
