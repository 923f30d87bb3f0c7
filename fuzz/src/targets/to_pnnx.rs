//! A text, or a generated document: its flat graph is written as a file of PNNX that reads back and computes the same.

use std::collections::BTreeMap;

use crate::common::run;
use crate::shared::{evaluator, small, small_inputs, source};
use nnef_flatten::diagnostics::Code;
use nnef_flatten::{Graph, Lower, Options};

/// The graph of a file of PNNX that starts with a byte, or of a document.
fn graph(bytes: &[u8]) -> Option<Graph> {
    let lower = [Lower::Custom, Lower::All][usize::from(bytes.first()? / 2) % 2].clone();
    let options = small().with(|o| o.lower = lower);
    let text = String::from_utf8_lossy(bytes.get(1..)?);
    if text.starts_with("7767517") {
        return Graph::from_pnnx(&text, &options).ok();
    }
    Some(run(&source(bytes).1, &options).ok()?.graph)
}

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let Some(before) = graph(bytes) else { return };
    let Ok(file) = before.to_pnnx() else { return };
    let after = match Graph::from_pnnx(&file, &Options::untrusted()) {
        Ok(after) => after,
        // Files of PNNX have no symbols: an extent that is one has to be given.
        Err(found) if found.iter().any(|found| found.code == Code::OpenExtent) => return,
        Err(found) => panic!("{file}\n{found}"),
    };
    assert_eq!(after.outputs().len(), before.outputs().len(), "{file}");
    // Data of variables are not in the text.
    let stored = |graph: &Graph| graph.operations().any(|operation| operation.name() == "variable");
    if stored(&before) || stored(&after) || before.inputs().len() != after.inputs().len() {
        return;
    }
    let Some(inputs) = small_inputs(&before) else { return };
    let names = after.inputs().iter().map(|input| after.tensor_name(*input));
    let renamed: Vec<_> = names.zip(inputs.iter().map(|(_, tensor)| tensor.clone())).collect();
    let computed = |graph: &Graph, inputs: &[_]| evaluator().run(graph, inputs, &BTreeMap::new());
    let (Ok(wanted), Ok(found)) = (computed(&before, &inputs), computed(&after, &renamed)) else { return };
    for ((name, wanted), (_, found)) in wanted.outputs.iter().zip(&found.outputs) {
        let apart = wanted.difference(found);
        assert!(apart.is_none_or(|apart| apart < 1e-9), "{name} differs by {apart:?} in {file}");
    }
}
