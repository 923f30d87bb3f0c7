//! Any bytes: as an archive and as quantizations they are read or refused, without a panic.
#![no_main]

use std::io::Write;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use nnef_flatten::diagnostics::Diagnostics;
use nnef_flatten::model::{Limits, Model};
use nnef_flatten::{Options, expand, parse};

const DOCUMENT: &str = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2, 3]); y = relu(x); }";

/// Reads bytes as the `graph.quant` of a small document.
fn quantizations(bytes: &[u8]) {
    let options = Options::default();
    let mut document = parse("fuzz", DOCUMENT.to_string(), &options).document;
    let Ok(expansion) = expand(&document, &options) else { return };
    let mut diagnostics = Diagnostics::default();
    let _ = document.check_quant("fuzz.quant", &String::from_utf8_lossy(bytes), &expansion.graph, &mut diagnostics);
}

fuzz_target!(|bytes: &[u8]| {
    quantizations(bytes);
    let Ok(mut file) = tempfile::tempfile() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let mut limits = Limits::default();
    (limits.unpacked, limits.ratio, limits.entries) = (1 << 20, 1, 1000);
    if let Ok(model) = Model::from_file(Path::new("fuzz"), file, &limits) {
        assert!(model.files().all(|file| !file.path().starts_with('/') && !file.path().contains("..")));
        let _ = (model.graph(), model.quant());
    }
});
