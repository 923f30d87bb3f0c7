//! The migration of a graph: its plan, what blocks it, and how kinds, operations and names are rewritten.

use super::migration_table::{self, Condition, Constant, ParameterChange};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::origin::with_origin;
use crate::graph::standard::EXTERNAL;
use crate::graph::{
    Argument, Dialect, Graph, Key, KindId, Operand, Operation, OperationId, Output, Primitive, TensorId, Value, shapes,
};
use crate::library::build::declared;
use crate::library::declared::Declared;
use crate::library::identifier::identifier;
use crate::nnef::document::Document;
use crate::options::Options;
use crate::source::Location;

/// An operation that has no counterpart in 1.0.
#[derive(Debug)]
pub(crate) struct Blocked {
    /// Its name.
    pub(crate) operation: String,
    /// The diagnostic, unless the operation can be expanded.
    pub(crate) diagnostic: Diagnostic,
}

/// The compounds that are always expanded for a migration, regardless of their arguments.
pub(crate) fn always_expanded(document: &Document, options: &Options) -> Vec<String> {
    let wanted = options.migrate && document.dialect() == Dialect::Draft;
    migration_table::EXPANDED.iter().filter(|_| wanted).map(|name| (*name).to_string()).collect()
}

/// Turns a graph of the draft into one of 1.0, or returns the operations that block the migration.
pub(crate) fn migrate(graph: &mut Graph, document: &Document, diagnostics: &mut Diagnostics) -> Vec<Blocked> {
    let plans = plans(graph);
    let blocked = blocked(graph, &plans);
    if !blocked.is_empty() {
        return blocked;
    }
    rewrite(graph, &plans);
    let externals: Vec<TensorId> = inputs(graph);
    graph.inputs.extend(externals);
    rename_keywords(graph, document, diagnostics);
    graph.dialect = Dialect::V1;
    refuse_keywords(graph, diagnostics);
    check_shapes(graph, diagnostics);
    blocked
}

/// Refuses keywords of 1.0 that cannot be renamed: names of operations that only the reader of the output knows and of
/// their arguments, and dimension symbols.
fn refuse_keywords(graph: &Graph, diagnostics: &mut Diagnostics) {
    let is_keyword = |word: &str| migration_table::KEYWORDS.contains(&word);
    for operation in graph.operations.iter().filter(|operation| !graph.kind(operation).standard) {
        let named = graph.named_arguments(operation).filter_map(|(name, _)| name);
        if let Some(word) = named.chain([graph.operation_name(operation)]).find(|word| is_keyword(word)) {
            let message =
                format!("`{word}` is a keyword of NNEF 1.0 and cannot name an operation or an argument there");
            let diagnostic = Diagnostic::new(Code::NoCounterpart, operation.at, message);
            diagnostics.report(with_origin(graph, operation, diagnostic));
        }
    }
    for operation in &graph.operations {
        let mut found = false;
        let values = graph.operands_of(operation).filter_map(Operand::value);
        values.for_each(|value| value.each_word(&mut |word| found |= is_keyword(word)));
        if found {
            let message = "a dimension symbol of this operation is a keyword of NNEF 1.0";
            let diagnostic = Diagnostic::new(Code::NoCounterpartValue, operation.at, message);
            diagnostics.report(with_origin(graph, operation, diagnostic));
        }
    }
}

/// Applies the shape rules of 1.0. The draft extends all shapes by extents of 1 at the end, which 1.0 does not.
fn check_shapes(graph: &Graph, diagnostics: &mut Diagnostics) {
    let plans: Vec<Option<shapes::Plan>> = (0..graph.kinds.len() as u32)
        .map(KindId)
        .map(|id| shapes::Plan::new(graph, id, false).filter(|_| graph.kinds[id.index()].standard))
        .collect();
    for (i, operation) in graph.operations.iter().enumerate() {
        let Some(plan) = &plans[graph.kind_id(operation).index()] else { continue };
        if let Err(error) = shapes::infer(graph, OperationId::at(i), plan) {
            let message = format!("in NNEF 1.0, {}", error.message);
            let help = "give tensors all their axes explicitly, with extent 1: NNEF 1.0 does not add them";
            let diagnostic = Diagnostic::new(Code::NoCounterpartValue, operation.at, message).help(help);
            diagnostics.report(with_origin(graph, operation, diagnostic));
        }
    }
}

