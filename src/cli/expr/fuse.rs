//! `nnef-flatten expr --fuse`: the element-wise regions of a document.

use std::fmt::Write;
use std::path::Path;

use crate::Graph;
use crate::cli::args::{self, ExprTo, Language};
use crate::cli::io::Unread;
use crate::cli::report::Reporter;
use crate::cli::{Failure, RunResult, Status, flatten, io, loops, models, onnx, pnnx};
use crate::pnnx::fuse::{Part, Rule, fuse};
use crate::source::Sources;

/// Fuses one input.
pub(super) fn run(input: &Path, arguments: &args::Expr, language: &Language, reporter: &mut Reporter) -> RunResult {
    language.usable()?;
    if !matches!(arguments.to, None | Some(ExprTo::Text | ExprTo::Json)) {
        return Err(Failure::Message("fused graphs are told as text or json".to_owned()));
    }
    if onnx::form(input, language.from).is_some() {
        return Err(Failure::Message("models of ONNX are not fused".to_owned()));
    }
    let (sources, result) = match read(input, language) {
        Ok(read) => read,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let Some(graph) = reporter.accepted(&sources, result) else { return Ok(Status::Refused) };
    reporter.summary();
    let parts = fuse(&graph, if arguments.recompute { Rule::Recompute } else { Rule::Once });
    let text = match arguments.to {
        Some(ExprTo::Json) => json(&graph, &parts),
        _ => listing(&graph, &parts),
    };
    io::write_stdout(&mut |out| out.write_all(text.as_bytes())).map(|()| Status::Done)
}

/// The flat graph of an input, whatever its notation.
fn read(input: &Path, language: &Language) -> Result<(Sources, models::Expanded), Unread> {
    if pnnx::is_one(input, language.from) {
        return pnnx::graph(input, language);
    }
    if language.from == Some(args::From::Loops) {
        let (sources, _, result) = loops::process(input, language)?;
        return Ok((sources, result));
    }
    let opened = models::open(input, &language.limits)?;
    let (document, result) = flatten::process_for_use(opened.input, language)?;
    Ok((document.sources().clone(), result))
}

/// The first result of an operation.
fn first(graph: &Graph, at: usize) -> String {
    let operation = &graph.operations()[at];
    graph.tensors_of(operation).next().map(|tensor| graph.tensor_name(tensor)).unwrap_or_default()
}

fn json(graph: &Graph, parts: &[Part]) -> String {
    let mut out = String::from("{\"fused\": [");
    for (i, part) in parts.iter().enumerate() {
        out.push_str(if i > 0 { ",\n" } else { "\n" });
        let _ = match part {
            Part::Region { output, expression, inputs } => {
                let inputs: Vec<String> =
                    inputs.iter().map(|input| format!("\"{}\"", graph.tensor_name(*input))).collect();
                let (output, text) = (graph.tensor_name(*output), expression.canonical());
                write!(out, "{{\"output\": \"{output}\", \"expr\": \"{text}\", \"inputs\": [{}]}}", inputs.join(", "))
            }
            Part::Other(at) => {
                let name = graph.operation_name(&graph.operations()[*at]);
                write!(out, "{{\"op\": \"{name}\", \"output\": \"{}\"}}", first(graph, *at))
            }
        };
    }
    out.push_str("]}\n");
    out
}

fn listing(graph: &Graph, parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        let _ = match part {
            Part::Region { output, expression, inputs } => {
                let inputs: Vec<String> = inputs.iter().map(|input| graph.tensor_name(*input)).collect();
                writeln!(out, "{} = {}  of {}", graph.tensor_name(*output), expression.canonical(), inputs.join(", "))
            }
            Part::Other(at) => {
                let name = graph.operation_name(&graph.operations()[*at]);
                writeln!(out, "{} = {name}", first(graph, *at))
            }
        };
    }
    out
}
