//! The command: chooses the subcommand, and gives the exit status.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::live::LiveRun;

use super::args::{self, Check, Cli, Command, Fmt, Man, MessageFormat, Tabled};
use super::check::Checking;
use super::options::Commands;
use super::outcome::{Failure, RunResult, Status};
use super::progress::Watch;
use super::report::Reporter;
use super::{
    check, complete, completions, diff, explain, expr, flatten, fmt, interrupt, layout, man, options, process, run,
    usage,
};

/// Runs the command on the arguments of the process.
pub fn main() -> ExitCode {
    process::begin();
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(std::io::stderr(), "nnef-flatten: internal error, please report it: {panic}");
        std::process::exit(Status::Failed as i32);
    }));
    let (mut reporter, result) = match usage::parse() {
        Ok(cli) => {
            let mut reporter = Reporter::new(&cli.reporting);
            let watch = Watch::new(cli.commands().is_some_and(Commands::reports) && reporter.interactive());
            let result = run(cli, &mut reporter);
            drop(watch);
            let result = result.or_else(|failure| reporter.refused(failure));
            (reporter, result)
        }
        Err(ended) => *ended,
    };
    let _settled = interrupt::settle();
    let status = ended(result, &mut reporter);
    let status = match reporter.finish() {
        // A reader who has left knows enough; the status is that of the work.
        Ok(()) | Err(Failure::BrokenPipe) => status,
        // Nothing more can be told.
        failed => {
            ended(failed.map(|()| status), &mut Reporter::in_format(MessageFormat::Human, clap::ColorChoice::Never))
        }
    };
    ExitCode::from(status as u8)
}

/// The status of a run that has ended; why it failed is reported.
fn ended(result: RunResult, reporter: &mut Reporter) -> Status {
    match result {
        Ok(status) => status,
        Err(Failure::BrokenPipe) => Status::Done,
        // Reported before.
        Err(Failure::Refused(_)) => Status::Refused,
        Err(Failure::Message(message)) => {
            reporter.complain(&message);
            Status::Failed
        }
    }
}

fn run(mut cli: Cli, reporter: &mut Reporter) -> RunResult {
    // A server has many documents, each a run of its own.
    let _run = (cli.commands() != Some(Commands::LSP)).then(|| LiveRun::within(cli.limits().options().max_memory));
    cli.language.all_findings = cli.reporting.message_format.is_complete();
    if cli.commands() == Some(Commands::CHECK) {
        reporter.use_stdout();
    }
    if cli.commands().is_some_and(Commands::reports) {
        reporter.begin();
    }
    let Some(command) = cli.command else {
        return match cli.input.clone().or_else(stdin) {
            Some(input) => flatten::run(&input, &cli, reporter),
            None => show_help(None, reporter),
        };
    };
    match command {
        Command::Check(Tabled(Check { inputs, fix, threads, language })) => match inputs_or_stdin(inputs) {
            Some(inputs) => {
                let asked = Checking { fix, threads: threads.or(cli.output.threads) };
                check::run(&inputs, asked, &cli.language.merge(language), reporter)
            }
            None => show_help(Some("check"), reporter),
        },
        Command::Fmt(Tabled(Fmt { inputs, check, from, limits })) => match inputs_or_stdin(inputs) {
            Some(inputs) => {
                let later = args::Language { from, limits, ..args::Language::default() };
                fmt::run(&inputs, check, &cli.language.merge(later), reporter)
            }
            None => show_help(Some("fmt"), reporter),
        },
        Command::Diff(Tabled(arguments)) => {
            let language = cli.language.merge(arguments.language.clone());
            match (&arguments.a, &arguments.b) {
                (Some(a), Some(b)) => diff::run([a, b], &arguments, &language, reporter),
                _ => show_help(Some("diff"), reporter),
            }
        }
        Command::Run(Tabled(arguments)) => {
            let language = cli.language.merge(arguments.language.clone());
            match arguments.input.clone().or_else(stdin) {
                Some(input) => run::run(&input, &arguments, &language, reporter),
                None => show_help(Some("run"), reporter),
            }
        }
        Command::Layout(Tabled(arguments)) => match (&arguments.shape, &arguments.text) {
            (None, None) if std::io::stdin().is_terminal() => show_help(Some("layout"), reporter),
            _ => {
                let later = args::Language { limits: arguments.limits.clone(), ..args::Language::default() };
                layout::run(&arguments, cli.language.merge(later), reporter)
            }
        },
        Command::Expr(Tabled(arguments)) => match (&arguments.text, &arguments.literal) {
            (None, None) => show_help(Some("expr"), reporter),
            _ => {
                let language = cli.language.merge(arguments.language.clone());
                expr::run(&arguments, language, reporter)
            }
        },
        #[cfg(feature = "lsp")]
        // There is no other channel.
        Command::Lsp(Tabled(args::Lsp { stdio: _, strict, fragments, limits })) => {
            let later = args::Language { strict, fragments, limits, ..args::Language::default() };
            super::lsp::run(&cli.language.merge(later))
        }
        Command::Explain(Tabled(explained)) => cli.language.usable(None).and_then(|()| explain::run(&explained.code)),
        Command::Completions(Tabled(of)) => cli.language.usable(None).and_then(|()| completions::run(of.shell)),
        Command::Man(Tabled(Man { subcommand, folder })) => {
            cli.language.usable(None)?;
            man::run(subcommand.as_deref(), folder.as_deref())
        }
        Command::Complete(Tabled(asked)) => complete::run(&asked.words),
    }
}

/// The inputs, or standard input if there are none.
fn inputs_or_stdin(inputs: Vec<PathBuf>) -> Option<Vec<PathBuf>> {
    if inputs.is_empty() { stdin().map(|input| vec![input]) } else { Some(inputs) }
}

/// Standard input as an input that is not named, unless it is a terminal.
fn stdin() -> Option<PathBuf> {
    (!std::io::stdin().is_terminal()).then(|| PathBuf::from("-"))
}

/// Shows the usage when there is no input.
fn show_help(subcommand: Option<&str>, reporter: &mut Reporter) -> RunResult {
    let mut command = options::whole_command();
    let command = match subcommand {
        Some(name) => command.find_subcommand_mut(name),
        None => Some(&mut command),
    };
    reporter.help(&command.map(clap::Command::render_help).unwrap_or_default());
    Ok(Status::Failed)
}
