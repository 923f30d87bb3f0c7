//! The arguments of `expr`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
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
    /// An expression, which may begin with a hyphen.
    #[arg(last = true, value_name = "TEXT", hide = true, conflicts_with = "text")]
    pub(crate) literal: Option<String>,
    /// The output format; nnef, onnxtxt and pictures are of the expression as primitive operations
    /// [default: text].
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Option<ExprTo>,
    /// Compute operations on literals.
    #[arg(long)]
    pub(crate) fold: bool,
    /// Evaluate the expression on operands: a JSON array with operand k at position k.
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,
    /// The number N of sets of operands; operand k of each set is at the positions k*N to k*N+N-1
    /// [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<NonZeroUsize>,
    /// The number of operands [default: those that occur].
    #[arg(long, value_name = "N")]
    pub(crate) arity: Option<u64>,
    /// Accept mismatched brackets: read texts by the numbers of operands only.
    #[arg(long)]
    pub(crate) compat: bool,
    /// The shape of the next operand, as in 2,3; of a scalar, (); repeatable [default: 1 for
    /// an input of a graph, otherwise not known].
    #[arg(long, value_name = "SHAPE", value_parser = numbers)]
    pub(crate) shape: Vec<Numbers>,
    /// Merge equal operations when expanding.
    #[arg(long)]
    pub(crate) share: bool,
    /// Fuse the element-wise operations of a document into expressions.
    #[arg(long)]
    pub(crate) fuse: bool,
    /// Fuse operations that are used several times into each use, so that they are computed again.
    #[arg(long)]
    pub(crate) recompute: bool,
    /// How documents are read and expanded.
    #[command(flatten)]
    pub(crate) language: Language,
}

/// Forms of the description of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExprTo {
    Text,
    Json,
    /// Its flat graph, in the output notation with a name.
    Graph(&'static str),
}

/// All forms, with their descriptions.
const FORMS: &[(ExprTo, &str)] = &[
    (ExprTo::Text, "Text"),
    (ExprTo::Json, "A JSON object"),
    (ExprTo::Graph("nnef"), "A flat graph"),
    (ExprTo::Graph("onnxtxt"), "The flat graph as an ONNX model, as text"),
    (ExprTo::Graph("dot"), "A picture of the flat graph in the notation of Graphviz"),
    (ExprTo::Graph("svg"), "A picture of the flat graph"),
];

impl ValueEnum for ExprTo {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ExprTo>> = LazyLock::new(|| FORMS.iter().map(|(form, _)| *form).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (_, help) = FORMS.iter().find(|(form, _)| form == self)?;
        let name = match self {
            ExprTo::Text => "text",
            ExprTo::Json => "json",
            ExprTo::Graph(name) => name,
        };
        Some(PossibleValue::new(name).help(*help))
    }
}
