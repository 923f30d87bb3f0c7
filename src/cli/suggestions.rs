//! What a first word that is neither an input nor a subcommand probably means.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::diagnostics::{suggest, visible};
use crate::files;

use super::options;

/// Words that other programs have for what this one does; flattening has no subcommand.
const MEANT: &[(&str, &str)] = &[
    ("flatten", FLATTENING),
    ("convert", FLATTENING),
    ("optimize", FLATTENING),
    ("simplify", FLATTENING),
    ("expand", FLATTENING),
    ("inline", FLATTENING),
    ("lint", "did you mean the subcommand `check`?"),
    ("validate", "did you mean the subcommand `check`?"),
    ("verify", "did you mean the subcommand `check`, or the option --verify?"),
    ("eval", "did you mean the subcommand `run`?"),
    ("evaluate", "did you mean the subcommand `run`?"),
    ("execute", "did you mean the subcommand `run`?"),
    ("infer", "did you mean the subcommand `run`?"),
    ("format", "did you mean the subcommand `fmt`?"),
    ("fuse", "did you mean `expr --fuse`?"),
    ("stats", STATS),
    ("inspect", STATS),
    ("info", STATS),
    ("summary", STATS),
    ("version", "did you mean --version?"),
    ("usage", "did you mean --help?"),
];

const STATS: &str = "did you mean the option --stats?";

/// Options of other programs (onnxsim, onnxslim, polygraphy, the converters of NNEF), and those of this one that do it.
const OPTIONS: &[(&str, &str)] = &[
    ("--overwrite-input-shape", SHAPE),
    ("--override-input-shape", SHAPE),
    ("--override-input-shapes", SHAPE),
    ("--override-inputs", SHAPE),
    ("--input-shapes", SHAPE),
    ("--model-input-shapes", SHAPE),
    ("--dynamic-input-shape", "extents that stay open need no option; --set gives a symbol a number"),
    ("--test-input-shape", VERIFIED),
    ("--check-n", VERIFIED),
    ("--model-check", VERIFIED),
    ("--validate", VERIFIED),
    ("--input-data-path", "--inputs FILE, with --verify or the subcommand `run`"),
    ("--fold-constants", "--fold"),
    ("--constant-folding", "--fold"),
    ("--cleanup", "what no output needs is removed without an option"),
    ("--optimize", "--fold and --share"),
    ("--no-constant-folding", "constants are folded with --fold only"),
    ("--skip-constant-folding", "constants are folded with --fold only"),
    ("--no-shape-infer", "shapes are written with --annotate only"),
    ("--skip-shape-inference", "shapes are written with --annotate only"),
    ("--infer-shapes", "--annotate"),
    ("--shape-inference", "--annotate"),
    ("--unused-output", "--outputs NAME,… names the outputs that stay"),
    ("--onnx-outputs", "--outputs NAME,…"),
    ("--output-names", "--outputs NAME,…"),
    ("--input-names", "--inputs-at NAME,…"),
    ("--input-format", "--from NOTATION"),
    ("--output-format", "--to NOTATION"),
    ("--inspect", "--stats"),
    ("--model", "the input is given without an option"),
    ("--input", "the input is given without an option"),
    ("--input-model", "the input is given without an option"),
];

const SHAPE: &str = "--input-shape NAME=1,3,224,224";
const VERIFIED: &str = "--verify compares the result with its source";

/// What does the work of an option of another program.
pub(super) fn instead_of_option(word: &str) -> Option<&'static str> {
    let name = word.split('=').next().unwrap_or_default().replace('_', "-");
    OPTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name)).map(|(_, what)| *what)
}

const FLATTENING: &str = "flattening has no subcommand: nnef-flatten INPUT -o OUTPUT";

/// The most files of a folder that are compared.
const MAX_FILES: usize = 1000;

/// What to do instead of naming a path that does not exist; none if nothing is similar.
pub(super) fn instead_of(path: &Path) -> Option<String> {
    let word = path.to_string_lossy();
    // Names with an extension or a folder are files.
    if word.contains(['.', '/', '\\']) {
        return file_like(path);
    }
    let meant = MEANT.iter().find(|(known, _)| known.eq_ignore_ascii_case(&word));
    meant.map(|(_, what)| (*what).to_owned()).or_else(|| subcommand_like(&word)).or_else(|| file_like(path))
}

/// The subcommands that a word may misspell: all of them that are equally similar.
fn subcommand_like(word: &str) -> Option<String> {
    let command = options::command();
    let names = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(clap::Command::get_name);
    let names: Vec<&str> = names.chain(["help"]).collect();
    let similar = suggest::all_nearest(word, names.iter().copied());
    let similar: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
    (!similar.is_empty()).then(|| format!("did you mean the subcommand {}?", options::listed(&similar)))
}

/// The file of the same folder that a path may misspell, or that it names without an extension.
fn file_like(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let entries = fs::read_dir(files::parent(path)).ok()?.take(MAX_FILES).filter_map(Result::ok);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let without = names.iter().find(|name| Path::new(name).file_stem().is_some_and(|stem| stem == wanted));
    // An extension that both have does not make them similar.
    let stem = |name: &str| Path::new(name).file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
    let is_like = |name: &&str| {
        Path::new(name).extension() != Path::new(wanted).extension()
            || suggest::nearest(&stem(wanted), [&*stem(name)]).is_some()
    };
    let known = || names.iter().map(String::as_str).filter(is_like);
    let similar = without.map(String::as_str).or_else(|| suggest::nearest(wanted, known()));
    similar.map(|name| format!("did you mean `{}`?", visible::clean(&path.with_file_name(name).display().to_string())))
}
