//! The parsing of arguments, and messages on wrong usage.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, Args, FromArgMatches, ValueEnum};

use super::args::{Cli, Language, MessageFormat};
use super::options::{self, Asked, Commands};
use super::outcome::{Failure, RunResult, Status};
use super::report::Reporter;
use super::{foreign, io};
use crate::diagnostics::visible;

/// Parses the arguments, and refuses those that are wrong whatever the input is.
///
/// # Errors
///
/// How the run ends, and what reports it: wrong usage, or the requested help, which has been shown.
pub(super) fn parse() -> Result<Cli, Box<(Reporter, RunResult)>> {
    let words: Vec<OsString> = spelled(std::env::args_os());
    let cli = parse_from(words.iter().cloned()).map_err(|error| {
        let format = early("--message-format", &words).unwrap_or(MessageFormat::Human);
        let is_check = words.iter().skip(1).any(|word| word == "check");
        let reporter = refusing(Reporter::in_format(format, color(&words)), format, is_check);
        let shown = show(&error, format);
        Box::new((reporter, shown))
    })?;
    let checked = cli.language.asked.consistent().and_then(|()| cli.streams());
    if let Err(failure) = checked {
        let is_check = cli.commands() == Some(Commands::CHECK);
        let reporter = refusing(Reporter::new(&cli.reporting), cli.reporting.message_format, is_check);
        return Err(Box::new((reporter, Err(failure))));
    }
    Ok(cli)
}

/// What reports wrong usage: programs look for the results of `check` on standard output.
fn refusing(mut reporter: Reporter, format: MessageFormat, is_check: bool) -> Reporter {
    if format.is_complete() && is_check {
        reporter.use_stdout();
    }
    reporter
}

/// Parses words. Of the options before a subcommand, those are accepted that apply to it.
pub(super) fn parse_from(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let words = spelled(words);
    let mut command = options::command().color(color(&words));
    let matches = command.try_get_matches_from_mut(&words).map_err(|error| explained(error, &words))?;
    if let Some(name) = matches.subcommand_name() {
        let merged = Language::augment_args(clap::Command::new(""));
        let has =
            |of: &clap::Command, argument: &Arg| of.get_arguments().any(|known| known.get_id() == argument.get_id());
        let applies = |argument: &Arg| {
            argument.is_global_set()
                || has(&merged, argument) && command.find_subcommand(name).is_some_and(|of| has(of, argument))
        };
        let given =
            |argument: &&Arg| matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine);
        let ignored = command.get_arguments().filter(given).find(|argument| !applies(argument));
        if let Some(argument) = ignored {
            let shown = match matches.get_one::<PathBuf>("input").filter(|_| argument.is_positional()) {
                Some(input) => visible::clean(&input.display().to_string()),
                None => argument.to_string(),
            };
            let message = format!("unexpected argument '{shown}' before the subcommand '{name}'");
            return Err(command.error(ErrorKind::UnknownArgument, message));
        }
    }
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.language.asked = asked(&cli, &command, &matches);
    Ok(cli)
}

/// The subcommand, and the options that are given before or after it.
fn asked(cli: &Cli, command: &clap::Command, matches: &clap::ArgMatches) -> Asked {
    let sub = matches.subcommand().and_then(|(name, matches)| Some((command.find_subcommand(name)?, matches)));
    let mut given = Vec::new();
    for (command, matches) in std::iter::once((command, matches)).chain(sub) {
        let options = command.get_arguments().filter(|argument| !argument.is_positional());
        for id in options.map(|argument| argument.get_id().as_str()) {
            let known = matches.try_contains_id(id).is_ok();
            if known && matches.value_source(id) == Some(ValueSource::CommandLine) && !given.iter().any(|g| g == id) {
                given.push(id.to_owned());
            }
        }
    }
    Asked::new(cli.commands(), given)
}

/// The words with the names of options as they are spelled here: other programs write `--input_shape`.
fn spelled(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut values = false;
    let spelled = |word: OsString| {
        values |= word == "--";
        let Some(text) = word.to_str().filter(|text| !values && text.starts_with("--")) else { return word };
        let (name, value) = text.split_at(text.find('=').unwrap_or(text.len()));
        let known = name.replace('_', "-");
        if known != name && options::has(&known[2..]) { (known + value).into() } else { word }
    };
    words.into_iter().map(spelled).collect()
}

