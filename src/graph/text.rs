//! Flat graphs as NNEF text.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use super::{Graph, KeptFragment, Key, Operand, Operation, Output, Value, pieces};
use crate::nnef::dialect::Dialect;
use crate::nnef::literals::{push_int, push_scalar, push_string};

/// Writes a whole document: comments at its head, version, extensions, kept fragments, graph.
pub fn write_document(graph: &Graph, out: &mut dyn Write, threads: NonZeroUsize) -> io::Result<()> {
    let mut head = String::new();
    graph.comments.iter().for_each(|line| push(&mut head, &[line, "\n"]));
    head.push_str(if graph.dialect == Dialect::Draft { "version 1.0\n\n" } else { "version 1.0;\n\n" });
    for extension in &graph.extensions {
        push(&mut head, &["extension ", extension, ";\n"]);
    }
    if !graph.extensions.is_empty() {
        head.push('\n');
    }
    out.write_all(head.as_bytes())?;
    for fragment in &graph.fragments {
        match fragment {
            KeptFragment::Verbatim(source) => write!(out, "{}\n\n", source.trim_end())?,
            KeptFragment::Flat(head, body) => {
                write!(out, "{head}\n{{\n")?;
                operations(body, out, threads)?;
                out.write_all(b"}\n\n")?;
            }
        }
    }
    let mut head = format!("graph {}(", graph.text_of(graph.name));
    let mut text = Text::new(graph, &mut head);
    text.tensor_list(&graph.inputs);
    text.buffer.push_str(") -> (");
    text.tensor_list(&graph.outputs);
    head.push_str(")\n{\n");
    out.write_all(head.as_bytes())?;
    operations(graph, out, threads)?;
    out.write_all(b"}\n")
}

fn operations(graph: &Graph, out: &mut dyn Write, threads: NonZeroUsize) -> io::Result<()> {
    pieces::write(out, graph.operations.len(), threads, |range, buffer| {
        let mut text = Text::new(graph, buffer);
        graph.operations[range].iter().for_each(|operation| text.operation(operation));
    })
}

fn push(buffer: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| buffer.push_str(part));
}

/// How many names are remembered. A power of two.
const RECENT: usize = 256;

/// Adds text to a buffer.
struct Text<'g, 'b> {
    graph: &'g Graph,
    buffer: &'b mut String,
    /// Where in the buffer names stand: what an operation gives is mostly used soon.
    recent: Box<[(u32, u32, u32); RECENT]>,
}

impl<'g, 'b> Text<'g, 'b> {
    fn new(graph: &'g Graph, buffer: &'b mut String) -> Self {
        Text { graph, buffer, recent: Box::new([(u32::MAX, 0, 0); RECENT]) }
    }

    fn push(&mut self, parts: &[&str]) {
        push(self.buffer, parts);
    }

    fn tensor(&mut self, tensor: super::TensorId) {
        let recent = &mut self.recent[tensor.index() % RECENT];
        if recent.0 == tensor.0 {
            self.buffer.extend_from_within(recent.1 as usize..recent.2 as usize);
            return;
        }
        let start = self.buffer.len();
        let name = self.graph.tensors[tensor.index()].name;
        self.graph.names.write(&self.graph.symbols, name, self.buffer);
        *recent = (tensor.0, start as u32, self.buffer.len() as u32);
    }

    fn tensor_list(&mut self, tensors: &[super::TensorId]) {
        for (i, &tensor) in tensors.iter().enumerate() {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            self.tensor(tensor);
        }
    }

    /// `    a, b = name<type>(x, y, k = 1);`
    fn operation(&mut self, operation: &Operation) {
        self.buffer.push_str("    ");
        self.targets(self.graph.outputs_of(operation));
        self.push(&[" = ", self.graph.operation_name(operation)]);
        if let (true, Some(dtype)) = (operation.explicit_dtype, operation.dtype) {
            self.push(&["<", dtype.text(), ">"]);
        }
        self.buffer.push('(');
        let kind = self.graph.kind(operation);
        let mut named = false;
        for (i, (key, value)) in self.graph.arguments(operation).enumerate() {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            let name = match key {
                Key::Positional => None,
                Key::Named(name) => Some(name),
                Key::Param(param) => {
                    let declared = &kind.params[param as usize];
                    named |= param as usize != i || !declared.tensor;
                    named.then_some(declared.name)
                }
            };
            if let Some(name) = name {
                self.push(&[self.graph.text_of(name), " = "]);
            }
            match value {
                Operand::Tensor(tensor) => self.tensor(tensor),
                Operand::Value(value) => self.value(value),
            }
        }
        self.buffer.push_str(");\n");
    }

    fn targets(&mut self, outputs: impl ExactSizeIterator<Item = Output<'g>>) {
        let several = outputs.len() > 1;
        if several {
            self.buffer.push('(');
        }
        for (i, output) in outputs.enumerate() {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            match output {
                Output::Tensor(tensor) => self.tensor(*tensor),
                Output::Array(tensors) => {
                    self.buffer.push('[');
                    self.tensor_list(tensors);
                    self.buffer.push(']');
                }
            }
        }
        if several {
            self.buffer.push(')');
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Int(i) => push_int(self.buffer, *i),
            Value::Scalar(s) => push_scalar(self.buffer, *s),
            Value::Logical(b) => self.buffer.push_str(if *b { "true" } else { "false" }),
            Value::String(text) => push_string(self.buffer, text),
            Value::Tensor(tensor) => self.tensor(*tensor),
            Value::Symbol(symbolic) => self.buffer.push_str(symbolic.text()),
            Value::Integers(items) => self.items('[', items, ']', |text, i| push_int(text.buffer, *i)),
            Value::Scalars(items) => self.items('[', items, ']', |text, s| push_scalar(text.buffer, *s)),
            Value::Array(items) => self.items('[', items, ']', Self::value),
            Value::Tuple(items) => self.items('(', items, ')', Self::value),
        }
    }

    fn items<T>(&mut self, open: char, items: &[T], close: char, each: impl Fn(&mut Self, &T)) {
        self.buffer.push(open);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            each(self, item);
        }
        self.buffer.push(close);
    }
}
