//! Any text as a network with loops: it is read, checked, unrolled and evaluated, or refused. What is unrolled is flat.

use crate::common::{flat_text, run};
use crate::shared::small;
use nnef_flatten::loops::Network;
use nnef_flatten::source::Sources;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let options = small().with(|o| {
        o.unroll = true;
        o.max_trips = Some(100);
        o.max_bytes = 64 << 20;
    });
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (Some(net), _) = Network::read("fuzz", text, &mut Sources::new(), false) else { return };
    let _ = (net.check(true), net.evaluate([], &options));
    if let Ok(expansion) = net.unroll(&options) {
        assert_eq!(expansion.graph.verify(), Vec::<String>::new());
        let flat = flat_text(&expansion.graph);
        let Ok(again) = run(&flat, &options) else { panic!("refused: {flat}") };
        assert_eq!(flat_text(&again.graph), flat);
    }
}
