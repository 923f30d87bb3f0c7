//! A network with loops: its flat graph computes what the network computes.

use std::collections::BTreeMap;

use crate::shared::{evaluator, small, small_inputs};
use nnef_flatten::loops::Network;
use nnef_flatten::source::Sources;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let options = small().with(|o| {
        o.unroll = true;
        o.max_bytes = 64 << 20;
    });
    let text = String::from_utf8_lossy(bytes).into_owned();
    // The numbers of narrower types are rounded, which NNEF does not express.
    if text.contains("float32") || text.contains("int32") {
        return;
    }
    let (Some(net), _) = Network::read("fuzz", text.clone(), &mut Sources::new(), false) else { return };
    let Ok(expansion) = net.unroll(&options) else { return };
    assert_eq!(expansion.graph.verify(), Vec::<String>::new());
    let Some(inputs) = small_inputs(&expansion.graph) else { return };
    let given = inputs.iter().filter(|(name, _)| name != "unused").cloned();
    let (Ok(wanted), Ok(found)) =
        (net.evaluate(given, &options), evaluator().run(&expansion.graph, &inputs, &BTreeMap::new()))
    else {
        return;
    };
    assert_eq!(found.outputs.len(), wanted.outputs.len(), "{text}");
    for ((name, wanted), (_, found)) in wanted.outputs.iter().zip(&found.outputs) {
        assert_eq!(found.shape(), wanted.shape(), "{name} of {text}");
        let close = wanted.to_scalars().iter().zip(found.to_scalars().iter()).all(|(a, b)| {
            let near = || (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
            a == b || a.is_nan() && b.is_nan() || a.is_finite() && b.is_finite() && near()
        });
        assert!(close, "{name} is {wanted:?} in the network, {found:?} in the graph of {text}");
    }
}
