//! The command line: reads arguments and texts, calls the library, writes results and messages.
//!
//! Results go to standard output, everything else to standard error. The exit status is 0 when the
//! work is done, 1 when an input was refused, 2 for wrong usage or failed input and output.

mod args;
mod check;
mod complete;
mod completions;
mod encode;
mod explain;
mod expr;
mod external;
mod flatten;
mod fmt;
mod interrupt;
mod io;
mod layout;
mod layouts;
mod limits;
mod loops;
mod man;
mod models;
mod onnx;
mod passes;
mod pnnx;
mod progress;
mod report;
mod run;
mod stats;
mod tensors;
mod terminal;
mod verify;

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, Args, CommandFactory, FromArgMatches, ValueEnum};

use crate::diagnostics::visible;
use args::{Cli, Command, Language, MessageFormat};
use report::Reporter;

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// The work is done.
    Done = 0,
    /// An input was refused.
    Refused = 1,
    /// Wrong usage, or a file could not be read or written.
    Failed = 2,
}

/// A failure that stops a run: a message for standard error, or a closed output.
#[derive(Debug)]
enum Failure {
    /// Wrong usage, or an error of input or output.
    Message(String),
    /// The reader of the output has closed it.
    BrokenPipe,
}

type RunResult = Result<Status, Failure>;

/// Runs the command on the arguments of the process.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(std::io::stderr(), "nnef-flatten: internal error, please report it: {panic}");
        std::process::exit(Status::Failed as i32);
    }));
    let (format, result) = match parse() {
        Ok(cli) => (cli.reporting.message_format, run(cli)),
        Err(error) => (MessageFormat::Human, show(&error)),
    };
    let _settled = interrupt::settle();
    let status = match result {
        Ok(status) => status,
        Err(Failure::BrokenPipe) => Status::Done,
        Err(Failure::Message(message)) => {
            report::complain(&message, format);
            Status::Failed
        }
    };
    ExitCode::from(status as u8)
}

/// Parses the arguments. Of the options before a subcommand, those are accepted that apply to it.
fn parse() -> Result<Cli, clap::Error> {
    let mut command = Cli::command().color(color());
    command.build();
    let matches = command.clone().try_get_matches()?;
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
        let vain = command.get_arguments().filter(given).find(|argument| !applies(argument));
        if let Some(argument) = vain {
            let shown = match matches.get_one::<PathBuf>("input").filter(|_| argument.is_positional()) {
                Some(input) => visible::clean(&input.display().to_string()),
                None => argument.to_string(),
            };
            let message = format!("unexpected argument '{shown}' before the subcommand '{name}'");
            return Err(command.error(ErrorKind::UnknownArgument, message));
        }
    }
    Cli::from_arg_matches(&matches)
}

/// The value of `--color` for messages about the arguments, before these are parsed.
fn color() -> clap::ColorChoice {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let value = |at: usize| match words[at].strip_prefix("--color")? {
        "" => words.get(at + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    };
    let last = (0..words.len()).rev().find_map(value);
    last.and_then(|last| ValueEnum::from_str(last, false).ok()).unwrap_or(clap::ColorChoice::Auto)
}

/// Shows an error about the arguments, or the requested help. An error can contain names of files, so
/// control characters are escaped.
fn show(error: &clap::Error) -> RunResult {
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

fn run(cli: Cli) -> RunResult {
    cli.streams()?;
    let mut reporter = Reporter::new(&cli.reporting);
    let Some(command) = cli.command else {
        let Some(inputs) = inputs_or_stdin(cli.input.into_iter().collect()) else {
            return show_help(None, &mut reporter);
        };
        let (input, language, output, verification) = (&inputs[0], &cli.language, &cli.output, &cli.verification);
        if pnnx::is_one(input, language.from) {
            return pnnx::run(input, language, output, verification, &mut reporter);
        }
        return match onnx::form(input, language.from) {
            Some(form) => onnx::run(input, form, language, output, verification, &mut reporter),
            None => flatten::run(input, language, output, verification, &mut reporter),
        };
    };
    match command {
        Command::Check { inputs, language } => match inputs_or_stdin(inputs) {
            Some(inputs) => check::run(&inputs, &cli.language.merge(language), &mut reporter),
            None => show_help(Some("check"), &mut reporter),
        },
        Command::Fmt { inputs, check, from, limits } => match inputs_or_stdin(inputs) {
            Some(inputs) => {
                let limits = cli.language.limits.merge(limits);
                fmt::run(&inputs, check, (from.or(cli.language.from), &limits), &mut reporter)
            }
            None => show_help(Some("fmt"), &mut reporter),
        },
        Command::Run(arguments) => {
            let language = cli.language.merge(arguments.language.clone());
            match inputs_or_stdin(arguments.input.clone().into_iter().collect()) {
                Some(inputs) => run::run(&inputs[0], &arguments, &language, &mut reporter),
                None => show_help(Some("run"), &mut reporter),
            }
        }
        Command::Layout(arguments) => match (&arguments.shape, &arguments.text) {
            (None, None) if std::io::stdin().is_terminal() => show_help(Some("layout"), &mut reporter),
            _ => layout::run(&arguments, &mut reporter),
        },
        Command::Expr(arguments) => match (&arguments.text, &arguments.literal) {
            (None, None) => show_help(Some("expr"), &mut reporter),
            _ => {
                let language = cli.language.merge(arguments.language.clone());
                expr::run(&arguments, &language, &mut reporter)
            }
        },
        Command::Explain { code } => explain::run(&code),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { subcommand, folder } => man::run(subcommand.as_deref(), folder.as_deref()),
        Command::Complete { words } => complete::run(&words),
    }
}

/// The inputs, or standard input if there are none and it is not a terminal.
fn inputs_or_stdin(inputs: Vec<PathBuf>) -> Option<Vec<PathBuf>> {
    if !inputs.is_empty() {
        return Some(inputs);
    }
    (!std::io::stdin().is_terminal()).then(|| vec![PathBuf::from("-")])
}

/// Shows the usage when there is no input.
fn show_help(subcommand: Option<&str>, reporter: &mut Reporter) -> RunResult {
    let mut command = Cli::command();
    command.build();
    let command = match subcommand.and_then(|name| command.find_subcommand_mut(name)) {
        Some(subcommand) => subcommand.clone(),
        None => command,
    };
    reporter.help(&command.clone().render_help());
    Ok(Status::Failed)
}
