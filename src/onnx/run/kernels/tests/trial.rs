//! Runs single nodes.

use std::sync::Arc;

use crate::Options;
use crate::diagnostics::{Code, Diagnostic};
use crate::eval::Limits;
use crate::onnx::Document;
use crate::onnx::text::Production;
use crate::source::Sources;
use crate::tensor::{Data, Tensor};
use crate::tests::near;

/// The results of a node whose operands are constants, or why it has none. `results <- nodes` has several nodes.
pub(super) fn tried(
    version: i64,
    constants: &str,
    node: &str,
    limits: Limits,
) -> Result<Vec<Arc<Tensor>>, Box<Diagnostic>> {
    let first = |node: &str| node.split_once('=').map_or("y", |(results, _)| results).to_owned();
    let (results, node) = match node.split_once(" <- ") {
        Some((results, nodes)) => (results.to_owned(), nodes),
        None => (first(node), node),
    };
    let outputs: Vec<String> = results.split(',').map(|name| format!("float {}", name.trim())).collect();
    let head = format!("<ir_version: 10, opset_import: [\"\" : {version}, \"ml\" : 5, \"ai.onnx.preview\" : 1]>");
    let head = head.replace("\"ml\"", "\"ai.onnx.ml\"");
    let text = format!("{head}\ng () => ({}) <{constants}> {{ {node} }}", outputs.join(", "));
    let (mut sources, options) = (Sources::new(), Options::default());
    let file = sources.add("test", text.clone());
    let (document, found) = Document::parse_part(&sources, file, Production::Model, &options);
    let document = document.unwrap_or_else(|| panic!("{text}: {found}"));
    let outputs = document.run_tensors::<Tensor>(&[], (limits, &options))?;
    Ok(outputs.into_iter().map(|(_, tensor)| tensor).collect())
}

/// The code of the refusal of a node; none if it has results.
pub(super) fn refused(version: i64, constants: &str, node: &str) -> Option<Code> {
    tried(version, constants, node, Limits::default()).err().map(|error| error.code)
}

/// The results of a node.
pub(super) fn results(version: i64, constants: &str, node: &str) -> Vec<Arc<Tensor>> {
    let found = tried(version, constants, node, Limits::default());
    found.unwrap_or_else(|error| panic!("{node}: {}", error.message))
}

/// Compares the first result of a node: its shape, and its items to 4 digits.
pub(super) fn check(version: i64, constants: &str, node: &str, shape: &[usize], items: &[f64]) {
    let found = &results(version, constants, node)[0];
    assert_eq!(found.shape(), shape, "{node}");
    let near = |(i, wanted): (usize, &f64)| near(found.data().float(i), *wanted, 1e-4 * wanted.abs().max(1e-2));
    assert!(items.len() == found.len() && items.iter().enumerate().all(near), "{node}: {:?}", found.to_scalars());
}

/// The texts of a tensor.
pub(super) fn words(of: &Tensor) -> Vec<&str> {
    let Data::Text(items) = of.data() else { panic!("items of type {}", of.dtype()) };
    items.iter().map(|item| &**item).collect()
}
