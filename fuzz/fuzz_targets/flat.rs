//! What flattens is flat: flattening it again gives the same text, and its graph is well formed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::{Options, expand, parse};

fn flatten(text: String) -> Option<String> {
    let options = Options::default().with(|o| { o.max_ops = 20_000; o.max_depth = 2_000; });
    let parsed = parse("fuzz", text, &options);
    if parsed.diagnostics.has_errors() {
        return None;
    }
    let graph = expand(&parsed.document, &options).ok()?.graph;
    assert_eq!(graph.verify(), Vec::<String>::new());
    let mut flat = Vec::new();
    graph.write_nnef(&mut flat).ok()?;
    String::from_utf8(flat).ok()
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(flat) = flatten(String::from_utf8_lossy(bytes).into_owned()) {
        assert_eq!(flatten(flat.clone()).as_ref(), Some(&flat));
    }
});
