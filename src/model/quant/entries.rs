//! The entries of a `graph.quant`.

use crate::graph::Value;
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

impl Literal {
    /// The value as one of a graph.
    pub(super) fn value(&self) -> Value {
        match self {
            Literal::Integer(item) => Value::Int(*item),
            Literal::Scalar(item) => Value::Scalar(*item),
            Literal::Logical(item) => Value::Logical(*item),
            Literal::String(text) => Value::String(text.as_str().into()),
            Literal::Array(items) => Value::list(items.iter().map(Literal::value).collect()),
        }
    }
}

/// An argument of an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantArgument {
    /// The parameter.
    pub(crate) name: String,
    /// The location of the parameter's name.
    pub(crate) at: Span,
    /// The value.
    pub(crate) value: Literal,
    /// The location of the value.
    pub(crate) value_at: Span,
}

/// The quantization of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantEntry {
    /// The tensor.
    pub(crate) tensor: String,
    /// The location of its name, including quotes.
    pub(crate) tensor_at: Span,
    /// The algorithm.
    pub(crate) algorithm: String,
    /// The location of its name.
    pub(crate) algorithm_at: Span,
    /// The arguments.
    pub(crate) arguments: Vec<QuantArgument>,
    /// The location of the entry, from the name of the tensor to the semicolon.
    pub(crate) span: Span,
    /// The text that is written instead, if it is not that of the span; empty if the tensor is not quantized.
    pub(crate) instead: Option<String>,
}

/// The entries of a `graph.quant`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quantization {
    /// The entries in the order of the text.
    pub(crate) entries: Vec<QuantEntry>,
}

impl Quantization {
    /// The text without the entries that are not kept; none if no entry is kept. Lines that become empty are
    /// removed.
    pub(crate) fn text(&self, text: &str, kept: impl Fn(usize) -> bool) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let (mut at, mut left) = (0, 0);
        for (i, entry) in self.entries.iter().enumerate() {
            let range = entry.span.range();
            let instead = entry.instead.as_deref();
            let is_kept = kept(i) && instead != Some("");
            left += usize::from(is_kept);
            if is_kept && instead.is_none() {
                continue;
            }
            out.push_str(&text[at..range.start]);
            at = range.end;
            if let Some(written) = instead.filter(|_| is_kept) {
                out.push_str(written);
                continue;
            }
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
