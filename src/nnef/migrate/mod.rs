//! Migration of flat graphs from the provisional dialect to NNEF 1.0.5.
//!
//! A pass between expansion and writing. The [`table`] says what became of each operation.
//! Operations are found to be without a counterpart before anything is changed, so that the
//! expansion can take the compounds among them apart and try again.

pub(crate) mod table;
pub(crate) mod target;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::origin::with_origin;
use crate::graph::standard::EXTERNAL;
use crate::graph::{Argument, Graph, KeptFragment, Key, Operand, Operation, TensorId, Value};
use crate::nnef::document::Document;
use crate::options::Options;
use crate::source::Location;
use table::{Condition, Constant, Row, Step};
use target::{Declarations, Declared, Target};

/// An operation that cannot be written in 1.0 as it is.
#[derive(Debug)]
pub(crate) struct Blocked {
    /// Its name.
    pub(crate) operation: String,
    /// What to say if nothing helps.
    pub(crate) diagnostic: Diagnostic,
}

/// The compounds that a document is migrated without, whatever their arguments.
pub(crate) fn always_expanded(document: &Document, options: &Options) -> Vec<String> {
    let wanted = options.migrate && document.dialect() == Dialect::Draft;
    table::EXPANDED.iter().filter(|_| wanted).map(|name| (*name).to_string()).collect()
}

/// Turns a graph of the draft into one of 1.0, or tells what stands in the way.
pub(crate) fn migrate(graph: &mut Graph, document: &Document, diagnostics: &mut Diagnostics) -> Vec<Blocked> {
    let target = Target::new();
    let mut declarations = target.declarations();
    let plans = plans(graph, &mut declarations);
    let blocked = blocked(graph, &plans);
    if !blocked.is_empty() {
        return blocked;
    }
    rewrite(graph, &plans);
    let externals: Vec<TensorId> = inputs(graph);
    graph.inputs.extend(externals);
    rename_keywords(graph, document, diagnostics);
    graph.dialect = Dialect::V1;
    blocked
}

/// Refuses fragments that stay: their text is in the notation of the draft.
pub(crate) fn fragments(graph: &Graph, document: &Document, diagnostics: &mut Diagnostics) {
    for fragment in &graph.fragments {
        let (KeptFragment::Verbatim(text) | KeptFragment::Flat(text, _)) = fragment;
        let head = text.split('(').next().unwrap_or(text);
        let name = head.trim_start_matches("fragment").trim();
        let module = document.main();
        let declared = module.fragments.iter().find(|fragment| document.names().text(fragment.name.name) == name);
        let at = Location::new(module.file, declared.map(|fragment| fragment.name.span).unwrap_or_default());
        let message = format!("fragment `{name}` stays in the notation of the provisional dialect");
        let help = "let it be expanded, or declare it in a file for `--fragments`";
        diagnostics.report(Diagnostic::new(Code::DraftFragment, at, message).help(help));
    }
}

