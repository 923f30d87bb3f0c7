//! What is done with a model of ONNX that was read.

use nnef_flatten::Options;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;

/// Reads a model that has to be one.
fn read(bytes: &[u8], options: &Options) -> Document {
    let (model, found) = Document::decode("fuzz.onnx", bytes.to_vec(), &mut Sources::new(), options);
    model.unwrap_or_else(|| panic!("what is written is refused: {found}"))
}

/// Checks, draws and flattens a model; flattening what is flat changes nothing. Of a wrong model, which flattening may accept,
/// the flat model may be refused.
pub fn use_model(model: &Document, options: &Options) {
    let written = model.to_protobuf();
    let again = read(&written, options);
    assert_eq!(again.to_protobuf(), written);
    let is_right = !again.check(options).has_errors();
    let unrolled = options.clone().with(|o| o.unroll = true);
    let _ = read(&written, options).flatten(&unrolled);
    let mut flat = again;
    if flat.flatten(options).is_err() {
        return;
    }
    let bytes = flat.to_protobuf();
    let mut twice = read(&bytes, options);
    if let Err(found) = twice.flatten(options) {
        assert!(!is_right, "what is flat is refused: {found}");
        return;
    }
    assert_eq!(twice.to_protobuf(), bytes);
    let Some(graph) = flat.graph(options) else { return };
    let mut json = Vec::new();
    graph.write_json(&mut json).expect("memory is written to");
    serde_json::from_slice::<serde_json::Value>(&json).expect("JSON");
}
