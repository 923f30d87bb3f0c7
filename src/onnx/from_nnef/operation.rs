//! The translation of an operation.

use super::emit::Emitter;
use super::formula::evaluate;
use super::quantization;
use super::rules::{self};
use super::sources::Sources;
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::ModelValue;
use crate::dictionary::{Operands, Row, ToOnnx};
use crate::eval::Quantizations;
use crate::graph::{Graph, Operation};

/// Translates an operation, and returns its results. `outer` has the fragments that operations refer to.
pub(super) fn operation_of(
    (graph, operation, meaning): (&Graph, &Operation, Option<&Row>),
    out: &mut Emitter,
    values: &[Option<ModelValue>],
    (outer, quantizations): (&Graph, &Quantizations),
    sources: &mut Sources,
) -> Translation<Vec<ModelValue>> {
    let name = graph.operation_name(operation);
    let targets: Vec<_> = graph.tensors_of(operation).map(|tensor| (tensor, graph.name_of(tensor))).collect();
    out.begin(targets.first().map_or(crate::graph::names::NameId::ROOT, |target| target.1));
    let mut call = TranslatedCall { graph, outer, operation, out, values, quantizations };
    let mut made = match meaning.and_then(|row| Some((row, row.to_onnx?))) {
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
    for ((tensor, _), made) in targets.iter().zip(&mut made).filter(|((tensor, _), _)| quantizations.has(*tensor)) {
        let dims = call.out.dims_of(graph, *tensor).or(made.dims.take());
        *made = quantization::rounded(&mut call, *tensor, ModelValue { dims, ..made.clone() })?;
    }
    let ids: Vec<_> = targets.iter().map(|target| target.1).collect();
    call.out.end(&made, &ids);
    let out = call.out;
    let value = |((tensor, id), made): ((_, _), ModelValue)| {
        let dims = out.dims_of(graph, tensor).or(made.dims);
        ModelValue { id, element: made.element, dims }
    };
    Ok(targets.into_iter().zip(made).map(value).collect())
}
