//! What a call of the command costs before and beside the work on its input: arguments, standard libraries, tables.
//!
//! The counts are those of the program of the profile `fast`, as they were reached (that of `release` takes fewer), and 40
//! thousand that differ between processors, for which the C library has other functions; a change that needs more says why.
//! `cargo test --test growth start -- --ignored`.

use super::{common::left_out, instructions};

/// The arguments of a call, and its instructions in thousands.
const CALLS: &[(&[&str], u64)] = &[
    (&["--version"], 1_830),
    (&["examples/repeat.nnef"], 3_705),
    (&["examples/transformer.nnef"], 5_880),
    (&["check", "tests/networks/cnn/graph.nnef"], 5_460),
    (&["examples/onnx/heads.onnxtxt"], 3_930),
];

/// How many percent more a call may take: other versions of libraries and of the compiler count, too.
const MORE: u64 = 3;

#[test]
#[ignore = "takes seconds and needs valgrind: cargo test --test growth start -- --ignored"]
fn calls_take_no_more_instructions_than_they_did() {
    let mut told = Vec::new();
    for (arguments, limit) in CALLS {
        let Some(count) = instructions(arguments.iter().map(Into::into), arguments.last().unwrap(), None) else {
            return left_out("valgrind is not installed");
        };
        let count = count / 1000;
        println!("{count:5} of {limit} thousand: {}", arguments.join(" "));
        // A call that ends early takes far fewer.
        if count > limit + limit * MORE / 100 || count < limit / 2 {
            told.push(format!("{}: {count} thousand instead of {limit}", arguments.join(" ")));
        }
    }
    assert!(told.is_empty(), "{told:?}");
}
