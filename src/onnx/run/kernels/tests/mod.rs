//! Tests of kernels: nodes in text, with their operands.

mod classical;
mod layers;
mod refusals;
mod spatial;
mod texts;
mod trial;
