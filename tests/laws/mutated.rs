//! Law 3 for documents that nobody would write: what is accepted and flattened is accepted again, and
//! stays as it is.

use nnef_flatten::{Lower, Options};
use proptest::prelude::*;

use crate::common::{error_codes, flat_text, run};
use crate::documents::document;
use crate::tape::{Tape, cases, generated};

/// The words of a text and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    text.as_bytes()
        .chunk_by(|a, b| is_word(*a) && is_word(*b))
        .scan(0, |at, piece| {
            *at += piece.len();
            text.get(*at - piece.len()..*at)
        })
        .collect()
}

/// A generated document with some lines taken out or written twice, and some words replaced by
/// others of its words.
fn mutated(tape: &mut Tape) -> String {
    let (edits, renames) = (tape.below(4), tape.below(4));
    let choices: Vec<u16> = (0..2 * (edits + renames)).map(|_| tape.below(1 << 15) as u16).collect();
    let mut text = document(tape).text;
    for edit in choices[..2 * edits].chunks_exact(2) {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = usize::from(edit[0]) % lines.len();
        match edit[1] % 3 {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at]),
            _ => {
                let other = usize::from(edit[1]) % lines.len();
                lines.swap(at, other);
            }
        }
        text = lines.join("\n");
    }
    for rename in choices[2 * edits..].chunks_exact(2) {
        let mut pieces = pieces(&text);
        let is_name = |piece: &str| piece.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        let words: Vec<usize> = (0..pieces.len()).filter(|at| is_name(pieces[*at])).collect();
        let [to, from] = [0, 1].map(|i| words[usize::from(rename[i]) % words.len()]);
        pieces[to] = pieces[from];
        text = pieces.concat();
    }
    text
}

/// All combinations of the options that decide what a flat graph has.
fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for lower in [Lower::Custom, Lower::All, Lower::None] {
        for bits in 0..8 {
            all.push(Options::default().with(|o| {
                o.lower = lower.clone();
                (o.keep_unused, o.strict, o.unroll) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
            }));
        }
    }
    all
}

/// Checks that the flat text is accepted with the same options and does not change.
fn again(text: &str, options: &Options) -> Result<(), String> {
    let Ok(first) = run(text, options) else { return Ok(()) };
    let first = flat_text(&first.graph);
    match run(&first, options) {
        Ok(second) if flat_text(&second.graph) == first => Ok(()),
        Ok(second) => Err(format!("once\n{first}\ntwice\n{}\nof\n{text}", flat_text(&second.graph))),
        Err(found) => Err(format!("{:?} in\n{first}\nof\n{text}", error_codes(&found))),
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn what_is_accepted_is_accepted_again(text in generated(170, mutated)) {
        for options in all_options() {
            again(&text, &options).map_err(TestCaseError::fail)?;
        }
    }
}

/// Flat text cannot tell a tensor from an operation of the same name that nobody declares.
#[test]
fn a_tensor_with_the_name_of_an_operation_is_refused() {
    let text = format!(
        "{}fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = foo(x); }}
         graph G( x ) -> ( y, foo ) {{ x = external(shape = [1]); foo = relu(x); y = f(x); }}",
        crate::common::HEADER
    );
    let found = run(&text, &Options::default()).expect_err("refused");
    assert_eq!(error_codes(&found), ["E0411"]);
    // A call that stays has its own name.
    let kept = Options::default().with(|o| o.lower = Lower::None);
    assert!(run(&text, &kept).is_ok());
    again(&text, &kept).expect("the same again");
}

/// Of two tensors with the name of an input one is the input.
#[test]
fn an_input_is_made_once() {
    let text = |statement: &str| {
        format!(
            "version 1.0;\ngraph G( x ) -> ( y ) {{ x = external(shape = [1]); {statement}
             x = external(shape = [1]); y = copy(x); }}"
        )
    };
    let all = Options::default().with(|o| o.keep_unused = true);
    assert!(run(&text(""), &Options::default()).is_ok());
    assert_eq!(error_codes(&run(&text(""), &all).expect_err("refused")), ["E0604"]);
    assert_eq!(error_codes(&run(&text("a = relu(x);"), &all).expect_err("refused")), ["E0604"]);
}
