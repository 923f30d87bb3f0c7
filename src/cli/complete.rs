//! `nnef-flatten complete`: the completions of a word of a command line, for the scripts of shells.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::{Arg, Command, ValueHint};

use super::outcome::{RunResult, Status};
use super::{io, options};
use crate::diagnostics::Code;
use crate::library::registries;
use crate::options::LEVELS;
use crate::sink::OutputLimit;

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
    let root = options::whole_command();
    let found = candidates(&root, &words);
    io::write_stdout(OutputLimit::NONE, &mut |out| {
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
        return values(root, command, option, "", current);
    }
    if let Some((name, value)) = current.split_once('=').filter(|_| !plain && is_option(current)) {
        let values = |of| values(root, command, of, &format!("{name}="), value);
        return option(command, name).map_or_else(Candidates::default, values);
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
        let more = values(root, command, positional, "", current);
        found.files = more.files;
        found.words.extend(more.words);
    }
    found
}

/// Names with their descriptions.
type DescribedNames = Vec<(String, String)>;

/// The subcommand, or none for all of them; the argument; and the names.
type NamedRow = (&'static str, &'static str, fn(&Command) -> DescribedNames);

/// The arguments whose values are names that the parser does not list.
const NAMED: &[NamedRow] = &[
    ("explain", "code", |_| codes().chain(rules()).collect()),
    ("", "allow", |_| all_codes()),
    ("", "deny", |_| all_codes()),
    ("", "fragments", |_| registries::ALL.iter().map(|row| (row.name.to_owned(), "a registry".to_owned())).collect()),
    ("", "lower", |_| LEVELS.iter().map(|level| ((*level).to_owned(), String::new())).collect()),
    ("man", "subcommand", subcommands),
];

fn codes() -> impl Iterator<Item = (String, String)> {
    Code::ALL.iter().map(|code| (code.as_str().to_owned(), code.title().to_owned()))
}

fn all_codes() -> DescribedNames {
    std::iter::once(("all".to_owned(), "all codes".to_owned())).chain(codes()).collect()
}

/// The rules that codes enforce.
fn rules() -> impl Iterator<Item = (String, String)> {
    let rules: BTreeSet<&str> = Code::ALL.iter().filter_map(|code| code.rule()).collect();
    rules.into_iter().map(|rule| (rule.to_owned(), "a rule".to_owned()))
}

fn subcommands(root: &Command) -> DescribedNames {
    let shown = root.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    shown.map(|sub| (sub.get_name().to_owned(), first_line(sub.get_about()))).collect()
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

/// The values of an argument of a subcommand that start with the current word.
fn values(root: &Command, command: &Command, of: &Arg, prefix: &str, current: &str) -> Candidates {
    let known = of.get_possible_values();
    let words = known.iter().filter(|value| !value.is_hide_set());
    let words = words.map(|value| (value.get_name().to_owned(), first_line(value.get_help())));
    let more = NAMED
        .iter()
        .find(|(name, argument, _)| of.get_id() == argument && (name.is_empty() || *name == command.get_name()));
    let words = words.chain(more.map(|(_, _, names)| names(root)).unwrap_or_default());
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
        let root = options::whole_command();
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
            ("explain E040", false, &["E0401", "E0402", "E0403", "E0404", "E0405", "E0406", "E0407", "E0408", "E0409"]),
            ("explain E-AR", false, &["E-ARG", "E-ARITY"]),
            ("--deny a", false, &["all"]),
            ("check --allow=E0412", false, &["--allow=E0412"]),
            ("--fragments tract_c", true, &["tract_core"]),
            ("--lower c", false, &["custom"]),
            ("man f", false, &["fmt"]),
            ("--message-format s", false, &["short", "sarif"]),
            ("comple", true, &["completions"]),
        ] {
            assert_eq!(of(line), (files, words.iter().map(|word| (*word).to_owned()).collect()), "{line}");
        }
        let (files, words) = of("");
        assert!(files && words.contains(&"check".to_owned()) && !words.contains(&"complete".to_owned()), "{words:?}");
    }
}
