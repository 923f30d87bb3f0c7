//! The arguments of `layout`.

use std::fmt;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::cli::limits::RunLimits;
use crate::tensor::PaddingValue;

pub(super) const USAGE: &str = "nnef-flatten layout [OPTIONS] SHAPE\n       nnef-flatten layout [OPTIONS] -- SHAPE\n       \
    nnef-flatten layout [OPTIONS] -";

pub(super) const EXAMPLES: &str = "\
Examples:
  nnef-flatten layout 'f32[3,5]{1,0:T(2,2)}'               sizes, waste, and a drawing of the memory
  nnef-flatten layout 'bf16[8,100]{1,0:T(8,128)(2,1)}' --index 7,99
                                                           where an element is
  nnef-flatten layout 'f32[2,3]{0,1}' --padded 3,5 --to nnef
                                                           the memory as pad, transpose, reshape
  nnef-flatten layout 'f32[3,4]{1,0}' --reshape 'f32[12]'  whether a reshape moves anything
  nnef-flatten layout 'f32[2,3]{1,0}' --transpose 'f32[3,2]{0,1}' --permutation 1,0
                                                           the same of a transposition
  nnef-flatten layout - < module.hlo                       all shapes of a text by bytes and waste
  nnef-flatten layout --tpu-tiles - < module.mlir          the same with the tiles that a TPU would use";

/// The arguments of `layout`.
#[derive(Args, Debug)]
pub(crate) struct Layout {
    /// A shape such as 'f32[2,3]{1,0:T(8,128)}', or `-` to list the shapes in a text from standard input,
    /// such as a dump of HLO or StableHLO, largest first.
    pub(crate) shape: Option<String>,
    /// A shape, which may begin with a hyphen.
    #[arg(last = true, value_name = "SHAPE", hide = true, conflicts_with = "shape")]
    pub(crate) text: Option<String>,
    /// The output format; nnef is the memory of the array as primitive operations [default: text].
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Option<LayoutTo>,
    /// Give the default tiles of a TPU to shapes that are written without tiles, as XLA does.
    #[arg(long)]
    pub(crate) tpu_tiles: bool,
    /// Pad each dimension to a size.
    #[arg(long, value_name = "SIZES", value_parser = numbers)]
    pub(crate) padded: Option<Numbers>,
    /// The content of the padding [default: zero].
    #[arg(long, value_name = "VALUE")]
    pub(crate) padding_value: Option<Padding>,
    /// Show the position in memory of the element at an index, as in 1,2; for a scalar, (); repeatable.
    #[arg(long, value_name = "INDEX", value_parser = numbers)]
    pub(crate) index: Vec<Numbers>,
    /// List the element at each position in memory, by its number in row-major order.
    #[arg(long)]
    pub(crate) memory: bool,
    /// Show whether a reshape to this shape is a bitcast: it moves nothing in memory.
    #[arg(long, value_name = "SHAPE", conflicts_with = "transpose")]
    pub(crate) reshape: Option<String>,
    /// Show whether a transposition to this shape is a bitcast.
    #[arg(long, value_name = "SHAPE", requires = "permutation")]
    pub(crate) transpose: Option<String>,
    /// The dimension of the operand for each dimension of the result.
    #[arg(long, value_name = "DIMENSIONS", value_parser = numbers, requires = "transpose")]
    pub(crate) permutation: Option<Numbers>,
    /// Limits on the resources of a run.
    #[command(flatten)]
    pub(crate) limits: RunLimits,
}

impl Layout {
    /// Whether standard input has a text with shapes; otherwise an argument is one.
    pub(crate) fn is_text(&self) -> bool {
        self.text.is_none() && self.shape.as_deref().is_none_or(|shape| shape == "-")
    }
}

/// Forms of the description of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutTo {
    /// A table, with a drawing of small memories.
    Text,
    /// A JSON object.
    Json,
    /// A flat graph.
    Nnef,
}

/// The content of padding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Padding(pub(crate) PaddingValue);

impl ValueEnum for Padding {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Padding>> = LazyLock::new(|| PaddingValue::all().map(Padding).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// Numbers with commas between them, or `()` for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbers(pub(crate) Vec<u64>);

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(if numbers.is_empty() { "()" } else { "" })?;
        f.write_str(&numbers.join(","))
    }
}

pub(super) fn numbers(text: &str) -> Result<Numbers, String> {
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
    if inner.is_empty() {
        return Ok(Numbers(Vec::new()));
    }
    let number = |part: &str| {
        part.trim().parse::<u64>().map_err(|_| format!("`{part}` is not a number; expected numbers as in 1,2"))
    };
    inner.split(',').map(number).collect::<Result<_, _>>().map(Numbers)
}
