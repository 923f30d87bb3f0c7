//! Any text as quantizations: what is kept of them is accepted again, and stays as it is.

use crate::shared::small;
use nnef_flatten::diagnostics::Diagnostics;
use nnef_flatten::{expand, parse};

const DOCUMENT: &str = "version 1.0; extension KHR_enable_fragment_definitions;
    fragment quantize( x: tensor<scalar>, bits: integer = 8 ) -> ( y: tensor<scalar> ) { y = relu(x); }
    graph G( x ) -> ( y ) { x = external(shape = [2, 3]); h = relu(x); y = relu(h); }";

/// What is kept of quantizations without errors.
fn kept(text: &str) -> Option<String> {
    let mut document = parse("fuzz", DOCUMENT.to_string(), &small()).document;
    let graph = expand(&document, &small()).ok()?.graph;
    let mut found = Diagnostics::default();
    let kept = document.check_quant("graph.quant", text, &graph, &mut found);
    kept.filter(|_| !found.has_errors())
}

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    if let Some(kept) = kept(&String::from_utf8_lossy(bytes)) {
        assert_eq!(self::kept(&kept).as_ref(), Some(&kept));
    }
}
