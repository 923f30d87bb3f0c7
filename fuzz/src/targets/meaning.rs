//! A model of ONNX, in protobuf or as text: expanded, folded and merged, it computes what its source computes.

use nnef_flatten::input::Given;
use nnef_flatten::tensor::{Data, Tensor};
use nnef_flatten::{Graph, Lower, Options, open};

use crate::shared::small;

/// The most items of an input.
const MOST: usize = 1 << 12;

/// Values for the inputs of a graph, which all element types of a kind have; none if a shape or a type has no such values.
fn inputs(graph: &Graph) -> Option<Vec<(String, Tensor)>> {
    let value = |input: &_| {
        let shape: Option<Vec<usize>> =
            graph.shape(*input)?.known()?.into_iter().map(|extent| extent.try_into().ok()).collect();
        let shape = shape?;
        let count = shape.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent))?;
        let items = 0..Some(count).filter(|count| *count <= MOST)? as i64;
        let data = match graph.element_type(*input)? {
            "bool" => Data::Bool(items.map(|i| i % 3 != 1).collect()),
            ty if ty.contains("float") => Data::Float64(items.map(|i| (i * 7 % 13 - 5) as f64 / 4.0).collect()),
            ty if ty.contains("int") => Data::Int64(items.map(|i| i * 5 % 4).collect()),
            _ => return None,
        };
        Some((graph.tensor_name(*input), Tensor::new(&shape, data)?))
    };
    graph.inputs().iter().map(value).collect()
}

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let (first, model) = bytes.split_first().unwrap_or((&0, &[]));
    let [is_text, lowers, unrolls, folds, shares] = [1, 2, 4, 8, 16].map(|bit| first & bit > 0);
    let given = || match is_text {
        true => Given::from(("fuzz.onnxtxt", model)).notation("onnxtxt"),
        false => Given::from(("fuzz.onnx", model)).notation("onnx"),
    };
    let kept = small().with(|o| o.lower = Lower::None);
    let Ok((graph, _)) = open(given(), &kept).and_then(|input| input.graph()) else { return };
    let Some(inputs) = inputs(&graph) else { return };
    let evaluate = |given: Given, options: &Options| open(given, options).and_then(|input| input.evaluate(&inputs));
    let Ok((wanted, _)) = evaluate(given(), &kept) else { return };
    let options = small().with(|o| {
        o.lower = if lowers { Lower::All } else { Lower::Custom };
        o.unroll = unrolls;
    });
    let mut flat = Vec::new();
    let written = open(given(), &options).and_then(|input| input.fold(folds).share(shares).print("onnx", &mut flat));
    if written.is_err() {
        return;
    }
    let found = evaluate(Given::from(("flat.onnx", &flat[..])).notation("onnx"), &small());
    let (found, _) = found.unwrap_or_else(|found| panic!("the flat model is not evaluated: {found}"));
    for ((name, wanted), (_, found)) in wanted.iter().zip(&found) {
        assert_eq!((wanted.shape(), wanted.dtype()), (found.shape(), found.dtype()), "{name}");
        // Bodies of operators compute with the element types of their operands, the operators with more digits.
        let apart = wanted.difference(found).filter(|_| !lowers);
        assert!(apart.is_none_or(|apart| apart == 0.0), "{name} differs by {apart:?}: {wanted:?}, {found:?}");
    }
}
