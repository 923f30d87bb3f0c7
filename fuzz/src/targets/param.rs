//! The graph of a file of PNNX is written as one that reads back.

use crate::shared::small;
use nnef_flatten::{Graph, Lower, Options};

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for lower in [Lower::Custom, Lower::All] {
        let Ok(graph) = Graph::from_pnnx(&text, &small().with(|o| o.lower = lower)) else { continue };
        let Ok(file) = graph.to_pnnx() else { continue };
        let again = Graph::from_pnnx(&file, &Options::untrusted()).unwrap_or_else(|found| panic!("{file}\n{found}"));
        assert_eq!(again.inputs().len(), graph.inputs().len());
        let mut flat = Vec::new();
        graph.write_nnef(&mut flat).unwrap();
    }
}
