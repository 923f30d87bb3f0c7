//! The arguments on messages.

use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, ValueEnum};

use crate::diagnostics::Code;

/// How findings are reported.
#[derive(Args, Debug)]
pub(crate) struct Reporting {
    /// The format of messages, which `check` writes to standard output, other subcommands to standard error.
    #[arg(long, value_name = "FORM", default_value = "human", global = true)]
    pub(crate) message_format: MessageFormat,
    /// When to use colours; auto depends on the terminal, NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: clap::ColorChoice,
    /// Report errors only.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Which warnings are reported.
    #[arg(long, value_name = "WHICH", default_value = "summary", global = true)]
    pub(crate) warnings: Warnings,
    /// Suppress warnings of this code, or of all codes; repeatable.
    #[arg(long, value_name = "CODE|all", value_parser = allowed, global = true)]
    pub(crate) allow: Vec<Level>,
    /// Treat warnings of this code, or of all codes, as errors; repeatable. The last --allow or --deny
    /// that names a code applies.
    #[arg(long, value_name = "CODE|all", value_parser = denied, global = true)]
    pub(crate) deny: Vec<Level>,
}

impl Reporting {
    /// The codes of --allow and --deny, in the order given.
    pub(crate) fn levels(&self) -> Vec<Level> {
        let mut levels = [&self.allow[..], &self.deny[..]].concat();
        levels.sort_by_key(|level| level.position);
        levels
    }
}

/// Which warnings are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Warnings {
    /// Those that are not about common practice of exporters; in the human format one line per code, with the first
    /// location and the number of others.
    Summary,
    /// All warnings, each by itself.
    All,
}

/// How the warnings of a code are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// The code; none for all codes.
    pub(crate) of: Option<Code>,
    /// Whether they are errors; otherwise they are suppressed.
    pub(crate) denied: bool,
    /// Its position among such options on the command line.
    position: usize,
}

/// How many levels were read: the parser reads values in the order in which they are given, but
/// collects those of each option by themselves.
static LEVELS: AtomicUsize = AtomicUsize::new(0);

fn level(text: &str, denied: bool) -> Result<Level, String> {
    let of = match text {
        "all" => None,
        code => Some(Code::from_text(code).ok_or_else(|| format!("unknown code `{code}`; codes look like E0401"))?),
    };
    Ok(Level { of, denied, position: LEVELS.fetch_add(1, Ordering::Relaxed) })
}

fn allowed(text: &str) -> Result<Level, String> {
    level(text, false)
}

fn denied(text: &str) -> Result<Level, String> {
    level(text, true)
}

/// Forms of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Text with excerpts of the source.
    Human,
    /// A line for each finding, beginning with its place.
    Short,
    /// One JSON object per line.
    Json,
    /// A log in SARIF 2.1.0.
    Sarif,
    /// Annotations of a workflow of GitHub.
    Github,
}

impl MessageFormat {
    /// Whether it has all findings; people read the first ones.
    pub(crate) fn is_complete(self) -> bool {
        self != MessageFormat::Human
    }
}
