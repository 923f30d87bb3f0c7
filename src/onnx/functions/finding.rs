//! A finding about a node, with the calls around it.

use crate::diagnostics::{Code, Diagnostics, TraceFrame};
use crate::onnx::places::Places;
use crate::source::{FileId, Location, Span};

/// A finding about a node.
#[derive(Clone, Debug)]
pub(in crate::onnx) struct NodeFinding {
    pub(in crate::onnx) code: Code,
    pub(in crate::onnx) at: u32,
    pub(in crate::onnx) message: String,
    pub(in crate::onnx) help: Option<String>,
    /// The calls around it, the innermost first: function, and location of the call.
    pub(in crate::onnx) calls: Vec<(String, u32)>,
}

impl NodeFinding {
    pub(in crate::onnx) fn new(code: Code, at: u32, message: String) -> Self {
        NodeFinding { code, at, message, help: None, calls: Vec::new() }
    }

    /// What is wrong with a text that is not in the file, as a finding about the node that needs it.
    pub(in crate::onnx) fn of(found: Diagnostics, at: u32) -> Self {
        let first = found.iter().next().map(|found| (found.code, found.message.clone()));
        let (code, message) = first.unwrap_or((Code::OnnxSyntax, String::new()));
        NodeFinding::new(code, at, message)
    }

    pub(in crate::onnx) fn help(mut self, help: &str) -> Self {
        self.help = Some(help.to_owned());
        self
    }

    /// The finding with a help text that names the inputs which decide whether its graph runs.
    pub(in crate::onnx) fn deciding(self, inputs: &[String]) -> Self {
        let named: Vec<String> = inputs.iter().map(|input| format!("`{input}`")).collect();
        match named.is_empty() {
            true => self,
            false => self.help(&format!("give a value with --bind, to decide whether it runs: {}", named.join(", "))),
        }
    }

    /// The finding with the calls around it, the innermost first.
    pub(in crate::onnx) fn within(self, calls: Vec<(String, u32)>) -> Self {
        NodeFinding { calls, ..self }
    }

    /// Its message.
    pub(in crate::onnx) fn message(&self) -> &str {
        &self.message
    }

    /// Its code, message and help.
    pub(in crate::onnx) fn told(self) -> (Code, String, Option<String>) {
        (self.code, self.message, self.help)
    }

    pub(in crate::onnx) fn report(self, file: FileId, places: &Places, diagnostics: &mut Diagnostics) {
        let place = |at: u32| Location::new(file, Span::new(at, at));
        let mut diagnostic = places.diagnostic(self.code, file, self.at, self.message).help_if(self.help);
        let frame = |(fragment, at): (String, u32)| TraceFrame { fragment, at: place(at) };
        diagnostic.expansion.extend(self.calls.into_iter().map(frame));
        diagnostics.report(diagnostic);
    }
}
