//! Flat graphs as NNEF text.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use super::remarks;
use crate::graph::names::Speller;
use crate::graph::{
    Dialect, Graph, KeptFragment, Key, Operand, Operation, OperationId, Output, Primitive, TensorId, Value,
};
use crate::source::literals::{push_int, push_scalar, push_string};
use crate::threads::pieces;

/// Writes a whole document: comments at its head, version, extensions, kept fragments, graph.
pub(crate) fn write(graph: &Graph, threads: Option<NonZeroUsize>, out: &mut dyn Write) -> io::Result<()> {
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

fn operations(graph: &Graph, out: &mut dyn Write, threads: Option<NonZeroUsize>) -> io::Result<()> {
    pieces::write(out, graph.operations.len(), threads, |range, buffer| {
        let mut text = Text::new(graph, buffer);
        text.buffer.push_str(INDENT);
        let at = pieces::until_full(range, |i| {
            text.operation(&graph.operations[i]);
            text.remark(OperationId::at(i));
            text.buffer.len()
        });
        let end = text.buffer.len() - INDENT.len();
        text.buffer.truncate(end);
        at
    })
}

/// A value of an argument.
pub(crate) fn value_text(graph: &Graph, value: &Value) -> String {
    let mut buffer = String::new();
    Text::new(graph, &mut buffer).value(value);
    buffer
}

/// Some operations of a graph as statements, each on a line with its indentation.
pub(crate) fn statements<'g>(graph: &Graph, operations: impl Iterator<Item = &'g Operation>) -> String {
    let mut buffer = INDENT.to_owned();
    let mut text = Text::new(graph, &mut buffer);
    operations.for_each(|operation| text.operation(operation));
    buffer.truncate(buffer.len() - INDENT.len());
    buffer
}

/// The text before an operation.
const INDENT: &str = "    ";

fn push(buffer: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| buffer.push_str(part));
}

/// The fixed texts between the results and arguments of operations, by signature. Operations of one
/// signature differ in results and arguments only.
#[derive(Default)]
struct Forms {
    /// The form that was used last for each signature.
    known: Vec<Option<SignatureForm>>,
    /// The pieces of all forms.
    text: String,
    /// The end of each piece in `text`; it starts at the end of the one before it.
    ends: Vec<u32>,
}

/// The form of a signature, which has one piece more than arguments.
#[derive(Clone, Copy)]
struct SignatureForm {
    /// The explicit type argument.
    dtype: Option<Primitive>,
    /// The first piece, in [`Forms::ends`].
    first: usize,
}

impl Forms {
    /// The first piece of an operation's form.
    fn of(&mut self, graph: &Graph, operation: &Operation) -> usize {
        let dtype = operation.dtype().filter(|_| operation.has_explicit_dtype());
        let index = operation.signature().index();
        if let Some(Some(form)) = self.known.get(index)
            && form.dtype == dtype
        {
            return form.first;
        }
        let form = SignatureForm { dtype, first: self.ends.len() };
        self.add(graph, operation, dtype);
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        self.known[index] = Some(form);
        form.first
    }

    fn add(&mut self, graph: &Graph, operation: &Operation, dtype: Option<Primitive>) {
        let text = &mut self.text;
        push(text, &[" = ", graph.operation_name(operation)]);
        if let Some(dtype) = dtype {
            push(text, &["<", dtype.text(), ">"]);
        }
        text.push('(');
        let kind = graph.kind(operation);
        let mut named = false;
        for (i, key) in graph.keys(operation).iter().enumerate() {
            if i > 0 {
                text.push_str(", ");
            }
            let name = match *key {
                Key::Positional => None,
                Key::Named(name) => Some(name),
                Key::Param(param) => {
                    let declared = &kind.params[param as usize];
                    named |= param as usize != i || !declared.tensor;
                    named.then_some(declared.name)
                }
            };
            if let Some(name) = name {
                push(text, &[graph.text_of(name), " = "]);
            }
            self.ends.push(text.len() as u32);
        }
        // The draft separates statements by lines, as `fmt` does.
        let end = if graph.dialect == Dialect::Draft { ")\n" } else { ");\n" };
        push(text, &[end, INDENT]);
        self.ends.push(text.len() as u32);
    }

    /// Adds a piece to a text.
    #[inline]
    fn push(&self, piece: usize, out: &mut String) {
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        out.push_str(&self.text[start as usize..self.ends[piece] as usize]);
    }
}

/// Adds text to a buffer.
struct Text<'g, 'b> {
    graph: &'g Graph,
    buffer: &'b mut String,
    speller: Speller<'g>,
    forms: Forms,
}

