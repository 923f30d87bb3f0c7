//! Quantizations: `graph.quant` (5.3 of the 1.0.5 text).
//!
//! Each tensor that is stored in quantized form has an entry `"tensor": algorithm(arg = value, …);`. [`parse()`] reads
//! entries with their locations, [`check()`] resolves names, and [`Quantization::text`] returns the unchanged text of
//! the entries that are valid for a graph.

mod check;
mod parse;

use check::{channel_axis, check};
use parse::parse;

use rustc_hash::FxHashMap;

use crate::diagnostics::Diagnostics;
use crate::eval::Quantizations;
use crate::graph::{TensorId, Value};
use crate::source::{Span, without_mark};
use crate::{Document, Graph};

impl Document {
    /// Checks the text of a `graph.quant` against the document and its flat graph, and adds errors to
    /// `diagnostics`. Returns the text of the entries whose tensors the flat graph has; none if there are none,
    /// or if this check is the first to report an error.
    pub fn check_quant(
        &mut self,
        name: &str,
        text: &str,
        graph: &Graph,
        diagnostics: &mut Diagnostics,
    ) -> Option<String> {
        let text = without_mark(text);
        let (quantization, tensors) = self.read_quant((name, text), graph, diagnostics)?;
        quantization.text(text, |i| tensors[i].is_some())
    }

    /// The quantizations of a flat graph of the document for its evaluation, from the text of a `graph.quant`,
    /// which is checked as by [`Document::check_quant`]. None if there are errors.
    pub fn quantizations(
        &mut self,
        name: &str,
        text: &str,
        graph: &Graph,
        diagnostics: &mut Diagnostics,
    ) -> Option<Quantizations> {
        let text = without_mark(text);
        let (quantization, tensors) = self.read_quant((name, text), graph, diagnostics)?;
        let mut of = FxHashMap::default();
        for (entry, tensor) in quantization.entries.iter().zip(tensors) {
            let arguments = entry.arguments.iter().map(|argument| {
                let shape = tensor.and_then(|tensor| graph.shape(tensor));
                let axis = shape.and_then(|shape| channel_axis(&argument.value, shape)).unwrap_or(0);
                // An axis of extent 1 for each axis in front.
                let value = (0..axis).fold(argument.value.value(), |value, _| Value::list(vec![value]));
                (argument.name.clone(), value)
            });
            let mut arguments: Vec<(String, Value)> = arguments.collect();
            let is_symmetric = |argument: &QuantArgument| argument.name == SYMMETRIC;
            if WITH_SYMMETRIC.contains(&entry.algorithm.as_str()) && !entry.arguments.iter().any(is_symmetric) {
                arguments.push((SYMMETRIC.to_owned(), Value::Logical(false)));
            }
            let call = (entry.algorithm.clone(), arguments);
            of.extend(tensor.map(|tensor| (tensor, call)));
        }
        Some(Quantizations { declarations: self.own_fragments(), of })
    }

    /// Reads and checks the quantizations of a graph. Returns also the tensor of each entry, if the graph has
    /// it. None if this check is the first to report an error.
    fn read_quant(
        &mut self,
        (name, text): (&str, &str),
        graph: &Graph,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Quantization, Vec<Option<TensorId>>)> {
        let file = self.add_source(name, text.to_string());
        let before = diagnostics.has_errors();
        let quantization = parse(text, file, diagnostics);
        let tensors = check(&quantization, file, self, graph, diagnostics);
        let broken = !before && diagnostics.has_errors();
        (!broken).then_some((quantization, tensors))
    }
}

/// The parameter that tract does not write, since it has no symmetric codes.
const SYMMETRIC: &str = "symmetric";
/// The algorithms with this parameter.
const WITH_SYMMETRIC: [&str; 2] = ["min_max_linear_quantize", "zero_point_linear_quantize"];

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
    fn value(&self) -> Value {
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
