//! The translation of a graph to a model.

use indexmap::IndexMap;

use super::emit::{self, Emitter};
use super::limits::{MOST_BYTES, WHAT};
use super::operation::operation_of;
use super::refusals::Refusals;
use super::rules::{self};
use super::sources::{self, Sources, TranslatedData};
use super::translated_call::{Refused, Translation};
use super::value::ModelValue;
use super::versions::OPSET;
use crate::core::budget::Memory;
use crate::diagnostics::{Code, Diagnostics};
use crate::graph::{Dialect, Graph};
use crate::onnx::model::{GraphProto as ModelGraph, ModelNames, ModelProto, OperatorSet};
use crate::onnx::schema::format_of;
use crate::progress;

/// Translates a flat graph to a model.
///
/// # Errors
///
/// Operations that ONNX cannot express, required properties that are not known, or missing data.
pub(crate) fn convert(
    graph: &Graph,
    data: TranslatedData,
    strict: bool,
    max_memory: u64,
) -> Result<ModelProto, Diagnostics> {
    let TranslatedData { weights, quantizations } = data;
    let mut found = Refusals { graph, all: IndexMap::new() };
    if graph.dialect == Dialect::Draft {
        let refused = Refused::meaning("only graphs of NNEF 1.0 have a counterpart in ONNX");
        return Err(found.refused(graph.operations.first(), refused).reported(strict));
    }
    let mut memory = Memory::new(max_memory);
    // Nearly every operation becomes at least a node, which has the names of its operands and results when it is written.
    memory.lend(graph.bytes());
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
        progress::add(1);
        let meaning = meanings.get(graph.kind_id(operation).index()).copied().flatten();
        let made = operation_of((graph, operation, meaning), &mut out, &values, (graph, quantizations), &mut sources);
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
    found = checked(graph, &out, &values, found);
    if !found.all.is_empty() {
        return Err(found.reported(strict));
    }
    model(graph, out, &values, sources)
        .map_err(|refused| found.refused(graph.operations.first(), refused).reported(strict))
}

/// Checks what a model needs: outputs with known numbers of axes, and constant tensors that a file can have.
fn checked<'g>(graph: &Graph, out: &Emitter, values: &[Option<ModelValue>], mut found: Refusals<'g>) -> Refusals<'g> {
    for output in &graph.outputs {
        let value = values.get(output.index()).and_then(Option::as_ref);
        if value.is_some_and(|value| value.dims.is_none()) {
            let producer = graph.maker(*output);
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
    found
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
        ir_version: Some(format_of(OPSET)),
        opsets: vec![OperatorSet { domain: Some(empty), version: Some(OPSET), rest: None }],
        producer_name: Some("nnef-flatten".into()),
        producer_version: Some(env!("CARGO_PKG_VERSION").into()),
        graph: Some(graph),
        ..ModelProto::default()
    })
}
