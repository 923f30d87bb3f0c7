//! Measures the stages of the library on an ONNX model: `onnx_stages FILE REPETITIONS`.
//!
//! A file with the extension `.onnxtxt` is a text, any other file is protobuf. Prints a line of `name=value` for each
//! repetition: CPU seconds of `read` (text or bytes to the model), `inline` and `write` (to protobuf), and the
//! `bytes` of the flat model that were written. For a refused model, exits with status 1.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod clock;

use std::error::Error;
use std::process::ExitCode;

use nnef_flatten::Options;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;

use clock::ProcessTime;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, repetitions] = arguments.as_slice() else {
        return Err("usage: onnx_stages FILE REPETITIONS".into());
    };
    let bytes = std::fs::read(file)?;
    for _ in 0..repetitions.parse::<usize>()? {
        let options = Options::default();
        let (content, mut sources) = (bytes.clone(), Sources::new());
        let time = ProcessTime::now();
        let (document, found) = match file.ends_with(".onnxtxt") {
            true => Document::parse(file, String::from_utf8(content)?, &mut sources, &options),
            false => Document::decode(file, content, &mut sources, &options),
        };
        let read = time.elapsed().as_secs_f64();
        let Some(mut document) = document else {
            eprintln!("{found}");
            return Ok(ExitCode::FAILURE);
        };
        let time = ProcessTime::now();
        document.flatten(&options)?;
        let inlined = time.elapsed().as_secs_f64();
        let time = ProcessTime::now();
        let written = document.to_protobuf();
        let write = time.elapsed().as_secs_f64();
        println!("read={read:.6} inline={inlined:.6} write={write:.6} bytes={}", written.len());
    }
    Ok(ExitCode::SUCCESS)
}
