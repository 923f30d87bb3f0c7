//! `nnef-flatten expr --fuse`: the element-wise regions of a document.

use std::fmt::Write;
use std::path::Path;

use crate::Graph;
use crate::cli::args::{self, ExprTo, Language};
use crate::cli::inputs;
use crate::cli::io;
use crate::cli::options;
use crate::cli::outcome::{RunResult, Status};
use crate::cli::report::Reporter;
use crate::input::source::Flat;
use crate::pnnx::fuse::{FusionRule, GraphPart, fuse};

/// Fuses one input.
pub(super) fn run(input: &Path, arguments: &args::Expr, language: &Language, reporter: &mut Reporter) -> RunResult {
    let mut input = inputs::open(input, language)?;
    if !input.notation.evaluated {
        return Err(input.refused("expr --fuse", |notation| notation.evaluated));
    }
    input.usable(&options::name(&arguments.to.unwrap_or(ExprTo::Text)), reporter)?;
    let (source, settings, language) = input.read()?;
    let Flat { mut backing, mut result } = source.graph(&settings)?;
    let (Ok((_, found)) | Err(found)) = &mut result;
    language.locate(found, |option, name| backing.add_source(option, name.to_owned()));
    let Some(graph) = reporter.accepted(backing.sources(), result) else { return Ok(Status::Refused) };
    reporter.summary();
    let parts = fuse(&graph, if arguments.recompute { FusionRule::Recompute } else { FusionRule::Once });
    let text = match arguments.to {
        Some(ExprTo::Json) => json(&graph, &parts),
        _ => listing(&graph, &parts),
    };
    io::write_stdout(language.limits.output(), &mut |out| out.write_all(text.as_bytes())).map(|()| Status::Done)
}

/// The first result of an operation.
fn first(graph: &Graph, at: usize) -> String {
    let operation = &graph.operations[at];
    graph.tensors_of(operation).next().map(|tensor| graph.tensor_name(tensor)).unwrap_or_default()
}

fn json(graph: &Graph, parts: &[GraphPart]) -> String {
    let mut out = String::from("{\"fused\": [");
    for (i, part) in parts.iter().enumerate() {
        out.push_str(if i > 0 { ",\n" } else { "\n" });
        let _ = match part {
            GraphPart::Region { output, expression, inputs } => {
                let inputs: Vec<String> =
                    inputs.iter().map(|input| format!("\"{}\"", graph.tensor_name(*input))).collect();
                let (output, text) = (graph.tensor_name(*output), expression.canonical());
                write!(out, "{{\"output\": \"{output}\", \"expr\": \"{text}\", \"inputs\": [{}]}}", inputs.join(", "))
            }
            GraphPart::Other(at) => {
                let name = graph.operation_name(&graph.operations[*at]);
                write!(out, "{{\"op\": \"{name}\", \"output\": \"{}\"}}", first(graph, *at))
            }
        };
    }
    out.push_str("]}\n");
    out
}

fn listing(graph: &Graph, parts: &[GraphPart]) -> String {
    let mut out = String::new();
    for part in parts {
        let _ = match part {
            GraphPart::Region { output, expression, inputs } => {
                let inputs: Vec<String> = inputs.iter().map(|input| graph.tensor_name(*input)).collect();
                writeln!(out, "{} = {}  of {}", graph.tensor_name(*output), expression.canonical(), inputs.join(", "))
            }
            GraphPart::Other(at) => {
                let name = graph.operation_name(&graph.operations[*at]);
                writeln!(out, "{} = {name}", first(graph, *at))
            }
        };
    }
    out
}
