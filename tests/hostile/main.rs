//! Inputs that are deep, large, broken or made to take time and memory.

#[cfg(all(target_os = "linux", feature = "cli"))]
mod adversarial;
#[path = "../common/mod.rs"]
mod common;
mod depth;
mod limits;
#[cfg(all(target_os = "linux", feature = "cli"))]
mod memory;
mod robustness;
