//! The arguments of subcommands.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use super::{From, Language};
use crate::cli::limits::RunLimits;
use crate::cli::options;
use crate::input::differ::DiffDetails;

/// The arguments of a subcommand, with what the table of options says about them.
#[derive(Debug)]
pub(crate) struct Tabled<T>(pub(crate) T);

impl<T: Args> Args for Tabled<T> {
    fn augment_args(command: Command) -> Command {
        // The comment on the structure is not the description of the subcommand.
        let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
        // The options of all subcommands are there already, and are listed last.
        let of_all = command.get_arguments().count();
        let command = T::augment_args(command);
        let mut sorted: Vec<Arg> = command.get_arguments().cloned().collect();
        sorted.rotate_left(of_all);
        let mut sorted = sorted.into_iter();
        options::tabled(command.mut_args(|arg| sorted.next().unwrap_or(arg)))
            .about(Resettable::from(about))
            .long_about(Resettable::from(long_about))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Tabled<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Tabled)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The arguments of `check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Inputs in any notation, `-` for standard input, models, whose data files are checked, too, or folders, whose
    /// inputs are found by their extensions.
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Change documents in place where the solution of a finding is certain; each is written completely or not at
    /// all. What is reported are the findings that are left.
    #[arg(long)]
    pub(crate) fix: bool,
    /// The number of inputs that are checked at the same time [default: all processors].
    ///
    /// What is reported is the same with any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// How documents are read and expanded.
    #[command(flatten)]
    pub(crate) language: Language,
}

/// The arguments of `fmt`.
#[derive(Args, Debug)]
pub(crate) struct Fmt {
    /// Documents, `-` for standard input, or models.
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Change no files; list those that would change, with exit status 1 if there are any.
    #[arg(long)]
    pub(crate) check: bool,
    /// The notation of the input [default: auto].
    #[arg(long, value_name = "NOTATION")]
    pub(crate) from: Option<From>,
    /// Limits on the resources of a run.
    #[command(flatten)]
    pub(crate) limits: RunLimits,
}

/// The arguments of `diff`.
#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// An input in any notation, `-` for standard input, or a model with the data of its variables.
    #[arg(value_name = "A", requires = "b")]
    pub(crate) a: Option<PathBuf>,
    /// The input that it is compared with.
    #[arg(value_name = "B")]
    pub(crate) b: Option<PathBuf>,
    /// Tell the largest difference between data that differ.
    #[arg(long)]
    pub(crate) values: bool,
    /// List the inner tensors that have other names.
    #[arg(long)]
    pub(crate) renamed: bool,
    /// Also write a page for browsers with both graphs, on which the changes are marked.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// How documents are read and expanded.
    #[command(flatten)]
    pub(crate) language: Language,
}

impl Diff {
    /// What is told in addition.
    pub(crate) fn details(&self) -> DiffDetails {
        DiffDetails { values: self.values, renamed: self.renamed }
    }
}

/// The arguments of `run`.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// An input in any notation, `-` for standard input, or a model with the data of its variables.
    pub(crate) input: Option<PathBuf>,
    /// The inputs: an .npz archive, an .npy file for a single one, or JSON (name to nested array).
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,
    /// Write the outputs to this file, completely or not at all [default: standard output].
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Store a tensor in a layout while evaluating, as in x={0,1:T(8,128)}, or all tensors of its rank,
    /// as in {1,0}; repeatable.
    #[arg(long, value_name = "[NAME=]LAYOUT")]
    pub(crate) layout: Vec<String>,
    /// The form of the outputs [default: by the extension of PATH, else json].
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Option<RunTo>,
    /// How documents are read and expanded.
    #[command(flatten)]
    pub(crate) language: Language,
}

/// Forms of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunTo {
    /// Nested arrays.
    Json,
    /// An archive of numpy.
    Npz,
    /// An array of numpy, of a single output.
    Npy,
}

/// The arguments of `lsp`.
#[cfg(feature = "lsp")]
#[derive(Args, Debug)]
pub(crate) struct Lsp {
    /// Exchange messages on standard input and output, as without this option: many editors give it.
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Accept only what the standard allows: tolerated deviations become errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// A file of additional declarations, which may replace standard ones; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) fragments: Vec<PathBuf>,
    /// Limits on the resources for a text.
    #[command(flatten)]
    pub(crate) limits: RunLimits,
}

/// The arguments of `explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// A code such as E0401, a rule such as A1, or one of --simplify or --merge such as casts.
    pub(crate) code: String,
}

/// The arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// The arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The subcommand.
    pub(crate) subcommand: Option<String>,
    /// Write the pages of the command and of all subcommands into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "subcommand")]
    pub(crate) folder: Option<PathBuf>,
}

/// The arguments of `complete`.
#[derive(Args, Debug)]
pub(crate) struct Complete {
    /// The words after the name of the command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}