impl<'g, 'b> Text<'g, 'b> {
    fn new(graph: &'g Graph, buffer: &'b mut String) -> Self {
        Text { graph, buffer, speller: graph.speller(), forms: Forms::default() }
    }

    fn tensor(&mut self, tensor: TensorId) {
        self.speller.write(self.graph.tensors[tensor.index()].name, self.buffer);
    }

    fn tensor_list(&mut self, tensors: &[TensorId]) {
        for (i, &tensor) in tensors.iter().enumerate() {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            self.tensor(tensor);
        }
    }

    /// `a, b = name<type>(x, y, k = 1);` and the indentation of the next statement.
    fn operation(&mut self, operation: &Operation) {
        if self.literal(operation) {
            return;
        }
        let form = self.forms.of(self.graph, operation);
        self.targets(self.graph.outputs_of(operation));
        for (i, value) in self.graph.operands_of(operation).enumerate() {
            self.forms.push(form + i, self.buffer);
            match value {
                Operand::Tensor(tensor) => self.tensor(tensor),
                Operand::Tensors(tensors) => self.array(tensors),
                Operand::Value(value) => self.value(value),
            }
        }
        self.forms.push(form + self.graph.keys(operation).len(), self.buffer);
    }

    /// Adds the comment on an operation to its line, if the graph is annotated.
    fn remark(&mut self, id: OperationId) {
        let Some(annotation) = self.graph.annotation() else { return };
        let end = self.buffer.len() - INDENT.len() - 1;
        self.buffer.truncate(end);
        remarks::push(self.graph, annotation, id, self.buffer);
        push(self.buffer, &["\n", INDENT]);
    }

    /// Writes a constant as a literal array if it was one in the source and its values fill its shape:
    /// programs that read registries do not have the operation `constant`. Returns whether it did.
    fn literal(&mut self, operation: &Operation) -> bool {
        let attribute = |name: &str| self.graph.attribute(operation, name);
        let mut results = self.graph.tensors_of(operation);
        if !results.next().is_some_and(|tensor| self.graph.tensors[tensor.index()].literal) {
            return false;
        }
        let (Some(Value::Integers(shape)), Some(value)) = (attribute("shape"), attribute("value")) else {
            return false;
        };
        let count = match value {
            Value::Integers(items) => items.len(),
            Value::Scalars(items) => items.len(),
            Value::Array(items) => items.len(),
            _ => return false,
        };
        let shape: Option<Vec<usize>> = shape.iter().map(|extent| usize::try_from(*extent).ok()).collect();
        let filled = |shape: &Vec<usize>| !shape.is_empty() && shape.iter().product::<usize>() == count && count > 0;
        let Some(shape) = shape.filter(filled) else { return false };
        self.targets(self.graph.outputs_of(operation));
        self.buffer.push_str(" = ");
        self.nested(value, &shape, 0);
        self.buffer.push_str(";\n");
        self.buffer.push_str(INDENT);
        true
    }

    /// The items of a value from the position `first` on, as nested arrays of a shape.
    fn nested(&mut self, value: &Value, shape: &[usize], first: usize) {
        let Some((extent, inner)) = shape.split_first() else {
            return match value {
                Value::Integers(items) => push_int(self.buffer, items[first]),
                Value::Scalars(items) => push_scalar(self.buffer, items[first]),
                Value::Array(items) => self.value(&items[first]),
                other => self.value(other),
            };
        };
        let step: usize = inner.iter().product();
        self.buffer.push('[');
        for i in 0..*extent {
            if i > 0 {
                self.buffer.push_str(", ");
            }
            self.nested(value, inner, first + i * step);
        }
        self.buffer.push(']');
    }

    fn targets<'o>(&mut self, outputs: impl ExactSizeIterator<Item = Output<'o>>) {
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
                Output::Array(tensors) => self.array(tensors),
            }
        }
        if several {
            self.buffer.push(')');
        }
    }

    fn array(&mut self, tensors: &[TensorId]) {
        self.buffer.push('[');
        self.tensor_list(tensors);
        self.buffer.push(']');
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Int(i) => push_int(self.buffer, *i),
            Value::Scalar(s) => push_scalar(self.buffer, *s),
            Value::Logical(b) => self.buffer.push_str(if *b { "true" } else { "false" }),
            Value::String(text) => push_string(self.buffer, text),
            Value::Tensor(tensor) => self.tensor(*tensor),
            Value::Symbol(text) => self.buffer.push_str(text),
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
