//! Any bytes: as an archive and as quantizations they are read or refused, without a panic.
#![no_main]

use std::io::Write;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use nnef_flatten::diagnostics::Diagnostics;
use nnef_flatten::model::{Limits, Model, path, quant};
use nnef_flatten::source::Sources;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut file) = tempfile::tempfile() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let limits = Limits { unpacked: 1 << 20, ratio: 1, entries: 1000, ..Limits::default() };
    if let Ok(model) = Model::from_file(Path::new("fuzz"), file, &limits) {
        for file in model.files() {
            assert_eq!(path::clean(file.path()).as_deref(), Ok(file.path()));
        }
    }
    let text = String::from_utf8_lossy(bytes);
    let mut sources = Sources::new();
    let file = sources.add("fuzz", text.clone());
    let mut diagnostics = Diagnostics::new(false);
    let quantization = quant::parse(&text, file, &mut diagnostics);
    if !quantization.entries.is_empty() {
        assert_eq!(quantization.text(&text, |_| true).as_deref(), Some(&*text));
    }
});
