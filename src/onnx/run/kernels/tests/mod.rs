//! Tests of kernels: nodes in text, with their operands.

mod arrangement;
mod casts;
mod classical;
mod control;
mod edges;
mod elementwise;
mod indices;
mod layers;
mod matrices;
mod reductions;
mod refusals;
mod sequences;
mod spatial;
mod texts;
mod trial;
