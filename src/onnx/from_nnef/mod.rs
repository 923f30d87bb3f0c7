//! Translates flat NNEF graphs to ONNX models.
//!
//! A table of rules ([`rules`]) has the translation of each operation: a formula of operators, or a function if a
//! formula is not sufficient. Data of variables become constant tensors without being copied.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod arrange;
mod call;
mod convolution;
mod emit;
mod fold;
mod formula;
mod lists;
mod normalize;
mod padding;
mod places;
mod pool;
mod resample;
mod rules;
mod sources;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;

use super::Document;
use super::model::{GraphProto as ModelGraph, ModelNames, ModelProto, OperatorSet};
use crate::core::budget::Memory;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dictionary::{Operands, Row, ToOnnx};
use crate::graph::origin::with_origin;
use crate::graph::{Dialect, Graph, Operation};
use call::{Refused, TranslatedCall, Translation};
pub(crate) use emit::NnefElement;
use emit::{Emitter, ModelValue};
use formula::evaluate;
pub(crate) use rules::names;
use sources::Sources;
pub(crate) use sources::{Items, Weight, Weights};

/// The version of the operator set: no operator used by the rules has changed since.
pub(crate) const OPSET: i64 = 22;
/// The version of the format that was released with it.
pub(crate) const IR_VERSION: i64 = 10;

/// The maximum size of a protobuf file in bytes.
const MOST_BYTES: usize = i32::MAX as usize;

/// What takes memory, for messages.
const WHAT: &str = "the model of ONNX";

/// Translates a flat graph to a model.
///
/// # Errors
///
/// Operations that ONNX cannot express, required properties that are not known, or missing data.
fn convert(graph: &Graph, weights: &dyn Weights, (strict, memory): (bool, u64)) -> Result<ModelProto, Diagnostics> {
    let mut found = Refusals { graph, all: IndexMap::new() };
    if graph.dialect == Dialect::Draft {
        let refused = Refused::meaning("only graphs of NNEF 1.0 have a counterpart in ONNX");
        return Err(found.refused(graph.operations.first(), refused).reported(strict));
    }
    let memory = Memory::new(memory);
    // Nearly every operation becomes at least a node, which has the names of its operands and results when it is written.
    memory.keep(graph.bytes());
    let nodes = (graph.operations.len() as u64).saturating_mul(emit::NODE as u64).saturating_mul(2);
    if let Err(failure) = memory.check_with(nodes, WHAT) {
        return Err(found.refused(graph.operations.first(), Refused::memory(&failure)).reported(strict));
    }
    let names = ModelNames::of((*graph.symbols).clone(), graph.names.clone());
    let mut out = Emitter::new(names, memory);
    let mut values: Vec<Option<ModelValue>> = vec![None; graph.tensors.len()];
    let mut sources = Sources::new(weights);
    let meanings: Vec<_> = graph.kinds.iter().map(|kind| rules::find(graph, kind)).collect();
    for operation in &graph.operations {
        let meaning = meanings.get(graph.kind_id(operation).index()).copied().flatten();
        let made = operation_of(graph, (operation, meaning), &mut out, &values, &mut sources);
        let results = graph.tensors_of(operation);
        let results = match made.and_then(|made| out.check_memory().map(|()| made)) {
            Ok(made) => results.zip(made).collect::<Vec<_>>(),
            Err(refused) if refused.code == Code::MemoryBudget => {
                return Err(found.refused(Some(operation), refused).reported(strict));
            }
            Err(refused) => {
                out.cancel();
                // Variables without data get values, so that further errors are found.
                let known = refused.code == Code::OnnxWeights;
                let invented = results.filter(|_| known);
                let invented = invented.map(|tensor| (tensor, sources::invented(graph, tensor, &mut out))).collect();
                found = found.refused(Some(operation), refused);
                invented
            }
        };
        for (tensor, value) in results {
            if let Some(place) = values.get_mut(tensor.index()) {
                *place = Some(value);
            }
        }
    }
    for output in &graph.outputs {
        let value = values.get(output.index()).and_then(Option::as_ref);
        if value.is_some_and(|value| value.dims.is_none()) {
            let producer = graph.producer(*output);
            let name = graph.tensor_name(*output);
            let refused = Refused::unknown(format!("the number of axes of output `{name}` is not known"));
            found = found.refused(producer, refused);
        }
    }
    let bytes: usize = out.initializers.iter().map(sources::bytes).sum();
    if bytes > MOST_BYTES {
        let message = format!("the constant tensors have {bytes} bytes, a protobuf file at most {MOST_BYTES}");
        found = found.refused(None, Refused { code: Code::OnnxWeights, message, group: None });
    }
    if !found.all.is_empty() {
        return Err(found.reported(strict));
    }
    model(graph, out, &values, sources)
        .map_err(|refused| found.refused(graph.operations.first(), refused).reported(strict))
}

/// Translates a flat graph to a document. `limits` are whether warnings are errors, and the most bytes of memory.
///
/// # Errors
///
/// Those of [`convert`].
pub(crate) fn document(graph: &Graph, weights: &dyn Weights, limits: (bool, u64)) -> Result<Document, Diagnostics> {
    let model = convert(graph, weights, limits)?;
    let at = graph.operations.first().map(|operation| operation.at).unwrap_or_default();
    Ok(Document::made(model, at.file))
}

