//! What sources, documentation and benchmarks of the repository keep.

mod api;
mod architecture;
#[path = "../common/mod.rs"]
mod common;
mod crates;
mod docs;
mod loops;
mod pages;
mod patches;
mod steps;
mod workloads;
