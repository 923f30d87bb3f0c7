//! Measures the crate `tract-nnef`: `tract-peer read|expand FILE SECONDS REPS`.
//!
//! `read` measures its parser alone, `expand` also building its model from the tree; weights are zeros
//! and are created outside of the measurement. Prints one line for each repetition: CPU seconds,
//! operations, peak memory in KiB.

#[path = "../../../benches/programs/clock.rs"]
mod clock;

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use tract_nnef::ProtoModel;
use tract_nnef::ast::parse::parse_document;
use tract_nnef::ast::{Assignment, Identifier, Literal, RValue};
use tract_nnef::internal::{Tensor, TypedModel};

use clock::ProcessTime;

type Weights = HashMap<Identifier, Arc<Tensor>>;

/// The peak memory of the process, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn shape(value: &RValue) -> Vec<usize> {
    let RValue::Array(items) = value else { return Vec::new() };
    let extent = |item: &RValue| match item {
        RValue::Literal(Literal::Numeric(digits)) => digits.parse().ok(),
        _ => None,
    };
    items.iter().filter_map(extent).collect()
}

/// Adds zeros for each variable of a body.
fn weights(body: &[Assignment], into: &mut Weights) -> Result<(), Box<dyn Error>> {
    for assignment in body {
        let RValue::Invocation(call) = &assignment.right else { continue };
        if call.id.0 != "variable" {
            continue;
        }
        let argument = |name: &str| {
            call.arguments.iter().find(|a| a.id.as_ref().is_some_and(|id| id.0 == name)).map(|a| &a.rvalue)
        };
        if let (Some(RValue::Literal(Literal::String(label))), Some(extents)) = (argument("label"), argument("shape")) {
            into.insert(Identifier(label.clone()), Arc::new(Tensor::zero::<f32>(&shape(extents))?));
        }
    }
    Ok(())
}

/// CPU seconds and the number of operations.
fn once(mode: &str, text: &str) -> Result<(f64, usize), Box<dyn Error>> {
    let start = ProcessTime::now();
    let doc = parse_document(text)?;
    let time = start.elapsed().as_secs_f64();
    if mode == "read" {
        return Ok((time, doc.graph_def.body.len()));
    }
    let mut tensors = Weights::new();
    weights(&doc.graph_def.body, &mut tensors)?;
    let model = ProtoModel { doc, tensors, quantization: None, resources: HashMap::new() };
    let framework = tract_nnef::nnef();
    let start = ProcessTime::now();
    let built = framework.translate(&model, TypedModel::default()).map_err(|(_, error)| error)?;
    Ok((time + start.elapsed().as_secs_f64(), built.nodes.len()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, file, seconds, repetitions] = arguments.as_slice() else {
        return Err("tract-peer read|expand FILE SECONDS REPETITIONS".into());
    };
    let text = std::fs::read_to_string(file)?;
    let (seconds, repetitions): (f64, usize) = (seconds.parse()?, repetitions.parse()?);
    let mut spent = 0.0;
    for _ in 0..repetitions {
        let (time, operations) = once(mode, &text)?;
        println!("{time:.9} {operations} {}", peak());
        spent += time;
        if spent > seconds {
            break;
        }
    }
    Ok(())
}