/// Assembles the model.
fn model(
    graph: &Graph,
    mut out: Emitter,
    values: &[Option<ModelValue>],
    mut sources: Sources,
) -> Translation<ModelProto> {
    let outputs = sources::outputs(graph, &mut out, values);
    out.finish(outputs.iter().filter_map(|output| output.name))?;
    let name = out.names.texts.intern(graph.text_of(graph.name));
    let empty = out.names.texts.intern("");
    let graph = ModelGraph {
        name: Some(name),
        nodes: std::mem::take(&mut out.nodes),
        initializers: std::mem::take(&mut out.initializers),
        inputs: std::mem::take(&mut sources.inputs),
        outputs,
        ..ModelGraph::default()
    };
    Ok(ModelProto {
        names: out.names,
        ir_version: Some(IR_VERSION),
        opsets: vec![OperatorSet { domain: Some(empty), version: Some(OPSET), rest: None }],
        producer_name: Some("nnef-flatten".into()),
        producer_version: Some(env!("CARGO_PKG_VERSION").into()),
        graph: Some(graph),
        ..ModelProto::default()
    })
}

/// Translates an operation, and returns its results.
fn operation_of(
    graph: &Graph,
    (operation, meaning): (&Operation, Option<&Row>),
    out: &mut Emitter,
    values: &[Option<ModelValue>],
    sources: &mut Sources,
) -> Translation<Vec<ModelValue>> {
    let name = graph.operation_name(operation);
    let targets: Vec<_> = graph.tensors_of(operation).map(|tensor| (tensor, graph.name_of(tensor))).collect();
    out.begin(targets.first().map_or(crate::graph::names::NameId::ROOT, |target| target.1));
    let mut call = TranslatedCall { graph, operation, out, values };
    let made = match meaning.and_then(|row| Some((row, row.to_onnx?))) {
        Some((_, ToOnnx::Source(_))) => return sources.make(&mut call),
        Some((_, ToOnnx::Formula(operands, formula))) => vec![evaluate(&mut call, operands, formula)?],
        Some((_, ToOnnx::Choice(flag, set, unset))) => {
            let set = if call.flag(flag)? { (Operands::Real, set) } else { (Operands::Numbers, unset) };
            vec![evaluate(&mut call, set.0, set.1)?]
        }
        Some((row, ToOnnx::Nodes(_))) => {
            let function = rules::function(row);
            function.ok_or_else(|| Refused::meaning(format!("`{name}` has no function in ONNX")))?(&mut call)?
        }
        Some((_, ToOnnx::Refused(why))) => {
            return Err(Refused::meaning(format!("`{name}` has no counterpart in ONNX: {why}")));
        }
        None => return Err(Refused::meaning(format!("`{name}` has no known counterpart in ONNX"))),
    };
    let ids: Vec<_> = targets.iter().map(|target| target.1).collect();
    call.out.end(&made, &ids);
    let out = call.out;
    let value = |((tensor, id), made): ((_, _), ModelValue)| {
        let dims = out.dims_of(graph, tensor).or(made.dims);
        ModelValue { id, element: made.element, dims }
    };
    Ok(targets.into_iter().zip(made).map(value).collect())
}

/// The refusals by group or message, each with the diagnostic of the first operation and the number of operations.
struct Refusals<'g> {
    graph: &'g Graph,
    all: IndexMap<String, (Diagnostic, usize)>,
}

impl Refusals<'_> {
    fn refused(mut self, operation: Option<&Operation>, Refused { code, message, group }: Refused) -> Self {
        if group == Some(call::FOLLOWS) {
            return self;
        }
        let graph = self.graph;
        let diagnostic = || {
            let at = operation.map_or_else(Default::default, |operation| operation.at);
            let diagnostic = Diagnostic::new(code, at, message.clone());
            operation.map_or(diagnostic.clone(), |operation| with_origin(graph, operation, diagnostic))
        };
        let key = group.map_or_else(|| message.clone(), str::to_owned);
        let count = &mut self.all.entry(key).or_insert_with(|| (diagnostic(), 0)).1;
        *count = usize::saturating_add(*count, 1);
        self
    }

    fn reported(self, strict: bool) -> Diagnostics {
        let mut diagnostics = Diagnostics::new(strict);
        for (key, (mut diagnostic, count)) in self.all {
            if count > 1 {
                diagnostic.message.push_str(&format!(" ({count} operations)"));
            }
            let help = match key.as_str() {
                sources::NO_DATA => {
                    Some("the data are beside `graph.nnef`: give the folder or the archive of the model as input")
                }
                _ if diagnostic.code == Code::MemoryBudget => Some("raise the limit with --max-memory"),
                key if key.contains("`tract_core_scan`") => Some("--unroll expands scans of a known length"),
                _ => None,
            };
            diagnostics.report(diagnostic.help_if(help.map(str::to_owned)));
        }
        diagnostics
    }
}
