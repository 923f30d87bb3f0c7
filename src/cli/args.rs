//! The arguments, as `clap` reads them.

mod expr;
mod language;
mod layout;
mod notation;
mod opset;
mod reporting;
mod rule;
mod size;
mod streams;
mod subcommands;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::input::settings::Passes;
use crate::onnx::{RuleId, UsedRules};
use clap::{Args, Parser, Subcommand};

use super::limits::RunLimits;
use super::options::Commands;
pub(crate) use expr::{Expr, ExprTo};
pub(crate) use language::Language;
pub(crate) use layout::{Layout, LayoutTo, Numbers};
pub(crate) use notation::{From, To};
pub(crate) use opset::opset;
pub(crate) use reporting::{Level, MessageFormat, Reporting, Warnings};
pub(crate) use rule::{MergeRule, Rule};
pub(crate) use size::size;
pub(crate) use subcommands::*;

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
/// functions, files of PNNX with expressions, texts of ncnn, and networks with loops, and writes the
/// flat graph that they describe.
#[derive(Debug, Parser)]
#[command(name = "nnef-flatten", version, after_help = "See --help for examples.", after_long_help = EXAMPLES)]
#[command(subcommand_help_heading = "Subcommands", subcommand_value_name = "SUBCOMMAND")]
#[command(override_usage = USAGE)]
pub(crate) struct Cli {
    /// What to do instead of flattening.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// A document of NNEF 1.0 or of the provisional NNEF, a model of ONNX in protobuf or as text (.onnx,
    /// .onnxtxt), a file of PNNX (.pnnx.param), a text of ncnn (.param), a network with loops (JSON), or `-` for
    /// standard input; or an NNEF model: a folder with a graph.nnef, a .tar, a .tgz.
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
    /// The limits, those after the subcommand included.
    pub(crate) fn limits(&self) -> RunLimits {
        let later = match &self.command {
            Some(Command::Check(Tabled(check))) => &check.language.limits,
            Some(Command::Diff(Tabled(diff))) => &diff.language.limits,
            Some(Command::Run(Tabled(run))) => &run.language.limits,
            Some(Command::Expr(Tabled(expr))) => &expr.language.limits,
            Some(Command::Layout(Tabled(layout))) => &layout.limits,
            Some(Command::Fmt(Tabled(fmt))) => &fmt.limits,
            _ => return self.language.limits.clone(),
        };
        self.language.limits.clone().merge(later.clone())
    }

    /// The subcommand as the table of options knows it; none for one that takes no options.
    pub(crate) fn commands(&self) -> Option<Commands> {
        Some(match &self.command {
            None => Commands::FLATTEN,
            Some(Command::Check(_)) => Commands::CHECK,
            Some(Command::Diff(_)) => Commands::DIFF,
            Some(Command::Run(_)) => Commands::RUN,
            Some(Command::Fmt(_)) => Commands::FMT,
            Some(Command::Expr(Tabled(expr))) if expr.fuse => Commands::FUSE,
            Some(Command::Expr(_)) => Commands::EXPR,
            Some(Command::Layout(Tabled(layout))) if layout.is_text() => Commands::LISTING,
            Some(Command::Layout(_)) => Commands::LAYOUT,
            #[cfg(feature = "lsp")]
            Some(Command::Lsp(_)) => Commands::LSP,
            Some(Command::Explain(_)) => Commands::EXPLAIN,
            Some(Command::Completions(_)) => Commands::COMPLETIONS,
            Some(Command::Man(_)) => Commands::MAN,
            Some(Command::Complete(_)) => return None,
        })
    }
}

/// The subcommands. The arguments of each are only made when it is asked for.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Check inputs completely, expansion included, without writing a result; the findings are on standard output.
    Check(Tabled<Check>),
    /// Format documents: files in place, `-` from standard input to standard output.
    Fmt(Tabled<Fmt>),
    /// Compare two inputs: the operations, attributes, shapes, types and data that differ; exit status 1 if any do.
    ///
    /// Names of inner tensors do not count. Inputs in notations with other operations are compared as graphs of NNEF.
    Diff(Tabled<Diff>),
    /// Evaluate a document, a model of ONNX, a file of PNNX, a text of ncnn or a network with loops on given inputs.
    Run(Tabled<Run>),
    /// Show where the elements of an array are in memory: shapes and layouts of XLA.
    #[command(after_long_help = layout::EXAMPLES, override_usage = layout::USAGE)]
    Layout(Tabled<Layout>),
    /// Read an expression of PNNX: check, fold, evaluate or expand it; or fuse a graph into expressions.
    #[command(after_long_help = expr::EXAMPLES, override_usage = expr::USAGE)]
    Expr(Tabled<Expr>),
    /// Serve an editor on standard input and output, by the Language Server Protocol: documents of NNEF and texts of
    /// ONNX.
    ///
    /// Without --limits, texts have the limits of --limits untrusted.
    #[cfg(feature = "lsp")]
    Lsp(Tabled<Lsp>),
    /// Explain a diagnostic code or a rule of --simplify or --merge, or list the codes of a rule.
    Explain(Tabled<Explain>),
    /// Write a completion script for a shell.
    Completions(Tabled<Completions>),
    /// Write a manual page: of the command, or of a subcommand.
    Man(Tabled<Man>),
    /// List the completions of the last of some words; the completion scripts call it.
    #[command(hide = true, disable_help_flag = true)]
    Complete(Tabled<Complete>),
}

