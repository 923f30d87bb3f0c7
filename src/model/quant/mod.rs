//! Quantizations: `graph.quant` (5.3 of the 1.0.5 text).
//!
//! A line `"tensor": algorithm(arg = value, …);` for each tensor that is stored in quantized form.
//! [`parse`] reads them with their places, [`check`] resolves their names, and [`Quantization::text`]
//! gives the text of those that are valid for a graph, every byte of them as it was.

mod check;
mod parse;

pub(crate) use check::check;
pub(crate) use parse::parse;

use crate::source::Span;

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    /// An integer.
    Integer(i64),
    /// A scalar.
    Scalar(f64),
    /// `true` or `false`.
    Logical(bool),
    /// A string.
    String(String),
    /// An array: a value for each channel.
    Array(Vec<Literal>),
}

/// An argument of an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantArgument {
    /// The parameter.
    pub(crate) name: String,
    /// Where the parameter is named.
    pub(crate) at: Span,
    /// The value.
    pub(crate) value: Literal,
    /// Where the value is.
    pub(crate) value_at: Span,
}

/// How a tensor is quantized.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantEntry {
    /// The tensor.
    pub(crate) tensor: String,
    /// Where it is named, quotes included.
    pub(crate) tensor_at: Span,
    /// The algorithm.
    pub(crate) algorithm: String,
    /// Where it is named.
    pub(crate) algorithm_at: Span,
    /// The arguments.
    pub(crate) arguments: Vec<QuantArgument>,
    /// From the name of the tensor to the semicolon.
    pub(crate) span: Span,
}

/// The entries of a `graph.quant`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quantization {
    /// In the order of the text.
    pub(crate) entries: Vec<QuantEntry>,
}

impl Quantization {
    /// The text of the entries that are kept, with all that stands between them; none if no entry
    /// is left. Lines on which nothing is left are taken out.
    pub(crate) fn text(&self, text: &str, kept: impl Fn(usize) -> bool) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let (mut at, mut left) = (0, 0);
        for (i, entry) in self.entries.iter().enumerate() {
            let range = entry.span.range();
            if kept(i) {
                left += 1;
                continue;
            }
            out.push_str(&text[at..range.start]);
            at = range.end;
            let line = out.rfind('\n').map_or(0, |end| end + 1);
            let rest = &text[at..];
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            if out[line..].trim().is_empty() && rest[..end].trim().is_empty() {
                out.truncate(line);
                at += end;
            }
        }
        out.push_str(&text[at..]);
        (left > 0).then_some(out)
    }
}
