//! What a word that is neither an option, a subcommand nor an input probably means: one of other programs, which the
//! table has with what does its work here, or a misspelt one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use crate::diagnostics::{suggest, visible};
use crate::files;
use crate::options::input_shape;

use super::foreign_table::FOREIGN;
use super::lookup::{foreign, stands_for};
use crate::cli::options;

/// A row's text in a message.
fn told(here: &str) -> String {
    if here.starts_with("not here") { here.to_owned() } else { format!("here: {here}") }
}

/// What does the work of an option of another program.
pub(in crate::cli) fn instead_of_option(word: &str) -> Option<String> {
    foreign(word).map(told)
}

/// The option of another program that an option may misspell, with what does its work.
pub(in crate::cli) fn option_like(word: &str) -> Option<String> {
    let name = word.split('=').next().unwrap_or_default();
    let options = FOREIGN.iter().flat_map(|row| row.words).copied().filter(|known| known.starts_with("--"));
    let similar = suggest::nearest(name, options)?;
    foreign(similar).map(|here| format!("like '{similar}' of other programs; {}", told(here)))
}

/// What does the work of a first word of another program, and of the word behind it; any other word that is the name
/// of an option is probably meant so.
pub(in crate::cli) fn instead_of_word(word: &str, next: Option<&str>) -> Option<String> {
    let both = next.and_then(|next| foreign(&format!("{word} {next}")));
    let own = || {
        let command = options::command();
        let known = command.get_arguments().filter(|option| !option.is_hide_set()).filter_map(clap::Arg::get_long);
        known.filter(|known| stands_for(known, word)).map(|known| format!("did you mean the option --{known}?")).next()
    };
    both.or_else(|| foreign(word)).map(told).or_else(own)
}

/// What a word behind an input probably means among all words, if it is not the name of an output: a first word or a
/// key of another program, one more shape of an input, or how often onnxsim compares.
pub(in crate::cli) fn behind_input(word: &str, words: &[OsString]) -> Option<String> {
    if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return foreign("--check-n").map(told);
    }
    let with_shapes = words.iter().any(|word| word.to_string_lossy().starts_with("--input-shape"));
    if with_shapes && matches!(input_shape(word), Ok((name, _)) if !name.is_empty()) {
        return Some(format!("repeat the option: --input-shape {}", visible::clean(word)));
    }
    if word.contains('=') { foreign(word).map(told) } else { instead_of_word(word, None) }
}

/// The most files of a folder that are compared.
const MAX_FILES: usize = 1000;

/// What to do instead of naming a path that does not exist, with the word behind it; none if nothing is similar.
pub(in crate::cli) fn instead_of(path: &Path, next: Option<&str>) -> Option<String> {
    let word = path.to_string_lossy();
    if let Some(here) = word.split_once('=').and_then(|_| foreign(&word)) {
        return Some(told(here));
    }
    // Names with an extension or a folder are files.
    if word.contains(['.', '/', '\\']) {
        return file_like(path);
    }
    instead_of_word(&word, next).or_else(|| subcommand_like(&word)).or_else(|| file_like(path))
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
