//! Texts, and generated documents: what is translated to a model of ONNX reads back, and passes the check.

use crate::common::run;
use crate::shared::{small, source};
use nnef_flatten::Lower;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;

/// The items of a variable, unless it is large.
fn items(_: &str, shape: &[usize]) -> Option<Vec<f32>> {
    let count = shape.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent))?;
    (count <= 1 << 16).then(|| vec![0.5; count])
}

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let (first, text) = source(bytes);
    let lower = [Lower::Custom, Lower::All, Lower::None][usize::from(first / 2) % 3].clone();
    let options = small().with(|o| {
        (o.lower, o.migrate) = (lower, true);
    });
    let Ok(before) = run(&text, &options) else { return };
    let Ok(model) = Document::of_graph(&before.graph, &items, &options) else { return };
    let written = model.to_protobuf();
    let (again, found) = Document::decode("fuzz.onnx", written.clone(), &mut Sources::new(), &options);
    let again = again.unwrap_or_else(|| panic!("what is written is refused: {found} in {text}"));
    assert_eq!(again.to_protobuf(), written);
    let found = again.check(&options);
    assert!(!found.has_errors(), "{found} in {text}");
}
