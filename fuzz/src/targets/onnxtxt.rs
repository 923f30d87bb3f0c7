//! A model in the text notation is read, checked, flattened and drawn, or refused; what is printed reads back
//! as the same model, and what is flat stays as it is.

use crate::models;
use crate::shared::small;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let options = small();
    let text = String::from_utf8_lossy(bytes);
    let Some(model) = Document::parse("fuzz.onnxtxt", text, &mut Sources::new(), &options).0 else { return };
    if let Ok((text, _)) = model.to_text(false) {
        let (again, found) = Document::parse("printed.onnxtxt", &*text, &mut Sources::new(), &options);
        let again = again.unwrap_or_else(|| panic!("{text}: {found}"));
        assert_eq!(again.to_text(false).ok().map(|(text, _)| text), Some(text));
    }
    models::use_model(&model, &options);
}
