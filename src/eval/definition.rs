//! Compounds evaluated by their definitions: a document that contains only the call is expanded to primitives, with
//! the shapes of the operands, and evaluated.

use std::fmt::Write;
use std::sync::Arc;

use indexmap::IndexSet;

use super::Evaluator;
use super::call::{Call, KernelResult};
use super::error::EvalError;
use crate::graph::{Dialect, Graph, Key, Operand, Output, TensorId, Value};
use crate::options::{Lower, Options};
use crate::source::literals::{push_int, push_scalar, push_string};
use crate::tensor::{DType, Tensor};

/// The maximum number of expanded definitions that are cached for later calls.
const REMEMBERED: usize = 4096;

/// The text of a document that contains only a call.
struct Text<'c, 'a> {
    call: &'c Call<'a>,
    out: String,
    /// The tensor arguments of the call, in the order of the inputs.
    given: IndexSet<TensorId>,
}

impl Text<'_, '_> {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Int(item) => push_int(&mut self.out, *item),
            Value::Scalar(item) => push_scalar(&mut self.out, *item),
            Value::Logical(item) => self.out.push_str(if *item { "true" } else { "false" }),
            Value::String(text) => push_string(&mut self.out, text),
            Value::Symbol(text) => self.out.push_str(text),
            Value::Integers(items) => self.items('[', ']', items, |text, item| push_int(&mut text.out, *item)),
            Value::Scalars(items) => self.items('[', ']', items, |text, item| push_scalar(&mut text.out, *item)),
            Value::Array(items) => self.items('[', ']', items, Self::value),
            Value::Tuple(items) => self.items('(', ')', items, Self::value),
            Value::Tensor(tensor) => {
                let (i, _) = self.given.insert_full(*tensor);
                // Writing into a string cannot fail.
                let _ = write!(self.out, "x{i}");
            }
        }
    }

    fn items<T>(&mut self, open: char, close: char, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.out.push(open);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            each(self, item);
        }
        self.out.push(close);
    }

    /// `name(a = …, b = …)`
    fn invocation(&mut self) {
        let (graph, call) = (self.call.graph(), self.call);
        self.out.push_str(call.name());
        if let (true, Some(of)) = (call.operation.has_explicit_dtype(), call.element_type()) {
            let _ = write!(self.out, "<{}>", of.keyword());
        }
        let kind = graph.kind(call.operation);
        let mut arguments: Vec<(Key, Operand)> = graph.arguments(call.operation).collect();
        // Tensor parameters come first in a declaration, and their arguments are positional, as
        // the standard requires.
        arguments.sort_by_key(|(key, _)| match key {
            Key::Param(i) => *i,
            _ => u32::MAX,
        });
        self.out.push('(');
        for (i, (key, operand)) in arguments.into_iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            if let Key::Param(param) = key
                && let Some(declared) = kind.params.get(param as usize)
                && (param as usize != i || !declared.tensor)
            {
                self.out.push_str(graph.text_of(declared.name));
                self.out.push_str(" = ");
            }
            self.value(&operand.to_value());
        }
        self.out.push(')');
    }
}

/// The names of the results: `y0`, or `[y0, y1]` for an array.
fn targets<'o>(outputs: impl Iterator<Item = Output<'o>>, names: &mut Vec<String>) -> String {
    let mut name = || {
        names.push(format!("y{}", names.len()));
        format!("y{}", names.len() - 1)
    };
    let target = |output: Output| match output {
        Output::Tensor(_) => name(),
        Output::Array(tensors) => {
            let items: Vec<String> = tensors.iter().map(|_| name()).collect();
            format!("[{}]", items.join(", "))
        }
    };
    let all: Vec<String> = outputs.map(target).collect();
    if all.len() == 1 { all.concat() } else { format!("({})", all.join(", ")) }
}

/// The tensor arguments of a call, with their values.
type Given = Vec<(TensorId, Arc<Tensor>)>;

