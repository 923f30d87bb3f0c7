//! Documents that no test makes: the inferred shapes and types of their tensors are those of the computed tensors.

use std::collections::BTreeMap;

use crate::eval::Random;
use crate::eval::eval_call::element_type;
use crate::eval::{Evaluator, Limits};
use crate::graph::{Graph, TensorId};
use crate::tensor::{DType, Tensor};
use crate::tests::{RealDocument, models};
use crate::{Options, expand, parse};

/// The value of every dimension symbol.
const SYMBOL: i64 = 6;

/// The extents of a tensor for that value of the symbols of inputs; none for other symbols, which depend on items of
/// tensors.
fn extents(graph: &Graph, tensor: TensorId) -> Option<Vec<Option<i64>>> {
    let of_input = |tensor: &TensorId| graph.shape(*tensor).map_or_else(String::new, |shape| format!("{shape:?}"));
    let bound: String = graph.inputs.iter().map(of_input).collect();
    let words: Vec<&str> = bound.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let value = |name: &str| words.contains(&name).then_some(SYMBOL);
    Some(graph.shape(tensor)?.extents().iter().map(|extent| extent.dim().value(&value)).collect())
}

/// The graph of a network, with all its tensors as outputs, and random inputs.
fn network(text: String) -> Option<(Graph, Vec<(String, Tensor)>)> {
    let options = Options::default();
    let parsed = parse("network", text, &options);
    let mut graph = expand(&parsed.document, &options).ok()?.graph;
    let mut random = Random::new(1);
    let mut inputs = Vec::new();
    for input in &graph.inputs {
        let shape = extents(&graph, *input)?.into_iter().map(|extent| usize::try_from(extent?).ok());
        let of = crate::eval::sources::source_type(&graph, *input).unwrap_or(DType::Float64);
        let tensor = random.tensor(of, &shape.collect::<Option<Vec<_>>>()?).ok()?;
        inputs.push((graph.tensor_name(*input), tensor));
    }
    graph.outputs = (0..graph.tensors.len() as u32).map(TensorId).collect();
    Some((graph, inputs))
}

/// The difference between the inferred and the computed shape and type of a tensor, if there is one.
fn difference(graph: &Graph, tensor: TensorId, found: &Tensor) -> Option<String> {
    let name = || graph.tensor_name(tensor);
    if let Some(extents) = extents(graph, tensor) {
        let fits = |(told, extent): (&Option<i64>, &usize)| told.is_none_or(|told| told == *extent as i64);
        if extents.len() != found.rank() || !extents.iter().zip(found.shape()).all(fits) {
            return Some(format!("{}: {extents:?} is inferred, {:?} is computed", name(), found.shape()));
        }
    }
    let of = graph.tensors[tensor.index()].dtype;
    let fits = of.is_none_or(|of| element_type(of) == Some(found.dtype()));
    (!fits).then(|| format!("{}: {of:?} is inferred, {:?} is computed", name(), found.dtype()))
}

#[test]
fn what_is_inferred_is_what_is_computed() {
    let (mut compared, mut wrong, models) = (0, Vec::new(), models());
    let all = models.len();
    for RealDocument { name, text } in models {
        let Some((graph, inputs)) = network(text) else { continue };
        // Large networks are tested by the comparison with tract, which is slow.
        let limits = Limits { max_work: 20_000_000, ..Limits::default() };
        let evaluator = Evaluator::with_limits(limits).random_variables(1);
        let Ok(evaluation) = evaluator.run(&graph, &inputs, &BTreeMap::new()) else { continue };
        compared += 1;
        let tensors = graph.outputs.iter().zip(&evaluation.outputs);
        let found = tensors.filter_map(|(tensor, (_, found))| difference(&graph, *tensor, found));
        wrong.extend(found.take(5).map(|message| format!("{name}: {message}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared * 2 > all, "only {compared} of {all} were computed");
}