/// Reports fragments that are not expanded: their text is in the notation of the draft.
pub(crate) fn fragments(graph: &Graph, document: &Document, diagnostics: &mut Diagnostics) {
    for fragment in &graph.fragments {
        let name = fragment.declared_name();
        let module = document.main();
        let declared = module.fragments.iter().find(|fragment| document.names().text(fragment.name.name) == name);
        let at = Location::new(module.file, declared.map(|fragment| fragment.name.span).unwrap_or_default());
        let message = format!("fragment `{name}` stays in the notation of the provisional dialect");
        let help = "expand it, or declare it in a file for `--fragments`";
        diagnostics.report(Diagnostic::new(Code::DraftFragment, at, message).help(help));
    }
}

/// The migration of a kind of operation: `None` if it stays, an error if it has no counterpart.
type KindMigration = Option<Result<(&'static [ParameterChange], &'static Declared), ()>>;

fn plans(graph: &Graph) -> Vec<KindMigration> {
    let mut plans = Vec::with_capacity(graph.kinds.len());
    for i in 0..graph.kinds.len() {
        if !graph.kinds[i].standard {
            plans.push(None);
            continue;
        }
        let row = migration_table::find(graph.text_of(graph.kinds[i].name));
        let plan = row.and_then(|(name, steps)| Some((steps, declared(name)?)));
        plans.push(Some(plan.ok_or(())));
    }
    plans
}

/// All operations that the plans do not cover.
fn blocked(graph: &Graph, plans: &[KindMigration]) -> Vec<Blocked> {
    let mut blocked = Vec::new();
    for operation in &graph.operations {
        let finding = match &plans[graph.kind_id(operation).index()] {
            None => continue,
            Some(Err(())) => {
                let name = graph.operation_name(operation);
                let message = format!("`{name}` has no counterpart in NNEF 1.0");
                Some(Diagnostic::new(Code::NoCounterpart, operation.at, message))
            }
            Some(Ok((steps, _))) => steps.iter().find_map(|step| unmet(graph, operation, step)),
        };
        if let Some(diagnostic) = finding {
            let operation_name = graph.operation_name(operation).to_string();
            let diagnostic = with_origin(graph, operation, diagnostic);
            blocked.push(Blocked { operation: operation_name, diagnostic });
        }
    }
    blocked
}

/// The diagnostic for an argument that does not meet the condition for its counterpart.
fn unmet(graph: &Graph, operation: &Operation, step: &ParameterChange) -> Option<Diagnostic> {
    let ParameterChange::If(name, condition) = *step else { return None };
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
            format!("`{name}` leaves trailing axes to automatic padding, which NNEF 1.0 does not support"),
            "give the padding of every axis",
        ),
        Condition::Zero | Condition::NotNegative => (
            Code::NoCounterpartValue,
            format!("`{}` with this `{name}` computes something else in NNEF 1.0", graph.operation_name(operation)),
            "expand it",
        ),
    };
    Some(Diagnostic::new(code, operation.at, message).help(help))
}

fn open_extent(graph: &Graph, operation: &Operation) -> Diagnostic {
    let name = graph.tensors_of(operation).next().map_or_else(String::new, |tensor| graph.tensor_name(tensor));
    let message = format!("the shape of `{name}` has unknown extents, which NNEF 1.0 does not support");
    Diagnostic::new(Code::OpenExtent, operation.at, message).help(format!("give it: `--input-shape {name}=…`"))
}

