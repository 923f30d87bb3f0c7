//! Reading and expanding any text ends with a graph or diagnostics, without a panic.
//!
//! `NNEF_FLATTEN_EXHAUSTIVE=1` runs the full counts, meant for `--release`.
#![allow(clippy::panic, clippy::print_stdout)] // Helpers of tests, which clippy takes for more.

use crate::common;
#[cfg(all(target_os = "linux", feature = "cli"))]
use crate::common::command;
use crate::common::{Random, RealDocument, conformance, models, run};
use nnef_flatten::{Lower, Options, expand, parse};

fn exhaustive() -> bool {
    std::env::var_os("NNEF_FLATTEN_EXHAUSTIVE").is_some_and(|value| value == "1")
}

/// Reads and expands a text, even after syntax errors; a panic fails the test.
fn survives(text: &str, draft: bool) {
    let dialect = draft.then_some(nnef_flatten::Dialect::Draft);
    let options = Options::default().with(|o| {
        o.dialect = dialect;
        o.lower = Lower::All;
        o.max_ops = 20_000;
        o.max_depth = 2_000;
    });
    let parsed = parse("holes", text.to_string(), &options);
    if parsed.diagnostics.has_errors() {
        let _ = expand(&parsed.document, &options);
    }
    if let Err(diagnostics) = run(text, &options) {
        assert!(diagnostics.iter().any(nnef_flatten::Diagnostic::is_error), "refused without a reason:\n{text}");
    }
}

/// Models in the order of their sizes, and how many of them a run uses: mutants of large ones take long
/// and find the same defects as those of small ones.
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

/// Bytes with a meaning for the lexer are more frequent than others.
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
    for i in 0..total {
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

/// A document in a file, and the temporary folder of the file.
#[cfg(all(target_os = "linux", feature = "cli"))]
fn written(text: &str) -> std::io::Result<(tempfile::TempDir, std::path::PathBuf)> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("graph.nnef");
    std::fs::write(&source, text)?;
    Ok((folder, source))
}

/// A command that cannot start threads or processes. The limit does not hold for the superuser, who
/// runs the command as another user.
#[cfg(all(target_os = "linux", feature = "cli"))]
fn without_threads(folder: &std::path::Path) -> Option<std::process::Command> {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.join("nnef-flatten");
    std::fs::copy(command::program(), &program).ok()?;
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).ok()?;
    let limited = "ulimit -u 1; exec \"$0\" \"$@\"";
    let id = std::process::Command::new("id").arg("-u").output().ok()?.stdout;
    let mut command = if id.trim_ascii() == b"0" {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid=65533", "--regid=65533", "--clear-groups", "bash"]);
        command
    } else {
        std::process::Command::new("bash")
    };
    command.args(["-c", limited]).arg(program);
    Some(command)
}

#[test]
#[cfg(all(target_os = "linux", feature = "cli"))]
fn a_large_graph_is_written_where_no_threads_are_to_be_had() {
    let mut text = String::from("version 1.0;\nextension KHR_enable_fragment_definitions;\n");
    text.push_str("fragment f0(x: tensor<scalar>) -> (y: tensor<scalar>) { y = tanh(x); }\n");
    for i in 1..17 {
        let last = i - 1;
        text.push_str(&format!(
            "fragment f{i}(x: tensor<scalar>) -> (y: tensor<scalar>) {{ t = f{last}(x); y = f{last}(t); }}\n"
        ));
    }
    text.push_str("graph g(x) -> (y) { x = external<scalar>(shape = [1]); y = f16(x); }\n");
    let (folder, source) = written(&text).unwrap();
    let run_with = |argument: &std::ffi::OsStr| without_threads(folder.path())?.arg(argument).output().ok();
    // Small results are written without threads: if even this fails, the command cannot be run as another
    // user here.
    if !run_with("--version".as_ref()).is_some_and(|output| output.status.success()) {
        common::left_out("there is nothing to set limits with");
        return;
    }
    let output = run_with(source.as_os_str()).unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    let expected = common::flat_text(&run(&text, &Options::default()).unwrap().graph);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), expected.lines().count());
}

#[test]
#[cfg(all(target_os = "linux", feature = "cli"))]
fn a_process_that_may_have_few_addresses_needs_no_more_than_it_uses() {
    let mut text = String::from("version 1.0;\nextension KHR_enable_fragment_definitions;\n");
    text.push_str("fragment f(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    t0 = tanh(x);\n");
    for i in 1..100_000 {
        text.push_str(&format!("    t{i} = tanh(t{});\n", i - 1));
    }
    text.push_str("    y = tanh(t99999);\n}\n");
    text.push_str("graph g(x) -> (y) { x = external<scalar>(shape = [1]); y = f(x); }\n");
    let (_folder, source) = written(&text).unwrap();
    let output = command::fast::call(["-q"]).args([&source]).limited(&["-v 100000"]).run();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains("tanh(")).count(), 100_001);
}
