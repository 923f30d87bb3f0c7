//! Measures what is done with the meaning of an ONNX model in protobuf: `onnx_passes FILE REPETITIONS [PASS]`.
//!
//! Without a PASS, all are measured. Prints a line of `name=value` for each repetition: CPU seconds of `infer` (the types and shapes of all values are
//! inferred and written into the model), `fold` (expansion and folding) and `lower` (the expansion of standard operators with a
//! body). A pass that the model refuses has no value.
#![allow(clippy::print_stdout)]

mod clock;

use std::error::Error;
use std::time::Duration;

use nnef_flatten::eval::Limits;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;
use nnef_flatten::{Lower, Options};

use clock::ProcessTime;

/// A pass over a document; whether the document is accepted.
type Pass = fn(&mut Document, &Options) -> bool;

const PASSES: &[(&str, Pass)] = &[
    ("infer", |document, options| {
        document.annotate(options);
        true
    }),
    ("fold", |document, options| document.fold(options, Limits::default()).is_ok()),
    ("lower", |document, options| {
        let all = options.clone().with(|options| options.lower = Lower::All);
        document.flatten(&all).is_ok()
    }),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, repetitions, wanted) = match arguments.as_slice() {
        [file, repetitions] => (file, repetitions, None),
        [file, repetitions, pass] => (file, repetitions, Some(pass)),
        _ => return Err("usage: onnx_passes FILE REPETITIONS [PASS]".into()),
    };
    let bytes = std::fs::read(file)?;
    warm_up();
    let reading = between_readings();
    for _ in 0..repetitions.parse::<usize>()? {
        let options = Options::default();
        let mut line = Vec::new();
        for (name, pass) in PASSES.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name)) {
            let (document, found) = Document::decode(file, bytes.clone(), &mut Sources::new(), &options);
            let mut document = document.ok_or_else(|| found.to_string())?;
            let time = ProcessTime::now();
            let accepted = pass(&mut document, &options);
            let seconds = time.elapsed().saturating_sub(reading).as_secs_f64();
            if accepted {
                line.push(format!("{name}={seconds:.7}"));
            }
        }
        println!("{}", line.join(" "));
    }
    Ok(())
}

/// Runs the passes on a small model, so that tables that a process reads once do not count.
fn warm_up() {
    let text = r#"<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Gelu (x) }"#;
    let options = Options::default();
    for (_, pass) in PASSES {
        let (document, _) = Document::parse("small", text, &mut Sources::new(), &options);
        std::hint::black_box(document.is_some_and(|mut document| pass(&mut document, &options)));
    }
}

/// The CPU time of reading the clock twice, which is comparable with that of a pass over a small model.
fn between_readings() -> Duration {
    (0..100).map(|_| ProcessTime::now().elapsed()).min().unwrap_or_default()
}