/// What becomes of a kind of operation; none where it stays what it is.
type Plan = Option<Result<(&'static Row, Declared), ()>>;

fn plans(graph: &mut Graph, declarations: &mut Declarations) -> Vec<Plan> {
    let mut plans = Vec::with_capacity(graph.kinds.len());
    for i in 0..graph.kinds.len() {
        if !graph.kinds[i].standard {
            plans.push(None);
            continue;
        }
        let row = table::find(graph.text_of(graph.kinds[i].name));
        let declared = row.and_then(|row| declarations.find(row.counterpart, graph));
        plans.push(Some(row.zip(declared.cloned()).ok_or(())));
    }
    plans
}

/// All operations that the plans do not cover.
fn blocked(graph: &Graph, plans: &[Plan]) -> Vec<Blocked> {
    let mut blocked = Vec::new();
    for operation in &graph.operations {
        let finding = match &plans[graph.kind_id(operation).index()] {
            None => continue,
            Some(Err(())) => {
                let name = graph.operation_name(operation);
                let message = format!("`{name}` has no counterpart in NNEF 1.0");
                Some(Diagnostic::new(Code::NoCounterpart, operation.at, message))
            }
            Some(Ok((row, _))) => row.steps.iter().find_map(|step| unmet(graph, operation, step)),
        };
        if let Some(diagnostic) = finding {
            let operation_name = graph.operation_name(operation).to_string();
            let diagnostic = with_origin(graph, operation, diagnostic);
            blocked.push(Blocked { operation: operation_name, diagnostic });
        }
    }
    blocked
}

/// What is wrong with an argument that has a counterpart only under a condition.
fn unmet(graph: &Graph, operation: &Operation, step: &Step) -> Option<Diagnostic> {
    let Step::If(name, condition) = *step else { return None };
    let value = graph.argument(operation, name)?.value();
    let scalar = match value {
        Some(Value::Scalar(scalar)) => Some(*scalar),
        _ => None,
    };
    let met = match condition {
        Condition::Zero => scalar == Some(0.0),
        Condition::NotNegative => scalar.is_some_and(|scalar| scalar >= 0.0),
        Condition::KnownExtents => value.and_then(Value::as_integers).is_none_or(|shape| !shape.contains(&0)),
        Condition::Whole(from) => {
            let given = value.map_or(0, length);
            given == 0 || axes(graph, operation).is_none_or(|rank| given >= rank.saturating_sub(from))
        }
    };
    if met {
        return None;
    }
    let (code, message, help) = match condition {
        Condition::KnownExtents => return Some(open_extent(graph, operation)),
        Condition::Whole(_) => (
            Code::NoCounterpartValue,
            format!("`{name}` leaves trailing axes to be padded automatically, which NNEF 1.0 does not know"),
            "give the padding of every axis",
        ),
        Condition::Zero | Condition::NotNegative => (
            Code::NoCounterpartValue,
            format!("`{}` with this `{name}` calculates something else in NNEF 1.0", graph.operation_name(operation)),
            "let it be expanded",
        ),
    };
    Some(Diagnostic::new(code, operation.at, message).help(help))
}

fn open_extent(graph: &Graph, operation: &Operation) -> Diagnostic {
    let name = graph.tensors_of(operation).next().map_or_else(String::new, |tensor| graph.tensor_name(tensor));
    let message = format!("the shape of `{name}` has extents that are left open, which NNEF 1.0 does not know");
    Diagnostic::new(Code::OpenExtent, operation.at, message).help(format!("give it: `--input-shape {name}=…`"))
}

fn length(value: &Value) -> usize {
    match value {
        Value::Integers(items) => items.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

/// How many axes the first tensor of an operation has, where that is known.
fn axes(graph: &Graph, operation: &Operation) -> Option<usize> {
    rank(graph, graph.arguments(operation).next()?.1)
}

fn rank(graph: &Graph, first: Operand) -> Option<usize> {
    match first {
        Operand::Tensor(tensor) => graph.shape(tensor).map(|shape| shape.rank()),
        Operand::Tensors(_) | Operand::Value(_) => None,
    }
}

/// Applies the plans to all kinds and operations.
fn rewrite(graph: &mut Graph, plans: &[Plan]) {
    let old = std::mem::take(&mut graph.kinds);
    let names: Vec<SmallVec<[String; 8]>> = old
        .iter()
        .map(|kind| kind.params.iter().map(|param| graph.text_of(param.name).to_string()).collect())
        .collect();
    graph.kinds = old
        .iter()
        .zip(plans)
        .map(|(kind, plan)| match plan {
            Some(Ok((_, declared))) => declared.kind.clone(),
            _ => kind.clone(),
        })
        .collect();
    let symbols = Arc::clone(&graph.symbols);
    set_types(graph);
    graph.map_arguments(|operation, graph, arguments| {
        let index = graph.kind_id(operation).index();
        let Some(Ok((row, declared))) = &plans[index] else { return arguments };
        operation.set_type_argument((operation.dtype(), row.steps.contains(&Step::TypeArgument)));
        let param = |name: &str| declared.kind.params.iter().position(|param| symbols.text(param.name) == name);
        let scalar = |to: usize| match declared.takes[to] {
            Some(Primitive::Generic) => operation.dtype() == Some(Primitive::Scalar),
            takes => takes == Some(Primitive::Scalar),
        };
        let rank = arguments.first().and_then(|first| rank(graph, Operand::from(&first.value)));
        let mut new: Vec<Argument> = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            let Key::Param(i) = argument.key else { continue };
            let name = names[index][i as usize].as_str();
            let Some(to) = param(renamed(row, name)) else { continue };
            let value = filled(row, name, rank, argument.value);
            new.push(Argument { key: Key::Param(to as u32), value: as_scalar(value, scalar(to)) });
        }
        for step in row.steps {
            if let Step::Add(name, constant) = step
                && let Some(to) = param(name)
            {
                new.push(Argument { key: Key::Param(to as u32), value: constant.value() });
            }
        }
        new.sort_by_key(|argument| match argument.key {
            Key::Param(i) => i,
            _ => u32::MAX,
        });
        new
    });
}

fn renamed<'a>(row: &Row, name: &'a str) -> &'a str {
    let found = row.steps.iter().find_map(|step| match step {
        Step::Rename(from, to) if *from == name => Some(*to),
        _ => None,
    });
    found.unwrap_or(name)
}

