//! What a call of the command costs before and beside the work on its input: arguments, standard libraries, tables.
//!
//! The counts are those of the program of the profile `fast`, as they were reached; a change that needs more says why.
//! `cargo test --test growth start -- --ignored`.

use super::{common::left_out, instructions};

/// The arguments of a call, and its instructions in millions.
const CALLS: &[(&[&str], f64)] = &[
    (&["--version"], 1.36),
    (&["examples/repeat.nnef"], 3.12),
    (&["examples/transformer.nnef"], 3.5),
    (&["check", "tests/networks/cnn/graph.nnef"], 3.5),
    (&["examples/onnx/heads.onnxtxt"], 3.5),
];

/// How much more a call may take: other versions of libraries and of the compiler count, too.
const MORE: f64 = 1.03;

#[test]
#[ignore = "takes seconds and needs valgrind: cargo test --test growth start -- --ignored"]
fn calls_take_no_more_instructions_than_they_did() {
    let mut told = Vec::new();
    for (arguments, limit) in CALLS {
        let Some(count) = instructions(arguments.iter().map(Into::into)) else {
            return left_out("valgrind is not installed");
        };
        let millions = count as f64 / 1e6;
        println!("{:5.2} of {limit} million: {}", millions, arguments.join(" "));
        if millions > limit * MORE {
            told.push(format!("{}: {millions:.2} million instead of {limit}", arguments.join(" ")));
        }
    }
    assert!(told.is_empty(), "{told:?}");
}
