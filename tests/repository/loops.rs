//! What runs the trips of loops.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::Path;

use crate::common::files_of;

/// The files that step from one trip of a loop to the next, found by `grep -rlE '\btrip \+= 1|for trip in' src`: the walk
/// whose domains are the engines of ONNX and of scans in graphs of NNEF; the iteration and the repeated calls of the core,
/// which run as instructions, since calls may be nested a million deep; networks with loops, whose values are lazy.
const WALKERS: &[&str] = &["core/iteration.rs", "core/repetition.rs", "graph/trips.rs", "loops/machine.rs"];

/// The domains of the walk: engines in which a loop means numbers, types, nodes of a model, or operations of a graph.
const DOMAINS: usize = 5;

#[test]
fn one_walk_runs_the_trips_of_loops() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut walkers, mut domains) = (Vec::new(), Vec::new());
    for path in files_of(&src, "rs") {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
        let steps = |line: &str| {
            let counts = line.split("trip += 1").next().filter(|before| before.len() < line.len());
            counts.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
                || line.contains("for trip in")
        };
        if text.lines().any(steps) {
            walkers.push(name.clone());
        }
        if text.contains("impl TripDomain for ") && name != "graph/trips.rs" {
            domains.push(name);
        }
    }
    walkers.sort();
    println!("{} files step from trip to trip: {walkers:?}; {} domains: {domains:?}", walkers.len(), domains.len());
    assert_eq!(walkers, WALKERS);
    assert_eq!(domains.len(), DOMAINS, "{domains:?}");
}
