//! A model rounds tensors like the evaluator.
#![cfg(feature = "model")]
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;

use super::super::{Items, TranslatedData, names};
use crate::diagnostics::Diagnostics;
use crate::eval::{Evaluator, Limits, Quantizations};
use crate::graph::Graph;
use crate::onnx::Document;
use crate::tensor::Tensor;
use crate::tests::all_near;
use crate::{Options, expand, parse};

const TEXT: &str = "version 1.0;
graph G(x) -> (y)
{
    x = external<scalar>(shape = [2, 3, 8]);
    w = variable<scalar>(shape = [2, 3, 8], label = 'w');
    k = constant<scalar>(shape = [1, 3], value = [0.3, 0.6, 0.85]);
    m = x * w;
    y = m + k;
}
";

/// The graph with quantizations.
fn graph(quant: &str) -> (Graph, Quantizations) {
    let options = Options::default().with(|options| options.internal.compounds = Some(names().collect()));
    let mut parsed = parse("test", TEXT.to_owned(), &options).document;
    let graph = expand(&parsed, &options).unwrap().graph;
    let mut found = Diagnostics::default();
    let quantizations = parsed.quantizations("graph.quant", quant, &graph, &mut found).unwrap();
    (graph, quantizations)
}

/// Numbers that are multiples of a quarter, so that some are halfway between two values.
fn tensor(step: usize) -> Tensor {
    Tensor::scalars(&[2, 3, 8], (0..48).map(|i| (i * step % 37) as f64 / 4.0 - 4.5).collect()).unwrap()
}

/// The text of the model, whose numbers are those of the evaluator.
fn compared(quant: &str) -> String {
    let (graph, quantizations) = graph(quant);
    let options = Options::default();
    let weights: Vec<f32> = tensor(11).to_scalars().iter().map(|item| *item as f32).collect();
    let data = |_: &str, _: &[usize]| Some(weights.clone());
    let model = Document::translated(
        &graph,
        TranslatedData { weights: &Items(&data), quantizations: &quantizations },
        true,
        options.max_memory,
    )
    .unwrap();
    assert!(model.check(&options).is_empty(), "{quant}");
    let inputs = vec![("x".to_owned(), tensor(5))];
    let evaluator = Evaluator::with_limits(Limits::default()).quantized(quantizations);
    let variables: BTreeMap<String, Tensor> = [("w".to_owned(), tensor(11))].into();
    let wanted = evaluator.run(&graph, &inputs, &variables).unwrap().outputs;
    let found = model.run_tensors(&inputs, (Limits::default(), &options)).unwrap();
    let (found, wanted) = (found[0].1.to_scalars(), wanted[0].1.to_scalars());
    assert!(all_near(&found, &wanted, 1e-5), "{quant}: {found:?}, not {wanted:?}");
    model.to_text(false).unwrap().0
}

#[test]
fn models_round_like_the_evaluator() {
    let by_channel = "zero_point = [[0, 3, -2]], scale = [[0.5, 0.25, 1.0]], bits = 8, signed = true";
    for (quant, parts) in [
        (
            "\"x\": zero_point_linear_quantize(zero_point = 3, scale = 0.5, bits = 8, signed = true, symmetric = false);",
            &["QuantizeLinear", "int8"][..],
        ),
        (
            "\"x\": zero_point_linear_quantize(zero_point = 0, scale = 0.5, bits = 3, signed = true, symmetric = true);",
            &["QuantizeLinear", "int4", "Max", "Min"],
        ),
        (&format!("\"m\": zero_point_linear_quantize({by_channel}, symmetric = false);"), &["axis: int = 1"]),
        ("\"k\": linear_quantize(min = 0.0, max = 1.0, bits = 4);", &["uint4"]),
        (
            "\"y\": min_max_linear_quantize(min = -9.0, max = 10.0, bits = 8, signed = true, symmetric = true);",
            &["QuantizeLinear", "Sub"],
        ),
        ("\"x\": linear_quantize(min = -4.0, max = 3.0, bits = 18);", &["Floor"]),
        ("\"m\": logarithmic_quantize(max = 4.0, bits = 3);", &["Pow"]),
        (
            "\"w\": zero_point_linear_quantize(zero_point = 2, scale = 0.25, bits = 8, signed = true, symmetric = false);",
            &["DequantizeLinear", "int8[2, 3, 8] w"],
        ),
    ] {
        let text = compared(quant);
        assert!(parts.iter().all(|part| text.contains(part)), "{quant}\n{text}");
    }
}

#[test]
fn what_has_no_counterpart_is_refused_by_name() {
    for (quant, why) in [
        ("\"x\": acme_quantize(bits = 8);", "`acme_quantize` of `x`"),
        ("\"m\": linear_quantize(min = 1.0, max = 1.0, bits = 8);", "the scale has to be positive"),
        ("\"m\": linear_quantize(min = 0.0, max = 1.0, bits = 99);", "`bits` has to be"),
        ("\"m\": linear_quantize(min = [[0.0, 1.0, 1.0]], max = [2.0, 3.0], bits = 8);", "different axes"),
    ] {
        let (graph, quantizations) = graph(quant);
        let data = |_: &str, _: &[usize]| Some(vec![0.0; 48]);
        let found = Document::translated(
            &graph,
            TranslatedData { weights: &Items(&data), quantizations: &quantizations },
            true,
            1 << 30,
        )
        .unwrap_err();
        assert!(found.iter().any(|found| found.message.contains(why)), "{quant}: {found}");
    }
}
