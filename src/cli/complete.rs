//! `nnef-flatten complete`: the completions of a word of a command line, for the scripts of shells.

use std::ffi::OsString;

use clap::{Arg, Command, ValueHint};

use super::outcome::{RunResult, Status};
use super::{io, options};

/// The completions of a word.
#[derive(Debug, Default, PartialEq, Eq)]
struct Candidates {
    /// Whether file names are possible, which the shell completes.
    files: bool,
    /// The words, each with its description.
    words: Vec<(String, String)>,
}

/// Writes the completions of the last word: `files` on the first line if file names are possible, else
/// `words`; then one word on each line, with its description after a tab.
pub(crate) fn run(words: &[OsString]) -> RunResult {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut root = options::command();
    root.build();
    let found = candidates(&root, &words);
    io::write_stdout(&mut |out| {
        writeln!(out, "{}", if found.files { "files" } else { "words" })?;
        found.words.iter().try_for_each(|(word, meaning)| writeln!(out, "{word}\t{meaning}"))
    })?;
    Ok(Status::Done)
}

fn candidates(root: &Command, words: &[String]) -> Candidates {
    // Bash splits words at `=`; the word after it is a value of the option before it.
    let (current, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let current = if current == "=" { "" } else { current };
    let (mut command, mut given, mut plain) = (root, 0, false);
    let mut open: Option<&Arg> = None;
    for word in before.iter().filter(|word| *word != "=") {
        if open.take().is_some() {
            continue;
        }
        if plain || !is_option(word) {
            match command.find_subcommand(word).filter(|_| given == 0 && !plain) {
                Some(subcommand) => command = subcommand,
                None => given += 1,
            }
        } else if word == "--" {
            plain = true;
        } else if !word.contains('=') {
            open = option(command, word).filter(|option| option.get_action().takes_values());
        }
    }
    if let Some(option) = open {
        return values(option, "", current);
    }
    if let Some((name, value)) = current.split_once('=').filter(|_| !plain && is_option(current)) {
        return option(command, name).map_or_else(Candidates::default, |of| values(of, &format!("{name}="), value));
    }
    if !plain && current.starts_with('-') {
        let long = |option: &Arg| Some((format!("--{}", option.get_long()?), first_line(option.get_help())));
        let options = command.get_arguments().filter(|option| !option.is_hide_set()).filter_map(long);
        return Candidates { files: false, words: beginning(options, current) };
    }
    let subcommands = command.get_subcommands().filter(|_| given == 0 && !plain).filter(|sub| !sub.is_hide_set());
    let names = subcommands.map(|sub| (sub.get_name().to_owned(), first_line(sub.get_about())));
    let mut found = Candidates { files: false, words: beginning(names, current) };
    let repeated =
        || command.get_positionals().last().filter(|last| last.get_num_args().is_some_and(|n| n.max_values() > 1));
    if let Some(positional) = command.get_positionals().nth(given).or_else(repeated) {
        let more = values(positional, "", current);
        found.files = more.files;
        found.words.extend(more.words);
    }
    found
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// The option that a word names; of several short options the last one, which may have a value.
fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    match word.strip_prefix("--") {
        Some(long) => command.get_arguments().find(|option| option.get_long() == Some(long)),
        None => {
            let letter = word.chars().next_back();
            command.get_arguments().find(|option| option.get_short().is_some() && option.get_short() == letter)
        }
    }
}

/// The values of an argument that start with the current word.
fn values(of: &Arg, prefix: &str, current: &str) -> Candidates {
    let known = of.get_possible_values();
    let words = known.iter().filter(|value| !value.is_hide_set());
    let words = words.map(|value| (value.get_name().to_owned(), first_line(value.get_help())));
    let words = beginning(words, current).into_iter().map(|(word, help)| (format!("{prefix}{word}"), help)).collect();
    let files = matches!(of.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath);
    Candidates { files, words }
}

fn beginning(words: impl Iterator<Item = (String, String)>, current: &str) -> Vec<(String, String)> {
    words.filter(|(word, _)| word.starts_with(current)).collect()
}

fn first_line(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|help| help.to_string().lines().next().unwrap_or_default().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> (bool, Vec<String>) {
        let mut root = options::command();
        root.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found = candidates(&root, &words);
        (found.files, found.words.into_iter().map(|(word, _)| word).collect())
    }

    #[test]
    fn words_are_completed_where_they_stand() {
        for (line, files, words) in [
            ("ch", true, &["check"][..]),
            ("graph.nnef --sta", false, &["--stats"]),
            ("check --str", false, &["--strict"]),
            ("--strict check --frag", false, &["--fragments"]),
            ("check --keep-u", false, &[]),
            ("-o x.json fmt --ch", false, &["--check"]),
            ("--to js", false, &["json"]),
            ("--to=js", false, &["--to=json"]),
            ("--to = js", false, &["json"]),
            ("run --to n", false, &["npz", "npy"]),
            ("check --from =", false, &["auto", "nnef", "nnef-draft", "loops", "onnx", "onnxtxt", "pnnx", "ncnn"]),
            ("completions z", false, &["zsh"]),
            ("help che", false, &["check"]),
            ("check gr", true, &[]),
            ("check one.nnef gr", true, &[]),
            ("check -- --", true, &[]),
            ("-o gr", true, &[]),
            ("-qo gr", true, &[]),
            ("a.nnef ch", false, &[]),
            ("--max-ops ", false, &[]),
            ("comple", true, &["completions"]),
        ] {
            assert_eq!(of(line), (files, words.iter().map(|word| (*word).to_owned()).collect()), "{line}");
        }
        let (files, words) = of("");
        assert!(files && words.contains(&"check".to_owned()) && !words.contains(&"complete".to_owned()), "{words:?}");
    }
}
