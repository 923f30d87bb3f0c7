//! The arguments of `expr`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Language;
use super::layout::{Numbers, numbers};

pub(super) const USAGE: &str = "nnef-flatten expr [OPTIONS] TEXT\n       nnef-flatten expr [OPTIONS] -- TEXT\n       \
    nnef-flatten expr --fuse [OPTIONS] INPUT";

pub(super) const EXAMPLES: &str = "\
Examples:
  nnef-flatten expr 'mul(add(@0,@1),@2)'                   the expression as infix text, with its counts
  nnef-flatten expr --fold 'mul(@0,add(1,2))'              operations on literals computed
  nnef-flatten expr --compat 'mul(expm1,@0),log1p,@1'      a text without its brackets
  nnef-flatten expr 'sub(@0,@1)' --inputs operands.json    the value for operands
  nnef-flatten expr 'add(@0,@1)' --shape 2,3 --shape 3 --to nnef
                                                           as operations of NNEF
  nnef-flatten expr --fuse graph.nnef                      the element-wise regions of a graph";

/// The arguments of `expr`.
#[derive(Args, Debug)]
pub(crate) struct Expr {
    /// An expression such as 'mul(add(@0,@1),@2)', or `-` for one from standard input; with --fuse a
    /// document.
    pub(crate) text: Option<String>,
    /// An expression, whatever it begins with.
    #[arg(last = true, value_name = "TEXT", hide = true, conflicts_with = "text")]
    pub(crate) literal: Option<String>,
    /// The form of the answer; nnef, onnxtxt and pictures are of the expression as primitive operations
    /// [default: text].
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Option<ExprTo>,
    /// Compute operations on literals.
    #[arg(long)]
    pub(crate) fold: bool,
    /// Evaluate the expression on operands: a JSON array with operand k at place k.
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,
    /// How many sets of operands there are: those of operand k are at the places k*N to k*N+N-1
    /// [default: 1].
    #[arg(long, value_name = "N", requires = "inputs")]
    pub(crate) batch: Option<NonZeroUsize>,
    /// How many operands there are [default: those that occur].
    #[arg(long, value_name = "N")]
    pub(crate) arity: Option<u64>,
    /// Read texts whose brackets are wrong by the numbers of operands alone.
    #[arg(long)]
    pub(crate) compat: bool,
    /// The shape of the next operand, as in 2,3; of a scalar, (); repeatable [default: 1].
    #[arg(long, value_name = "SHAPE", value_parser = numbers)]
    pub(crate) shape: Vec<Numbers>,
    /// Make equal operations one when expanding.
    #[arg(long)]
    pub(crate) share: bool,
    /// Fuse the element-wise operations of a document into expressions.
    #[arg(long, conflicts_with_all = ["fold", "inputs", "arity", "compat", "shape", "share"])]
    pub(crate) fuse: bool,
    /// Fuse operations that are used several times into each use, so that they are computed again.
    #[arg(long, requires = "fuse")]
    pub(crate) recompute: bool,
    /// How documents are read and expanded.
    #[command(flatten)]
    pub(crate) language: Language,
}

/// Forms of the description of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExprTo {
    /// Lines for people.
    Text,
    /// An object.
    Json,
    /// A flat graph.
    Nnef,
    /// The same as a model of ONNX, as text.
    Onnxtxt,
    /// A picture of that graph in the notation of Graphviz.
    Dot,
    /// A picture of that graph.
    Svg,
}
