//! The quantizations of a document.

use rustc_hash::FxHashMap;

use super::check::{channel_axis, check};
use super::entries::{QuantArgument, Quantization};
use super::older;
use super::parse::parse;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::Quantizations;
use crate::graph::{TensorId, Value};
use crate::source::{FileId, Location, without_mark};
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
        let (quantization, tensors) = self.read_quant(name, text, graph, diagnostics)?;
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
        let (quantization, tensors) = self.read_quant(name, text, graph, diagnostics)?;
        let mut of = FxHashMap::default();
        let of_tensors =
            quantization.entries.iter().zip(tensors).filter(|(entry, _)| entry.instead.as_deref() != Some(""));
        for (entry, tensor) in of_tensors {
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

    /// Writes entries of older converters with the algorithms of the standard. A declaration of their algorithm is not
    /// needed, though `--strict` demands one.
    fn standardize(&self, quantization: &mut Quantization, text: &str, file: FileId, diagnostics: &mut Diagnostics) {
        let of_older = quantization.entries.iter_mut().filter(|entry| entry.algorithm == older::NAME);
        let is_declared = self.names().get(older::NAME).is_some_and(|name| {
            self.modules().iter().any(|module| module.fragments.iter().any(|fragment| fragment.name.name == name))
        });
        for entry in of_older {
            let at = Location::new(file, entry.algorithm_at);
            older::standardize(entry, text);
            if !is_declared && entry.algorithm != older::NAME {
                let message = format!("`{}` is not declared: it is read as `{}`", older::NAME, entry.algorithm);
                diagnostics.report(Diagnostic::new(Code::QuantAlgorithm, at, message));
            }
        }
    }

    /// Reads and checks the quantizations of a graph. Returns also the tensor of each entry, if the graph has
    /// it. None if this check is the first to report an error.
    fn read_quant(
        &mut self,
        name: &str,
        text: &str,
        graph: &Graph,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Quantization, Vec<Option<TensorId>>)> {
        let file = self.add_source(name, text.to_string());
        let before = diagnostics.has_errors();
        let mut quantization = parse(text, file, diagnostics);
        self.standardize(&mut quantization, text, file, diagnostics);
        let tensors = check(&quantization, file, self, graph, diagnostics);
        let broken = !before && diagnostics.has_errors();
        (!broken).then_some((quantization, tensors))
    }
}

/// The parameter that tract does not write, since it has no symmetric codes.
const SYMMETRIC: &str = "symmetric";

/// The algorithms with this parameter.
const WITH_SYMMETRIC: [&str; 2] = ["min_max_linear_quantize", "zero_point_linear_quantize"];
