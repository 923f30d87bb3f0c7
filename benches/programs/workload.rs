//! Writes the document of a workload: `workload KIND N [FILE]`; `workload` alone lists the kinds.
//!
//! With a file, describes the document in one line on standard output: the expected number of operations
//! (`refused` if the document has to be refused), its size, and whether it declares fragments.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::Write;
use std::process::ExitCode;

use nnef_flatten_benches as workloads;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (kind, size, file) = match *arguments.as_slice() {
        [] => {
            for workload in workloads::ALL {
                println!("{}\t{:?}\t{}", workload.name, workload.family, workload.what);
            }
            return Ok(());
        }
        [kind, size] => (kind, size, None),
        [kind, size, file] => (kind, size, Some(file)),
        _ => return Err("usage: workload [KIND N [FILE]]".to_string()),
    };
    let workload = workloads::find(kind).ok_or_else(|| format!("no workload is called {kind}"))?;
    let document = (workload.make)(parsed(size)?);
    match file {
        None => std::io::stdout().write_all(document.text.as_bytes()),
        Some(file) => {
            let operations = document.operations.map_or("refused".to_string(), |n| n.to_string());
            println!("{operations} {} {}", document.size, document.text.contains("\nfragment "));
            std::fs::write(file, document.text)
        }
    }
    .map_err(|error| error.to_string())
}

/// Reads a size such as 1e6.
fn parsed(size: &str) -> Result<usize, String> {
    size.parse::<f64>().map(|size| size as usize).map_err(|_| format!("not a size: {size}"))
}
