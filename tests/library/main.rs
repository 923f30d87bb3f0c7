//! The library: the language, its checks and the graphs that it gives.

mod calls;
mod clauses;
#[path = "../common/mod.rs"]
mod common;
mod diagnostics;
#[cfg(feature = "input")]
mod door;
mod draft;
mod examples;
mod fmt;
#[cfg(feature = "eval")]
mod loop_choices;
mod migration;
mod options;
#[cfg(feature = "model")]
mod scan;
#[cfg(feature = "eval")]
mod shape_parts;
mod shapes;
#[cfg(feature = "render")]
mod snapshots;
mod statements;
mod vendor;