fn length(value: &Value) -> usize {
    match value {
        Value::Integers(items) => items.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

/// The rank of the first argument of an operation, if it is known.
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
fn rewrite(graph: &mut Graph, plans: &[KindMigration]) {
    let old = graph.take_operations();
    let kinds = old.kinds.iter().zip(plans).map(|(kind, plan)| match plan {
        Some(Ok((_, declared))) => declared.kind(graph.symbols_mut()),
        _ => kind.clone(),
    });
    let kinds = kinds.collect();
    graph.kinds = kinds;
    for operation in &old.operations {
        let kind = old.kind_id(operation);
        let outputs: Vec<Output> = old.outputs_of(operation).collect();
        // The type argument of a generic operation is the element type of its results.
        let first = old.tensors_of(operation).next().filter(|_| graph.kinds[kind.index()].generic);
        let dtype = first.and_then(|tensor| graph.tensors[tensor.index()].dtype);
        let arguments = old.arguments(operation).map(|(key, value)| Argument { key, value: value.to_value() });
        let (arguments, explicit) = match &plans[kind.index()] {
            Some(Ok((steps, declared))) => {
                let before = |i: u32| old.text_of(old.kinds[kind.index()].params[i as usize].name);
                let rank = old.arguments(operation).next().and_then(|(_, first)| rank(graph, first));
                let arguments = rewritten(steps, declared, dtype, rank, before, arguments.collect());
                (arguments, steps.contains(&ParameterChange::TypeArgument))
            }
            _ => (arguments.collect(), operation.has_explicit_dtype()),
        };
        graph.add_operation(kind, (dtype, explicit), arguments, &outputs, (operation.at, operation.origin));
    }
}

/// The arguments of an operation in 1.0, from its element type, the rank of its first argument, and the
/// names of its parameters in the draft.
fn rewritten<'g>(
    steps: &[ParameterChange],
    declared: &Declared,
    dtype: Option<Primitive>,
    rank: Option<usize>,
    before: impl Fn(u32) -> &'g str,
    arguments: Vec<Argument>,
) -> Vec<Argument> {
    let scalar = |to: usize| match declared.params[to].takes {
        Some(Primitive::Generic) => dtype == Some(Primitive::Scalar),
        takes => takes == Some(Primitive::Scalar),
    };
    let mut new: Vec<Argument> = Vec::with_capacity(arguments.len() + 1);
    for argument in arguments {
        let Key::Param(i) = argument.key else { continue };
        let name = before(i);
        let Some(to) = declared.position(renamed(steps, name)) else { continue };
        let value = filled(steps, name, rank, argument.value);
        new.push(Argument { key: Key::Param(to as u32), value: as_scalar(value, scalar(to)) });
    }
    for step in steps {
        if let ParameterChange::Add(name, constant) = step
            && let Some(to) = declared.position(name)
        {
            new.push(Argument { key: Key::Param(to as u32), value: constant.value() });
        }
    }
    new.sort_by_key(|argument| match argument.key {
        Key::Param(i) => i,
        _ => u32::MAX,
    });
    new
}

pub(super) fn renamed<'a>(steps: &[ParameterChange], name: &'a str) -> &'a str {
    let found = steps.iter().find_map(|step| match step {
        ParameterChange::Rename(from, to) if *from == name => Some(*to),
        _ => None,
    });
    found.unwrap_or(name)
}

/// A list, completed by the items for trailing axes that can be missing in the draft.
fn filled(steps: &[ParameterChange], name: &str, rank: Option<usize>, value: Value) -> Value {
    let from = steps.iter().find_map(|step| match step {
        ParameterChange::FillOnes(of, from) if *of == name => Some(*from),
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

/// Converts an integer where a scalar is required: the default mode accepts extents there.
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

/// The external tensors that are not graph inputs yet: in 1.0 all of them are.
fn inputs(graph: &Graph) -> Vec<TensorId> {
    let external =
        |operation: &&Operation| graph.kind(operation).standard && graph.operation_name(operation) == EXTERNAL;
    let tensors = graph.operations.iter().filter(external).flat_map(|operation| graph.tensors_of(operation));
    tensors.filter(|tensor| !graph.inputs.contains(tensor)).collect()
}

/// Appends an underscore to names that are keywords of 1.0, or more if that name exists already.
fn rename_keywords(graph: &mut Graph, document: &Document, diagnostics: &mut Diagnostics) {
    let mut renamed = false;
    for keyword in migration_table::KEYWORDS {
        let Some(name) = graph.symbols.get(keyword) else { continue };
        let holders: Vec<TensorId> = (0..graph.tensors.len() as u32)
            .map(TensorId)
            .filter(|tensor| graph.names.user_name(graph.tensors[tensor.index()].name) == Some(name))
            .collect();
        let is_graph = graph.name == name;
        if holders.is_empty() && !is_graph {
            continue;
        }
        let mut text = identifier(keyword);
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
