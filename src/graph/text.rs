//! Flat graphs as NNEF text.

use std::io::{self, Write};

use super::{Graph, KeptFragment, Key, Operand, Operation, Output, Value};
use crate::nnef::dialect::Dialect;
use crate::nnef::literals::{push_int, push_scalar, push_string};

/// Writes a whole document: version, extensions, kept fragments, graph.
pub fn write_document(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Text { graph, buffer: String::with_capacity(64 * 1024) };
    text.buffer.push_str(if graph.dialect == Dialect::Draft { "version 1.0\n\n" } else { "version 1.0;\n\n" });
    for extension in &graph.extensions {
        text.push(&["extension ", extension, ";\n"]);
    }
    if !graph.extensions.is_empty() {
        text.buffer.push('\n');
    }
    for fragment in &graph.fragments {
        match fragment {
            KeptFragment::Verbatim(source) => text.push(&[source.trim_end(), "\n\n"]),
            KeptFragment::Flat(head, body) => {
                text.push(&[head, "\n{\n"]);
                let mut inner = Text { graph: body, buffer: std::mem::take(&mut text.buffer) };
                inner.operations(out)?;
                text.buffer = inner.buffer;
                text.buffer.push_str("}\n\n");
            }
        }
    }
    text.push(&["graph ", graph.text_of(graph.name), "("]);
    text.tensor_list(&graph.inputs);
    text.buffer.push_str(") -> (");
    text.tensor_list(&graph.outputs);
    text.buffer.push_str(")\n{\n");
    text.operations(out)?;
    text.buffer.push_str("}\n");
    out.write_all(text.buffer.as_bytes())
}

/// Builds text in a buffer that is flushed now and then.
struct Text<'g> {
    graph: &'g Graph,
    buffer: String,
}

impl Text<'_> {
    fn push(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.buffer.push_str(part));
    }

    fn tensor(&mut self, tensor: super::TensorId) {
        let name = self.graph.tensors[tensor.index()].name;
        self.graph.names.write(&self.graph.symbols, name, &mut self.buffer);
    }

    fn tensor_list(&mut self, tensors: &[super::TensorId]) {
        for (i, &tensor) in tensors.iter().enumerate() {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            self.tensor(tensor);
        }
    }

    fn operations(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for operation in &self.graph.operations {
            self.operation(operation);
            if self.buffer.len() > 48 * 1024 {
                out.write_all(self.buffer.as_bytes())?;
                self.buffer.clear();
            }
        }
        Ok(())
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

    fn targets<'g>(&mut self, outputs: impl ExactSizeIterator<Item = Output<'g>>) {
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
            Value::Int(i) => push_int(&mut self.buffer, *i),
            Value::Scalar(s) => push_scalar(&mut self.buffer, *s),
            Value::Logical(b) => self.buffer.push_str(if *b { "true" } else { "false" }),
            Value::String(text) => push_string(&mut self.buffer, text),
            Value::Tensor(tensor) => self.tensor(*tensor),
            Value::Symbol(symbolic) => self.buffer.push_str(symbolic.text()),
            Value::Integers(items) => self.items('[', items, ']', |text, i| push_int(&mut text.buffer, *i)),
            Value::Scalars(items) => self.items('[', items, ']', |text, s| push_scalar(&mut text.buffer, *s)),
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
