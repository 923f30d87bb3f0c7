//! A model in protobuf is read, checked, flattened and drawn, or refused; what is written reads back, and what
//! is flat stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;
use nnef_flatten_fuzz::{bounded, models, small};

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let options = small();
    if let (Some(model), _) = Document::decode("fuzz.onnx", bytes.to_vec(), &mut Sources::new(), &options) {
        models::use_model(&model, &options);
    }
}));
