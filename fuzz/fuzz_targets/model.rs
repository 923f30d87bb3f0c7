//! Any bytes: as an archive they are read or refused, without a panic.
#![no_main]

use std::io::Write;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use nnef_flatten::model::{Limits, Model};

fuzz_target!(|bytes: &[u8]| {
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
