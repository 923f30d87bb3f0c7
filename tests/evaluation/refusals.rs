//! Models of ONNX that cannot be run: what is wrong about a node, its attributes or its operands is told.
//!
//! `tests/refusals/run.txt` has each message and its code, and below it the model, as in `tests/operators`: the version of
//! the standard operators, or `ml` and that of `ai.onnx.ml`, and the graph. Floats are 1, integers 0, and texts `a`.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::operators::text_of;
use nnef_flatten::input::{Given, Refusal};
use nnef_flatten::tensor::{Data, SmallInt, Tensor};
use nnef_flatten::{Options, open};

const REFUSED: &str = include_str!("../refusals/run.txt");

/// The code and the message, the operator sets, and the graph of each model.
fn models() -> Vec<(&'static str, String, String)> {
    let mut models: Vec<(&str, String, String)> = Vec::new();
    for line in REFUSED.lines() {
        match (line.strip_prefix("    "), models.last_mut()) {
            (Some(line), Some((_, sets, graph))) if graph.is_empty() => {
                let (version, text) = line.split_once(": ").unwrap();
                *sets = version.to_owned();
                *graph = text.to_owned();
            }
            (Some(line), Some((_, _, graph))) => *graph += &format!("\n{line}"),
            _ => models.push((line, String::new(), String::new())),
        }
    }
    models
}

fn tensor(element: &str, shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    let data = match element {
        "float" => Data::Float32(vec![1.0; count]),
        "int64" => Data::Int64(vec![0; count]),
        "uint8" => Data::Small(SmallInt::Uint8, vec![0; count]),
        "string" => Data::Text(vec!["a".into(); count]),
        other => panic!("{other}"),
    };
    Tensor::new(shape, data).unwrap()
}

/// The inputs that a graph declares.
fn inputs(graph: &str) -> Vec<(String, Tensor)> {
    let declared = graph.strip_prefix('(').unwrap().split_once(") => ").unwrap().0;
    let input = |declared: &str| {
        let (ty, name) = declared.trim().split_once(' ').unwrap();
        let (element, extents) = ty.strip_suffix(']').unwrap().split_once('[').unwrap();
        let extents: Vec<usize> = extents.split(',').map(|extent| extent.parse().unwrap()).collect();
        (name.to_owned(), tensor(element, &extents))
    };
    declared.split(", ").map(input).collect()
}

/// The code and the message of a model that is not run.
fn refusal(sets: &str, graph: &str) -> Result<String, String> {
    let text = text_of(sets, graph);
    let input = open(Given::from(("model", text.as_str())).notation("onnxtxt"), &Options::default());
    match input.and_then(|input| input.evaluate(&inputs(graph))) {
        Ok(_) => Err("it is run".to_owned()),
        Err(Refusal::Found(found)) => {
            let found = found.diagnostics.clone().into_sorted();
            Ok(found.first().map(|found| format!("{} {}", found.code.as_str(), found.message)).unwrap_or_default())
        }
        Err(other) => Err(format!("{other:?}")),
    }
}

#[test]
fn models_that_cannot_be_run_are_refused() {
    let wrong: Vec<String> = models()
        .iter()
        .filter_map(|(wanted, sets, graph)| {
            let found = refusal(sets, graph);
            let fits = found.as_ref().is_ok_and(|found| found.starts_with(wanted));
            (!fits).then(|| format!("{graph}\n  {found:?}\n  right is {wanted}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} models:\n{}", wrong.len(), wrong.join("\n"));
}