/// A list with the items for trailing axes that the draft leaves out.
fn filled(row: &Row, name: &str, rank: Option<usize>, value: Value) -> Value {
    let from = row.steps.iter().find_map(|step| match step {
        Step::FillOnes(of, from) if *of == name => Some(*from),
        _ => None,
    });
    match (from, rank, &value) {
        (Some(from), Some(rank), Value::Integers(items)) if !items.is_empty() && items.len() + from < rank => {
            let ones = std::iter::repeat_n(1, rank - from - items.len());
            Value::Integers(items.iter().copied().chain(ones).collect())
        }
        _ => value,
    }
}

/// A number where a scalar is due: the default mode lets extents pass there.
fn as_scalar(value: Value, scalar: bool) -> Value {
    match value {
        Value::Int(i) if scalar => Value::Scalar(i as f64),
        value => value,
    }
}

impl Constant {
    fn value(&self) -> Value {
        match *self {
            Constant::Int(i) => Value::Int(i),
            Constant::Ints(items) => Value::Integers(items.into()),
            Constant::Text(text) => Value::String(text.into()),
        }
    }
}

/// Generic operations have a type: that of their results.
fn set_types(graph: &mut Graph) {
    for i in 0..graph.operations.len() {
        let operation = &graph.operations[i];
        let first = graph.tensors_of(operation).next();
        let dtype = first.and_then(|tensor| graph.tensors[tensor.index()].dtype);
        let (dtype, explicit) = (dtype.filter(|_| graph.kind(operation).generic), operation.has_explicit_dtype());
        graph.operations[i].set_type_argument((dtype, explicit));
    }
}

/// What is fed from outside and is no input yet: in 1.0 all such tensors are.
fn inputs(graph: &Graph) -> Vec<TensorId> {
    let external =
        |operation: &&Operation| graph.kind(operation).standard && graph.operation_name(operation) == EXTERNAL;
    let tensors = graph.operations.iter().filter(external).flat_map(|operation| graph.tensors_of(operation));
    tensors.filter(|tensor| !graph.inputs.contains(tensor)).collect()
}

/// Names that 1.0 reserves get an underscore, and more if there is such a name already.
fn rename_keywords(graph: &mut Graph, document: &Document, diagnostics: &mut Diagnostics) {
    let mut renamed = false;
    for keyword in table::KEYWORDS {
        let Some(name) = graph.symbols.get(keyword) else { continue };
        let holders: Vec<TensorId> = (0..graph.tensors.len() as u32)
            .map(TensorId)
            .filter(|tensor| graph.names.user_name(graph.tensors[tensor.index()].name) == Some(name))
            .collect();
        let is_graph = graph.name == name;
        if holders.is_empty() && !is_graph {
            continue;
        }
        let mut text = target::identifier(keyword);
        while graph.symbols.get(&text).is_some() {
            text.push('_');
        }
        renamed = true;
        let new = graph.symbols_mut().intern(&text);
        for tensor in &holders {
            let id = graph.tensors[tensor.index()].name;
            graph.names.rename(id, new);
        }
        if is_graph {
            graph.name = new;
        }
        let producer = holders.first().and_then(|tensor| graph.tensors[tensor.index()].producer);
        let at = producer.map(|id| graph.operations[id.index()].at);
        let main = document.main();
        let declared = main.graphs.first().map(|graph| graph.name.span).unwrap_or_default();
        let at = at.filter(|_| !is_graph).unwrap_or(Location::new(main.file, declared));
        let message = format!("`{keyword}` is a keyword of NNEF 1.0; it becomes `{text}`");
        diagnostics.report(Diagnostic::new(Code::RenamedKeyword, at, message));
    }
    if renamed {
        graph.finish_names();
    }
}

#[cfg(test)]
mod tests;
