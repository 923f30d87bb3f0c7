//! Whatever the text, reading and expanding it ends without a panic: with a graph or diagnostics.
//!
//! `NNEF_FLATTEN_EXHAUSTIVE=1` runs the full counts, meant for `--release`.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

mod common;

use common::{Random, RealDocument, conformance, models, run};
use nnef_flatten::{Lower, Options, expand, parse};

fn exhaustive() -> bool {
    std::env::var_os("NNEF_FLATTEN_EXHAUSTIVE").is_some_and(|value| value == "1")
}

/// Reads and expands a text, what could be read of it too; a panic fails the test.
fn survives(text: &str, draft: bool) {
    let from = if draft { nnef_flatten::From::NnefDraft } else { nnef_flatten::From::Auto };
    let options = Options { from, lower: Lower::All, max_ops: 20_000, max_depth: 2_000, ..Options::default() };
    let parsed = parse("holes", text.to_string(), &options);
    if parsed.diagnostics.has_errors() {
        let _ = expand(&parsed.document, &options);
    }
    if let Err(diagnostics) = run(text, &options) {
        assert!(diagnostics.iter().any(nnef_flatten::Diagnostic::is_error), "refused without a reason:\n{text}");
    }
}

/// Models in the order of their size, and how many of them a run takes: mutants of big ones cost
/// much and find what those of small ones find.
fn sample() -> Vec<RealDocument> {
    let mut found = models();
    found.sort_by_key(|model| model.text.len());
    let longest = if exhaustive() { usize::MAX } else { 30_000 };
    found.retain(|model| model.text.len() <= longest);
    found
}

fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn prefixes() {
    let cuts = if exhaustive() { 200 } else { 10 };
    let mut random = Random::new(1);
    for model in sample() {
        for _ in 0..cuts {
            let at = floor_char_boundary(&model.text, random.below(model.text.len() + 1));
            survives(&model.text[..at], false);
        }
    }
}

/// Bytes that mean something to the lexer come up more often than others.
fn mutated_byte(random: &mut Random) -> u8 {
    const TELLING: &[u8] = b"()[]{}<>,;:=+-*/^!&|?.'\"#\\ \n\x0c0129eEx_\xc3\xff\0";
    match random.below(4) {
        0 => random.below(256) as u8,
        _ => TELLING[random.below(TELLING.len())],
    }
}

#[test]
fn mutations() {
    let found = sample();
    let total = if exhaustive() { 10_000 } else { 1_500 };
    let mut random = Random::new(2);
    let rounds = if found.is_empty() { 0 } else { total };
    for i in 0..rounds {
        let model = &found[i % found.len()];
        let mut bytes = model.text.clone().into_bytes();
        let at = random.below(bytes.len());
        match random.below(3) {
            0 => bytes[at] = mutated_byte(&mut random),
            1 => bytes.insert(at, mutated_byte(&mut random)),
            _ => {
                bytes.remove(at);
            }
        }
        survives(&String::from_utf8_lossy(&bytes), false);
    }
}

#[test]
fn conformance_sources() {
    let mutants = if exhaustive() { 50 } else { 1 };
    let mut random = Random::new(3);
    for case in conformance() {
        let draft = case.dialect == "draft";
        survives(&case.document.text, draft);
        for _ in 0..mutants {
            let mut bytes = case.document.text.clone().into_bytes();
            let at = random.below(bytes.len());
            bytes[at] = mutated_byte(&mut random);
            survives(&String::from_utf8_lossy(&bytes), draft);
        }
    }
}
