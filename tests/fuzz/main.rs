//! The inputs that earlier runs of the fuzz targets kept, and their seeds: each target runs on its own, as libFuzzer runs it.
//! They have a process of their own, since its memory is measured.
#![cfg(feature = "cli")]
#![allow(dead_code)] // The targets use parts of the laws.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../laws/documents.rs"]
mod documents;
#[path = "../../fuzz/src/models.rs"]
mod models;
#[path = "../laws/mutants.rs"]
mod mutants;
#[path = "../../fuzz/src/shared.rs"]
mod shared;
#[path = "../laws/choices.rs"]
mod tape;
#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::io::Read;
use std::panic::catch_unwind;
use std::path::Path;

use common::archives;

/// The inputs of a target with their names: its seeds, and those that are kept.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let seeds = fs::read_dir(folder.join("seeds").join(target)).into_iter().flatten();
    let paths = seeds.map(|entry| entry.expect("an entry of the folder").path());
    let mut inputs: Vec<_> =
        paths.map(|path| (path.display().to_string(), fs::read(&path).expect("a seed is read"))).collect();
    if let Ok(file) = fs::File::open(folder.join("kept").join(format!("{target}.tar"))) {
        for entry in tar::Archive::new(file).entries().expect("an archive") {
            let mut entry = entry.expect("an entry of the archive");
            let name = entry.path().expect("a name").display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("an entry is read");
            inputs.push((name, bytes));
        }
    }
    inputs
}

#[test]
fn targets_accept_their_seeds_and_kept_inputs() {
    for (target, run) in targets::TARGETS {
        let inputs = inputs(target);
        assert!(!inputs.is_empty(), "{target} has no inputs");
        for (name, bytes) in inputs {
            let outcome = catch_unwind(|| shared::bounded(|| run(&bytes)));
            assert!(outcome.is_ok(), "the input {name} of the target {target} is a finding");
        }
    }
}