/// Where the result goes, and as what.
#[derive(Args, Debug)]
pub(crate) struct Output {
    /// Write the result to this file, or as a whole model into a folder (out/) or archive (.tar, .tgz).
    ///
    /// A file is written completely or not at all; a whole model has its data [default: standard output].
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// The notation of the result [default: by the extension of PATH].
    ///
    /// Without an extension it is nnef, and for models of ONNX their own.
    #[arg(long, value_name = "NOTATION")]
    pub(crate) to: Option<To>,
    /// The number of threads that write the result [default: all processors].
    ///
    /// The result is the same with any number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Write the source location and the enclosing calls of each operation to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) source_map: Option<PathBuf>,
    /// Record the functions that each node of a model of ONNX was copied from, as metadata of the node.
    #[arg(long)]
    pub(crate) provenance: bool,
    /// Write types and shapes beside each statement of NNEF, or into a model of ONNX.
    ///
    /// Comments of NNEF also have modules and places in the source. A model of ONNX gets the types and shapes of all
    /// values, as far as they follow from its operators.
    #[arg(long)]
    pub(crate) annotate: bool,
    /// Write repeated structure once, as fragments of NNEF or functions of a model of ONNX, and calls of them.
    #[arg(long)]
    pub(crate) outline: bool,
    /// Compute operations on constants; their results become constants.
    #[arg(long)]
    pub(crate) fold: bool,
    /// Merge equal operations.
    ///
    /// Of equal tensors that are outputs, or that a document of NNEF names, each keeps its operation.
    #[arg(long)]
    pub(crate) share: bool,
    /// Remove and join what changes no result, exactly; --fold and --share are parts of it.
    ///
    /// Names of inputs and outputs are kept. With names of rules only these are used; docs/simplify.md lists them.
    #[arg(long, value_name = "RULE,…", num_args = 0.., require_equals = true, value_delimiter = ',', value_enum)]
    #[arg(hide_possible_values = true)]
    pub(crate) simplify: Option<Vec<Rule>>,
    /// Rules that --simplify does not use.
    #[arg(long, value_name = "RULE,…", value_delimiter = ',', value_enum, hide_possible_values = true)]
    pub(crate) simplify_except: Vec<Rule>,
    /// Merge normalizations, scales and sums into the weights of a model of ONNX, which changes rounding.
    ///
    /// --verify tells the largest difference. With names of rules only these are used; docs/simplify.md lists them.
    #[arg(long, value_name = "RULE,…", num_args = 0.., require_equals = true, value_delimiter = ',', value_enum)]
    #[arg(hide_possible_values = true)]
    pub(crate) merge: Option<Vec<MergeRule>>,
    /// Write a model of ONNX for another version of the standard operator set, later or earlier.
    ///
    /// What the version cannot express is refused, node by node.
    #[arg(long, value_name = "VERSION", value_parser = opset)]
    pub(crate) opset: Option<i64>,
    /// Tensors of the flat model that --simplify, --fold, --share and --merge keep, with what computes them.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) keep_tensors: Vec<String>,
    /// The most bytes by which a constant that is computed may be larger than what it replaces
    /// [default: 1KiB, and 0 in a quantized model].
    ///
    /// Operations with larger results stay in a model of ONNX.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) fold_growth: Option<u64>,
    /// Remove reshapes and transposes that move nothing in memory, and join chains of others.
    ///
    /// Names of tensors between them are lost.
    #[arg(long)]
    pub(crate) drop_bitcasts: bool,
    /// Assign a layout to a tensor, as in x={0,1:T(8,128)}, or to all of its rank, as in {1,0}; repeatable.
    ///
    /// --to json and html show it, --stats and --drop-bitcasts use it.
    #[arg(long, value_name = "[NAME=]LAYOUT")]
    pub(crate) layout: Vec<String>,
    /// Count operations, parameters, multiply-adds and memory, on standard error.
    ///
    /// They are counted for each kind of operation, before and after flattening, and for each module.
    #[arg(long)]
    pub(crate) stats: bool,
}

impl Output {
    /// The passes over the graph or the model.
    pub(super) fn passes(&self) -> Passes {
        let Output { fold, share, annotate, outline, drop_bitcasts, fold_growth, opset, .. } = *self;
        let rules = |rules: &[Rule]| rules.iter().map(|rule| rule.0).collect::<Vec<RuleId>>();
        let used = self.simplify.as_ref().map(|used| UsedRules::of(&rules(used), &rules(&self.simplify_except)));
        let merged =
            |used: &Vec<MergeRule>| UsedRules::merging(&used.iter().map(|rule| rule.0).collect::<Vec<RuleId>>());
        let merge = self.merge.as_ref().map(merged);
        Passes { fold, share, simplify: used, merge, annotate, outline, drop_bitcasts, fold_growth, opset }
    }
}

/// How the result is compared with its source.
#[derive(Args, Debug, Default)]
pub(crate) struct Verification {
    /// Read the result back, evaluate it and the source on the same inputs, and report the largest difference.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Inputs for --verify: .npz, .npy or JSON; the others are random.
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,
    /// The seed of random inputs, and of variables without data [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lower;
    use crate::graph::Extent;
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
            let Some(Command::Check(Tabled(Check { inputs, language, .. }))) = cli.command else { panic!("{args}") };
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