/// The value of an option on messages about the arguments, before these are parsed.
fn early<T: ValueEnum>(name: &str, words: &[OsString]) -> Option<T> {
    let words: Vec<Cow<str>> = words.iter().map(|word| word.to_string_lossy()).collect();
    let value = |at: usize| match words[at].strip_prefix(name)? {
        "" => words.get(at + 1).map(|word| &**word),
        rest => rest.strip_prefix('='),
    };
    let last = (0..words.len()).rev().find_map(value);
    last.and_then(|last| ValueEnum::from_str(last, false).ok())
}

fn color(words: &[OsString]) -> clap::ColorChoice {
    early("--color", words).unwrap_or(clap::ColorChoice::Auto)
}

/// An error about a superfluous word: the first word may be a misspelt subcommand, the second an output.
fn explained(error: clap::Error, words: &[OsString]) -> clap::Error {
    let word = error.get(ContextKind::InvalidArg).or_else(|| error.get(ContextKind::InvalidSubcommand));
    let superfluous = match (error.kind(), word) {
        (ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => word.clone(),
        // The requested help and version are errors, too.
        _ => return error,
    };
    let command = &mut options::whole_command().color(color(words));
    if superfluous.starts_with('-') && superfluous.len() > 1 {
        return unknown_option(error, command, &superfluous, words);
    }
    let matches = command.clone().ignore_errors(true).try_get_matches_from(words);
    let first = matches.as_ref().ok().filter(|matches| matches.subcommand_name().is_none());
    let Some(first) = first.and_then(|matches| matches.get_one::<PathBuf>("input")) else { return error };
    let shown = visible::clean(&first.display().to_string());
    // A file that exists is rather an input than an output: it must not be overwritten by advice.
    let exists = Path::new(&superfluous).exists();
    let behind = || foreign::behind_input(&superfluous, words).filter(|_| !exists);
    if !first.exists() {
        let output = || match exists {
            true => format!("to flatten '{superfluous}', leave out '{shown}'"),
            false => format!("use -o {superfluous} for the output"),
        };
        let hint = foreign::instead_of(first, Some(&superfluous)).or_else(behind).unwrap_or_else(output);
        let message = format!("'{shown}' is neither an input nor a subcommand; {hint}");
        return command.error(ErrorKind::InvalidSubcommand, message);
    }
    if let Some(meant) = behind() {
        let message = format!("unexpected argument '{superfluous}' after the input '{shown}'; {meant}");
        return command.error(ErrorKind::UnknownArgument, message);
    }
    let message = format!(
        "unexpected argument '{superfluous}' after the input '{shown}': use -o {superfluous} for the output; \
         only check and fmt take several inputs"
    );
    command.error(ErrorKind::UnknownArgument, message)
}

/// An error about an option that there is not. To pass it as a value is no advice for a long one: that is never meant.
fn unknown_option(error: clap::Error, command: &mut clap::Command, option: &str, words: &[OsString]) -> clap::Error {
    let meant = match foreign::instead_of_option(option) {
        Some(instead) => format!(", an option of other programs; {instead}"),
        None if error.get(ContextKind::SuggestedArg).is_some() || !option.starts_with("--") => return error,
        None => match foreign::option_like(option) {
            Some(like) => format!(", {like}"),
            None => "; --help lists the options".to_owned(),
        },
    };
    let message = format!("unexpected argument '{option}'{meant}");
    let sub = words.iter().skip(1).find(|word| command.find_subcommand(word).is_some());
    match sub.and_then(|name| command.find_subcommand_mut(name)) {
        Some(command) => command.error(ErrorKind::UnknownArgument, message),
        None => command.error(ErrorKind::UnknownArgument, message),
    }
}

/// The first paragraph of an error about the arguments.
pub(super) fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message = text.split("\n\n").next().unwrap_or_default().trim();
    message.trim_start_matches("error: ").to_owned()
}

/// Shows an error about the arguments, or the requested help. An error can contain names of files, so
/// control characters are escaped.
fn show(error: &clap::Error, format: MessageFormat) -> RunResult {
    if error.use_stderr() && format != MessageFormat::Human {
        return Err(Failure::Message(message(error)));
    }
    let text = error.render().to_string();
    let shown = match visible::escaped(&text) {
        Cow::Borrowed(_) => error.print(),
        Cow::Owned(text) => std::io::stderr().write_all(text.as_bytes()),
    };
    match error.use_stderr() {
        true => Ok(Status::Failed),
        false => shown.map(|()| Status::Done).map_err(|error| io::failure("<stdout>", &error)),
    }
}

/// Tests of the arguments parse as the command does.
#[cfg(test)]
pub(super) fn parse_words(line: &str) -> Result<Cli, clap::Error> {
    parse_from(std::iter::once("nnef-flatten").chain(line.split_whitespace()).map(Into::into))
}
