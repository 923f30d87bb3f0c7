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

use clap::{CommandFactory, Parser};

use crate::diagnostics::visible;
use args::{Cli, Command};
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
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            complain_usage(&error);
            return ExitCode::from(if error.use_stderr() { Status::Failed } else { Status::Done } as u8);
        }
    };
    let result = run(cli);
    let _settled = interrupt::settle();
    let status = match result {
        Ok(status) => status,
        Err(Failure::BrokenPipe) => Status::Done,
        Err(Failure::Message(message)) => {
            report::complain(&message);
            Status::Failed
        }
    };
    ExitCode::from(status as u8)
}

/// Prints an error about the arguments, or the requested help. An error can contain names of files, so
/// control characters are escaped.
fn complain_usage(error: &clap::Error) {
    let text = error.render().to_string();
    let _ = match visible::escaped(&text) {
        Cow::Borrowed(_) => error.print(),
        Cow::Owned(text) => std::io::stderr().write_all(text.as_bytes()),
    };
}

fn run(cli: Cli) -> RunResult {
    let mut reporter = Reporter::new(&cli.reporting);
    let Some(command) = cli.command else {
        let Some(inputs) = inputs_or_stdin(cli.input.into_iter().collect()) else {
            return show_help(None);
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
    if let Some(input) = cli.input {
        let input = input.display();
        return Err(Failure::Message(format!("unexpected argument '{input}' before a subcommand; see --help")));
    }
    match command {
        Command::Check { inputs, language } => match inputs_or_stdin(inputs) {
            Some(inputs) => check::run(&inputs, &cli.language.merge(language), &mut reporter),
            None => show_help(Some("check")),
        },
        Command::Fmt { inputs, check, from, limits } => match inputs_or_stdin(inputs) {
            Some(inputs) => {
                let limits = cli.language.limits.merge(limits);
                fmt::run(&inputs, check, (from.or(cli.language.from), &limits), &mut reporter)
            }
            None => show_help(Some("fmt")),
        },
        Command::Run(arguments) => {
            let language = cli.language.merge(arguments.language.clone());
            match inputs_or_stdin(arguments.input.clone().into_iter().collect()) {
                Some(inputs) => run::run(&inputs[0], &arguments, &language, &mut reporter),
                None => show_help(Some("run")),
            }
        }
        Command::Layout(arguments) => match (&arguments.shape, &arguments.text) {
            (None, None) if std::io::stdin().is_terminal() => show_help(Some("layout")),
            _ => layout::run(&arguments, &mut reporter),
        },
        Command::Expr(arguments) => match (&arguments.text, &arguments.literal) {
            (None, None) => show_help(Some("expr")),
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
fn show_help(subcommand: Option<&str>) -> RunResult {
    let mut command = Cli::command();
    command.build();
    let command = match subcommand.and_then(|name| command.find_subcommand_mut(name)) {
        Some(subcommand) => subcommand.clone(),
        None => command,
    };
    let help = command.clone().render_help();
    let _ = write!(anstream::stderr(), "{}", help.ansi());
    Ok(Status::Failed)
}
