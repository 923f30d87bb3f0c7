//! The arguments, as `clap` reads them.

mod expr;
mod layout;
mod notation;
mod reporting;
mod size;
mod streams;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::diagnostics::Code;
use crate::graph::{Cut, Extent};
use crate::input::differ::DiffDetails;
use crate::input::settings::{Passes, Settings};
use crate::input::table::Notation;
use crate::onnx::text::Production;
use crate::options::{GivenShapes, input_name, input_shape, symbol};
use crate::source::{FileId, Location, Span};
use crate::{Diagnostics, Lower, Options};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::limits::RunLimits;
use super::options::{Asked, Commands};
use super::outcome::Failure;
pub(crate) use expr::{Expr, ExprTo};
pub(crate) use layout::{Layout, LayoutTo, Numbers};
pub(crate) use notation::{From, To};
pub(crate) use reporting::{Level, MessageFormat, Reporting, Warnings};
pub(crate) use size::size;

const EXAMPLES: &str = "\
Examples:
  nnef-flatten graph.nnef                        flatten to standard output
  nnef-flatten model.onnx -o flat.onnx           inline the functions of a model of ONNX
  nnef-flatten model/ -o flat.nnef               read model/graph.nnef, write a file
  nnef-flatten model/ -o flat.tgz                take weights and quantizations along
  nnef-flatten --lower all --to json graph.nnef  primitives only, as JSON
  nnef-flatten graph.nnef -o graph.html          a page that shows the graph
  nnef-flatten --lower none --to svg graph.nnef  a picture of the graph as it is written
  nnef-flatten --source-map map.json graph.nnef  where each operation comes from
  nnef-flatten --stats -o flat.nnef graph.nnef   count operations and parameters
  nnef-flatten --keep gelu,lstm graph.nnef       leave these fragments in place
  generate | nnef-flatten -                      read standard input
  nnef-flatten check --strict *.nnef             only look for mistakes
  nnef-flatten fmt graph.nnef                    format a document in place
  nnef-flatten run model/ --inputs x.npz         compute the outputs
  nnef-flatten diff old.onnx new.onnx            what differs between two models
  nnef-flatten layout 'f32[3,5]{1,0:T(2,2)}'     where elements are in memory
  nnef-flatten explain E0401                     what a message means

Exit status: 0 done, 1 the input was refused, 2 wrong usage or failed input or output.";

const USAGE: &str = "nnef-flatten [OPTIONS] INPUT\n       nnef-flatten SUBCOMMAND …";

