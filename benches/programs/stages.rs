//! Measures the stages of the library on a document: `stages FILE SECONDS REPETITIONS`.
//!
//! Prints a line of `name=value` for each repetition, up to the given number of repetitions or seconds: CPU
//! seconds of `read` (text to syntax tree), `check`, `expand` (which includes another check) and `write`;
//! the operations of the graph; the bytes written; and in KiB the memory at the start and the peak after each
//! stage. For a refused document, prints a line `refused` and exits with status 1.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod clock;

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;

use nnef_flatten::{Lower, Options, check, expand, parse};

use clock::ProcessTime;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, seconds, repetitions] = arguments.as_slice() else {
        return Err("usage: stages FILE SECONDS REPETITIONS".into());
    };
    let text = std::fs::read_to_string(file)?;
    let (seconds, repetitions): (f64, usize) = (seconds.parse()?, repetitions.parse()?);
    let start = ProcessTime::now();
    for _ in 0..repetitions {
        match measure(&text)? {
            Some(line) => println!("{line}"),
            None => {
                println!("refused time={:.9} peak={}", start.elapsed().as_secs_f64(), peak());
                return Ok(ExitCode::FAILURE);
            }
        }
        if start.elapsed().as_secs_f64() > seconds {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures one repetition; returns `None` if the document is refused.
fn measure(text: &str) -> Result<Option<String>, Box<dyn Error>> {
    let options = Options::default().with(|o| o.lower = Lower::All);
    let text = text.to_string();
    let start_memory = peak();
    let time = ProcessTime::now();
    let parsed = parse("workload.nnef", text, &options);
    let (read, read_memory) = (time.elapsed().as_secs_f64(), peak());
    if parsed.diagnostics.has_errors() {
        return Ok(None);
    }
    // Expanded before the separate check, so that the memory of the check is not included.
    let time = ProcessTime::now();
    let Ok(expansion) = expand(&parsed.document, &options) else { return Ok(None) };
    let (expanded, expand_memory) = (time.elapsed().as_secs_f64(), peak());
    let mut written = Vec::new();
    let time = ProcessTime::now();
    expansion.graph.write_nnef(&mut written)?;
    let (write, write_memory) = (time.elapsed().as_secs_f64(), peak());
    let time = ProcessTime::now();
    black_box(check(&parsed.document, &options));
    let checked = time.elapsed().as_secs_f64();
    Ok(Some(format!(
        "read={read:.9} check={checked:.9} expand={expanded:.9} write={write:.9} operations={} bytes={} \
         start={start_memory} after_read={read_memory} after_expand={expand_memory} after_write={write_memory}",
        expansion.graph.operations().len(),
        written.len(),
    )))
}

/// The peak memory of the process in KiB; 0 where the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
