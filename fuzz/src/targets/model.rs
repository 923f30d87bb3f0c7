//! Any bytes: as an archive they are read or refused. A model that is read is checked with its quantizations.

use std::io::Write;
use std::path::Path;

use crate::archives::entry;
use crate::shared::small;
use nnef_flatten::diagnostics::Diagnostics;
use nnef_flatten::model::{Limits, Model};
use nnef_flatten::{expand, parse};

/// Adds a file to an archive.
fn file(archive: &mut Vec<u8>, name: &str, content: &[u8]) {
    entry(archive, name, b'0', content.len() as u64, content);
}

/// A model whose files have these bytes, divided by zero bytes.
fn archive(bytes: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    for name in ["graph.quant", "graph.nnef", "v.dat"] {
        match (name, parts.next().unwrap_or_default()) {
            ("graph.nnef", []) => file(&mut archive, name, GRAPH.as_bytes()),
            (name, content) => file(&mut archive, name, content),
        }
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

const GRAPH: &str = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); v = variable(shape = [2], label = 'v'); y = add(x, v); }";

fn read(bytes: &[u8]) {
    let Ok(mut file) = tempfile::tempfile() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let mut limits = Limits::untrusted();
    (limits.unpacked, limits.ratio, limits.entries) = (1 << 20, 1, 1000);
    let Ok(model) = Model::from_file(Path::new("fuzz"), file, &limits) else { return };
    assert!(model.files().all(|file| !file.path().starts_with('/') && !file.path().contains("..")));
    let (graph, quant) = (model.graph(), model.quant());
    let Ok(graph) = graph.map(|text| String::from_utf8_lossy(&text).into_owned()) else { return };
    let mut document = parse("fuzz", graph, &small()).document;
    let Ok(expansion) = expand(&document, &small()) else { return };
    if let Ok(Some(quant)) = quant {
        let text = String::from_utf8_lossy(&quant);
        let _ = document.check_quant("graph.quant", &text, &expansion.graph, &mut Diagnostics::default());
    }
}

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    read(bytes);
    // Most byte strings are not an archive: they are the contents of its files, too.
    read(&archive(bytes));
}
