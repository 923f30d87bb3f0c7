//! Networks with loops: TensorRT's boundary layers, their rules, their evaluation and unrolling.
//!
//! A [`Network`] is read from JSON ([`Network::read`]). [`Network::check`] checks the rules,
//! [`Network::evaluate`] implements the formal semantics of lazy sequences, and [`Network::unroll`] creates a
//! flat graph by partial evaluation of the same sequences. `docs/loops.md` defines the semantics.

mod collect;
mod emit;
mod infer;
mod lower;
mod machine;
mod network;
mod ops;
mod order;
mod plan;
mod read;
mod rules;
mod run;
mod scope;
mod site;
mod symbols;
#[cfg(test)]
mod tests;
mod unroll;
mod window;

pub use network::Network;
pub use run::Evaluation;