/// The document of a call, and the tensors for the inputs of its graph.
fn document(call: &Call) -> Result<(String, Given), EvalError> {
    let mut text = Text { call, out: String::new(), given: IndexSet::new() };
    text.invocation();
    let mut names = Vec::new();
    let targets = targets(call.graph().outputs_of(call.operation), &mut names);
    let given = text.given.iter().map(|tensor| Ok((*tensor, call.run.tensor(*tensor)?)));
    let given = given.collect::<Result<Vec<_>, EvalError>>()?;
    let mut inputs: Vec<String> = (0..given.len()).map(|i| format!("x{i}")).collect();
    let mut lines = String::new();
    for (name, (_, tensor)) in inputs.iter().zip(&given) {
        let of = match (call.draft(), tensor.dtype()) {
            (true, _) | (_, DType::Float64) => String::new(),
            (false, of) => format!("<{}>", of.keyword()),
        };
        let _ = writeln!(lines, "    {name} = external{of}(shape = {:?});", tensor.shape());
    }
    if inputs.is_empty() {
        inputs.push("unused".to_string());
        lines.push_str("    unused = external(shape = [1]);\n");
    }
    let version = match (call.draft(), call.graph().conventions.deviates) {
        (true, _) => "version 1.0\n",
        (false, false) => "version 1.0;\n",
        // The definition has the operations of documents with registries.
        (false, true) => "version 1.0;\nextension tract_registry tract_nnef;\n",
    };
    let (inputs, names) = (inputs.join(", "), names.join(", "));
    let whole = format!("{version}graph G({inputs}) -> ({names})\n{{\n{lines}    {targets} = {};\n}}\n", text.out);
    Ok((whole, given))
}

/// The graph of a document with a call of an operation, expanded to primitives and cached.
///
/// # Errors
///
/// The call or the definition of the operation has errors for these operands.
pub(super) fn expanded(
    evaluator: &Evaluator,
    (name, dialect): (&str, Dialect),
    text: &str,
    libraries: Vec<(String, String)>,
) -> Result<Arc<Graph>, EvalError> {
    let mut known = evaluator.definitions.borrow_mut();
    if let Some(graph) = known.get(text) {
        return Ok(Arc::clone(graph));
    }
    let dialect = Some(dialect);
    let limits = Options::default();
    let max_memory = limits.max_memory.min(evaluator.limits.max_items.saturating_mul(8));
    let max_ops = limits.max_ops.min(evaluator.limits.max_work);
    let options = Options { dialect, libraries, lower: Lower::All, max_memory, max_ops, ..limits };
    let refused = |diagnostics: &crate::Diagnostics| {
        let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let why = first.map_or_else(String::new, |diagnostic| format!(": {}", diagnostic.message));
        EvalError::shapes(format!("the definition of `{name}` cannot be expanded for these operands{why}"))
    };
    let parsed = crate::parse("definition", text.to_string(), &options);
    if parsed.diagnostics.has_errors() {
        return Err(refused(&parsed.diagnostics));
    }
    let expansion = crate::expand(&parsed.document, &options).map_err(|diagnostics| refused(&diagnostics))?;
    if known.len() >= REMEMBERED {
        known.clear();
    }
    let graph = Arc::new(expansion.graph);
    known.insert(text.to_string(), Arc::clone(&graph));
    Ok(graph)
}

/// Evaluates a compound of the standard library by its definition.
pub(crate) fn by_definition(call: &Call) -> KernelResult {
    let (text, given) = document(call)?;
    let graph = expanded(call.run.evaluator, (call.name(), call.graph().dialect), &text, Vec::new())?;
    if graph.operations.iter().any(|operation| graph.operation_name(operation) == call.name()) {
        let message = format!("the definition of `{}` is not known", call.name());
        return Err(EvalError::new(crate::diagnostics::Code::NotEvaluated, message));
    }
    // The inputs are those of the document, in its order.
    let inputs = graph.inputs.iter().copied().zip(given.into_iter().map(|(_, tensor)| tensor)).collect();
    let run = call.run.inner(&graph, &graph, inputs)?;
    let results = run.tensors(&graph.outputs)?;
    Ok(results.into_iter().map(Arc::unwrap_or_clone).collect())
}