/// Flattens descriptions of neural networks into graphs of primitive operations.
///
/// Reads NNEF documents with fragments, selects, comprehensions and recursion, models of ONNX with
/// functions, files of PNNX with expressions, and networks with loops, and writes the flat graph that
/// they describe.
#[derive(Debug, Parser)]
#[command(name = "nnef-flatten", version, after_help = "See --help for examples.", after_long_help = EXAMPLES)]
#[command(subcommand_help_heading = "Subcommands", subcommand_value_name = "SUBCOMMAND")]
#[command(override_usage = USAGE)]
pub(crate) struct Cli {
    /// What to do instead of flattening.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// A document of NNEF 1.0 or of the provisional NNEF, a model of ONNX in protobuf or as text (.onnx,
    /// .onnxtxt), a file of PNNX (.pnnx.param), a network with loops (JSON), or `-` for standard input; or
    /// an NNEF model: a folder with a graph.nnef, a .tar, a .tgz.
    pub(crate) input: Option<PathBuf>,
    /// The result.
    #[command(flatten)]
    pub(crate) output: Output,
    /// How documents are read and expanded.
    #[command(flatten)]
    pub(crate) language: Language,
    /// How the result is compared with its source.
    #[command(flatten)]
    pub(crate) verification: Verification,
    /// How findings are reported.
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

impl Cli {
    /// The subcommand as the table of options knows it; none for one that takes no options.
    pub(crate) fn commands(&self) -> Option<Commands> {
        Some(match &self.command {
            None => Commands::FLATTEN,
            Some(Command::Check { .. }) => Commands::CHECK,
            Some(Command::Diff(_)) => Commands::DIFF,
            Some(Command::Run(_)) => Commands::RUN,
            Some(Command::Fmt { .. }) => Commands::FMT,
            Some(Command::Expr(expr)) if expr.fuse => Commands::FUSE,
            Some(Command::Expr(_)) => Commands::EXPR,
            Some(Command::Layout(layout)) if layout.is_text() => Commands::LISTING,
            Some(Command::Layout(_)) => Commands::LAYOUT,
            #[cfg(feature = "lsp")]
            Some(Command::Lsp { .. }) => Commands::LSP,
            Some(Command::Explain { .. }) => Commands::EXPLAIN,
            Some(Command::Completions { .. }) => Commands::COMPLETIONS,
            Some(Command::Man { .. }) => Commands::MAN,
            Some(Command::Complete { .. }) => return None,
        })
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check inputs completely, expansion included, without writing a result; the findings are on standard output.
    Check {
        /// Inputs in any notation, `-` for standard input, models, whose data files are checked, too, or folders, whose
        /// inputs are found by their extensions.
        #[arg(value_name = "INPUT")]
        inputs: Vec<PathBuf>,
        /// Change documents in place where the solution of a finding is certain; each is written completely or not at
        /// all. What is reported are the findings that are left.
        #[arg(long)]
        fix: bool,
        /// How documents are read and expanded.
        #[command(flatten)]
        language: Language,
    },
    /// Format documents: files in place, `-` from standard input to standard output.
    Fmt {
        /// Documents, `-` for standard input, or models.
        #[arg(value_name = "INPUT")]
        inputs: Vec<PathBuf>,
        /// Change no files; list those that would change, with exit status 1 if there are any.
        #[arg(long)]
        check: bool,
        /// The notation of the input [default: auto].
        #[arg(long, value_name = "NOTATION")]
        from: Option<From>,
        /// Limits on the resources of a run.
        #[command(flatten)]
        limits: RunLimits,
    },
    /// Compare two inputs: the operations, attributes, shapes, types and data that differ; exit status 1 if any do.
    ///
    /// Names of inner tensors do not count. Inputs in notations with other operations are compared as graphs of NNEF.
    Diff(Diff),
    /// Evaluate a document, a file of PNNX or a network with loops on given inputs.
    Run(Run),
    /// Show where the elements of an array are in memory: shapes and layouts of XLA.
    #[command(after_long_help = layout::EXAMPLES, override_usage = layout::USAGE)]
    Layout(Layout),
    /// Read an expression of PNNX: check, fold, evaluate or expand it; or fuse a graph into expressions.
    #[command(after_long_help = expr::EXAMPLES, override_usage = expr::USAGE)]
    Expr(Expr),
    /// Serve an editor on standard input and output, by the Language Server Protocol: documents and texts of ONNX.
    ///
    /// Without --limits, texts have the limits of --limits untrusted.
    #[cfg(feature = "lsp")]
    Lsp {
        /// Accept only what the standard allows: tolerated deviations become errors.
        #[arg(long)]
        strict: bool,
        /// A file of additional declarations, which may replace standard ones; repeatable.
        #[arg(long, value_name = "FILE")]
        fragments: Vec<PathBuf>,
        /// Limits on the resources for a text.
        #[command(flatten)]
        limits: RunLimits,
    },
    /// Explain a diagnostic code, or list the codes of a rule.
    Explain {
        /// A code such as E0401, or a rule such as A1.
        code: String,
    },
    /// Write a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write a manual page: of the command, or of a subcommand.
    Man {
        /// The subcommand.
        subcommand: Option<String>,
        /// Write the pages of the command and of all subcommands into this folder.
        #[arg(long, value_name = "DIR", conflicts_with = "subcommand")]
        folder: Option<PathBuf>,
    },
    /// List the completions of the last of some words; the completion scripts call it.
    #[command(hide = true, disable_help_flag = true)]
    Complete {
        /// The words after the name of the command.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

/// Where the result goes, and as what.
#[derive(Args, Debug)]
pub(crate) struct Output {
    /// Write the result to this file, completely or not at all; a folder (out/) or archive (.tar, .tgz)
    /// gets the whole model, data included [default: standard output].
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// The notation of the result [default: by the extension of PATH; else nnef, and for models of ONNX their
    /// own].
    #[arg(long, value_name = "NOTATION")]
    pub(crate) to: Option<To>,
    /// The number of threads that write the result; the result is the same with any number [default: all
    /// processors].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Write the source location and the enclosing calls of each operation to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) source_map: Option<PathBuf>,
    /// Record the functions that each node of a model of ONNX was copied from, as metadata of the node.
    #[arg(long)]
    pub(crate) provenance: bool,
    /// Write types, shapes, modules and places in the source as a comment beside each statement of NNEF; into a model of
    /// ONNX the types and shapes of all values, as far as they follow from its operators.
    #[arg(long)]
    pub(crate) annotate: bool,
    /// Write repeated structure once, as fragments of NNEF or functions of a model of ONNX, and calls of them.
    #[arg(long)]
    pub(crate) outline: bool,
    /// Compute operations on constants; their results become constants.
    #[arg(long)]
    pub(crate) fold: bool,
    /// Merge equal operations; of equal tensors that the document names, each keeps its operation.
    #[arg(long)]
    pub(crate) share: bool,
    /// Remove reshapes and transposes that move nothing in memory, and join chains of others; names of
    /// tensors between them are lost.
    #[arg(long)]
    pub(crate) drop_bitcasts: bool,
    /// Assign a layout to a tensor, as in x={0,1:T(8,128)}, or to all tensors of its rank, as in {1,0}:
    /// --to json and html show it, --stats and --drop-bitcasts use it; repeatable.
    #[arg(long, value_name = "[NAME=]LAYOUT")]
    pub(crate) layout: Vec<String>,
    /// Write the number of operations of each kind, of parameters, multiplications and activations to standard error, also
    /// by module.
    #[arg(long)]
    pub(crate) stats: bool,
}

impl Output {
    /// The passes over the graph or the model.
    pub(super) fn passes(&self) -> Passes {
        let Output { fold, share, annotate, outline, drop_bitcasts, .. } = *self;
        Passes { fold, share, annotate, outline, drop_bitcasts }
    }

    /// Whether passes over the flat graph are requested.
    pub(crate) fn has_passes(&self) -> bool {
        self.fold || self.share || self.drop_bitcasts || !self.layout.is_empty()
    }
}

/// How the result is compared with its source.
#[derive(Args, Debug, Default)]
pub(crate) struct Verification {
    /// Evaluate the source and the result on the same inputs, and report the largest difference.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Inputs for --verify: .npz, .npy or JSON; the others are random.
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,
    /// The seed of random inputs, and of variables without data [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// The arguments of `diff`.
#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// An input in any notation, `-` for standard input, or a model with the data of its variables.
    #[arg(value_name = "A")]
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
    /// A document, `-` for standard input, or a model with the data of its variables.
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

/// How documents are read and expanded.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Language {
    /// The notation of the input [default: auto].
    #[arg(long, value_name = "NOTATION")]
    pub(crate) from: Option<From>,
    /// The part of a model that an ONNX text contains [default: model].
    #[arg(long, value_name = "PART")]
    pub(crate) production: Option<Production>,
    /// What to expand: custom fragments and functions (default), standard compounds too, nothing, or
    /// only the named operations.
    #[arg(long, value_name = "custom|all|none|NAME,…", value_parser = lower)]
    pub(crate) lower: Option<Lower>,
    /// Operations that are not expanded.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = operation)]
    pub(crate) keep: Vec<String>,
    /// Accept only what the standard allows: tolerated deviations become errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// A file of additional declarations, which may replace standard ones; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) fragments: Vec<PathBuf>,
    /// Override the shape of a graph input, as in image=1,3,224,224 or tokens=1,S; repeatable.
    #[arg(long, value_name = "NAME=SHAPE", value_parser = input_shape)]
    pub(crate) input_shape: Vec<(String, Vec<Extent>)>,
    /// Give a dimension symbol a value, as in S=5, or an expression on others, as in T=2*S+1; repeatable.
    #[arg(long, value_name = "SYMBOL=N", value_parser = symbol)]
    pub(crate) set: Vec<(String, Extent)>,
    /// Make a graph input a constant with this value: JSON, as in rate=16000 or mask=[1,0], or a .npy file; repeatable.
    #[arg(long, value_name = "NAME=VALUE|FILE", value_parser = binding)]
    pub(crate) bind: Vec<(String, String)>,
    /// Keep only what these tensors of the flat graph need; they become the outputs.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) outputs: Vec<String>,
    /// Make these tensors of the flat graph inputs, and drop what only they need.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) inputs_at: Vec<String>,
    /// Keep operations that no output needs.
    #[arg(long)]
    pub(crate) keep_unused: bool,
    /// Unroll loops and scans.
    #[arg(long)]
    pub(crate) unroll: bool,
    /// The maximum number of trips of a loop whose trip count depends on run-time data [default: none].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_trips: Option<u64>,
    /// Refuse loops that cannot be unrolled.
    #[arg(long)]
    pub(crate) flat: bool,
    /// Limits on the resources of a run.
    #[command(flatten)]
    pub(crate) limits: RunLimits,
    /// The subcommand, and all options that are given.
    #[arg(skip)]
    pub(crate) asked: Asked,
    /// Whether all findings are kept.
    #[arg(skip)]
    pub(crate) all_findings: bool,
}

impl Language {
    /// Refuses options that contradict each other, or that have no effect on an input in a notation; without one, on
    /// what the subcommand does.
    ///
    /// # Errors
    ///
    /// The contradiction, or the first option without an effect.
    pub(crate) fn usable(&self, from: Option<&Notation>) -> Result<(), Failure> {
        self.consistent()?;
        self.asked.usable(from, self)
    }

    fn consistent(&self) -> Result<(), Failure> {
        let fail = |message: String| Err(Failure::Message(message));
        if let Some(Lower::Names(names)) = &self.lower
            && let Some(name) = names.iter().find(|name| self.keep.contains(name))
        {
            return fail(format!("--lower and --keep both name `{name}`: an operation is either expanded or kept"));
        }
        if let Some(name) = twice(&self.bind, |_, _| true) {
            return fail(format!("--bind gives two values for `{name}`"));
        }
        if let Some(name) = twice(&self.input_shape, |shape, before| shape != before) {
            return fail(format!("--input-shape gives two shapes for `{name}`"));
        }
        if let Err(conflict) = self.shapes().resolved() {
            return fail(format!("--set gives {conflict}"));
        }
        Ok(())
    }

    /// Moves diagnostics about names in the options to the options, which `add` makes a source.
    pub(crate) fn locate(&self, found: &mut Diagnostics, mut add: impl FnMut(&str, &str) -> FileId) {
        let lowered = match &self.lower {
            Some(Lower::Names(names)) => names.as_slice(),
            _ => &[],
        };
        let named = [("--lower", lowered), ("--keep", &self.keep)];
        for diagnostic in found.iter_mut().filter(|found| found.code == Code::OptionOperation) {
            let mut names = named.iter().flat_map(|(option, names)| names.iter().map(move |name| (*option, name)));
            if let Some((option, name)) = names.find(|(_, name)| Options::unknown(name) == diagnostic.message) {
                let span = Span::new(0, name.len() as u32);
                diagnostic.at = Location::new(add(option, name), span);
            }
        }
    }

    /// The options of the library, without declaration files.
    pub(crate) fn options(&self) -> Options {
        Options {
            strict: self.strict,
            lower: self.lower.clone().unwrap_or_default(),
            dialect: self.from.and_then(|from| from.0?.dialect),
            keep: self.keep.clone(),
            keep_unused: self.keep_unused,
            shapes: self.shapes(),
            unroll: self.unroll,
            max_trips: self.max_trips,
            flat: self.flat,
            ..self.limits.options()
        }
        .with(|options| {
            options.internal.all_findings = self.all_findings;
            options.internal.cut = Cut { inputs: self.inputs_at.clone(), outputs: self.outputs.clone() };
        })
    }

    /// The settings of the library, without declaration files.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            model: self.limits.model(),
            evaluation: self.limits.evaluation(),
            data_count: self.limits.data_count(),
            production: self.production.unwrap_or_default(),
            ..Settings::new(&self.options())
        }
    }

    /// The shapes of inputs and values of symbols.
    pub(crate) fn shapes(&self) -> GivenShapes {
        GivenShapes { inputs: self.input_shape.clone(), symbols: self.set.clone() }
    }

    /// These options and those given after a subcommand, which take precedence.
    pub(crate) fn merge(mut self, later: Language) -> Language {
        self.keep.extend(later.keep);
        self.fragments.extend(later.fragments);
        self.input_shape.extend(later.input_shape);
        self.set.extend(later.set);
        self.bind.extend(later.bind);
        self.outputs.extend(later.outputs);
        self.inputs_at.extend(later.inputs_at);
        Language {
            from: later.from.or(self.from),
            production: later.production.or(self.production),
            lower: later.lower.or(self.lower),
            strict: later.strict || self.strict,
            keep_unused: later.keep_unused || self.keep_unused,
            unroll: later.unroll || self.unroll,
            max_trips: later.max_trips.or(self.max_trips),
            flat: later.flat || self.flat,
            limits: self.limits.merge(later.limits),
            asked: self.asked,
            all_findings: self.all_findings || later.all_findings,
            keep: self.keep,
            fragments: self.fragments,
            input_shape: self.input_shape,
            set: self.set,
            bind: self.bind,
            outputs: self.outputs,
            inputs_at: self.inputs_at,
        }
    }
}

/// The first name that is given twice, with values that differ.
fn twice<T>(given: &[(String, T)], differ: impl Fn(&T, &T) -> bool) -> Option<&str> {
    let again = |(i, (name, value)): &(usize, &(String, T))| {
        given[..*i].iter().any(|(other, before)| name == other && differ(value, before))
    };
    given.iter().enumerate().find(again).map(|(_, (name, _))| name.as_str())
}

fn lower(text: &str) -> Result<Lower, String> {
    Ok(match text {
        "custom" => Lower::Custom,
        "all" => Lower::All,
        "none" => Lower::None,
        names => Lower::Names(names.split(',').map(operation).collect::<Result<_, _>>()?),
    })
}

/// The name of an operation. Notations differ in what a name is (`local.dense:v2`, `aten::relu`, `a-b`), so that only
/// the document states whether there is such an operation.
fn operation(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_wrong = |c: char| c.is_control() || c == ',';
    if name.is_empty() || name.contains(is_wrong) {
        return Err(format!("`{}` is not the name of an operation", name.escape_debug()));
    }
    Ok(name.to_owned())
}

fn binding(text: &str) -> Result<(String, String), String> {
    let form = "expected NAME=VALUE, as in rate=16000 or mask=mask.npy";
    let (input, value) = text.split_once('=').ok_or(form)?;
    Ok((input_name(input).ok_or(form)?, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(args: &str) -> Result<Cli, clap::Error> {
        crate::cli::usage::parse_words(args)
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_stand_anywhere() {
        for args in
            ["--from nnef --lower all --keep-unused --to json -", "- --from nnef --lower=all --to json --keep-unused"]
        {
            let cli = parse(args).unwrap();
            assert_eq!(cli.input, Some(PathBuf::from("-")));
            assert_eq!(cli.language.from.and_then(|from| from.0).map(|from| from.name), Some("nnef"));
            assert_eq!(cli.language.lower, Some(Lower::All));
            assert_eq!(cli.output.to.map(|to| to.0.name), Some("json"));
            assert!(cli.language.keep_unused && cli.command.is_none());
        }
        for args in [
            "check --strict --message-format json -",
            "--strict --message-format json check -",
            "check - --strict --message-format=json",
        ] {
            let cli = parse(args).unwrap();
            assert_eq!(cli.reporting.message_format, MessageFormat::Json);
            let Some(Command::Check { inputs, language, .. }) = cli.command else { panic!("{args}") };
            assert!(cli.language.merge(language).strict);
            assert_eq!(inputs, [PathBuf::from("-")]);
        }
    }

    #[test]
    fn values_are_read() {
        let shapes = "--input-shape x=1,3,224,224 --input-shape y=";
        let cli = parse(&format!("m --lower gelu,conv --keep a,b --keep c {shapes}")).unwrap();
        assert_eq!(cli.language.lower, Some(Lower::Names(vec!["gelu".into(), "conv".into()])));
        assert_eq!(cli.language.keep, ["a", "b", "c"]);
        let shape = [1, 3, 224, 224].map(Extent::from).to_vec();
        assert_eq!(cli.language.input_shape, [("x".to_owned(), shape), ("y".to_owned(), vec![])]);
        for wrong in [
            "--lower a,,b",
            "--keep a,,b",
            "--input-shape x",
            "--input-shape x=1,-2",
            "--max-ops 0",
            "--from onnxx",
            "--color red",
        ] {
            assert_eq!(parse(wrong).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }
}
