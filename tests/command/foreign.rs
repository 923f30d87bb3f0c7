//! What people type for other programs leads to what does the work here: the first paragraph of the message names it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use crate::common::command::call;

/// What simplifies a model.
const SIMPLER: &str = "--simplify";

/// What is typed for a program, with `IN` for its model, and what the message names.
const TYPED: &[(&str, &str, &str)] = &[
    // Options.
    ("onnxsim", "IN --overwrite-input-shape x:1,3", "--input-shape"),
    ("onnxsim", "IN --test-input-shape x:1,3", "--verify"),
    ("onnxsim", "IN --check-n 3", "--verify"),
    ("onnxsim", "IN --input-data-path x.bin", "--inputs"),
    ("onnxsim", "IN --include-subgraph", "--fold"),
    ("onnxsim", "IN --unused-output y", "--outputs"),
    ("onnxsim", "IN --no-large-tensor", "--fold"),
    ("onnxsim", "IN --mutable-initializer", "--fold"),
    ("onnxsim", "IN --skip-constant-folding", "--fold"),
    ("onnxsim", "IN --save-as-external-data", "-o FILE"),
    ("onnxsim", "IN --enable-onnxruntime-optimization", SIMPLER),
    ("onnxslim", "IN --target-opset 13", "--opset"),
    ("onnxslim", "IN --input-shapes x:1,3", "--input-shape"),
    ("onnxslim", "IN --inspect", "--stats"),
    ("onnxslim", "IN --model-check", "--verify"),
    ("onnxslim", "IN --model-check-inputs x.npy", "--inputs"),
    ("onnxslim", "IN --no-shape-infer", "--annotate"),
    ("onnxslim", "IN --size-threshold 1KB", "--fold"),
    ("onnxslim", "IN --slim", SIMPLER),
    ("onnx.inliner", "IN --inline-schema-functions", "--lower all"),
    ("onnx.inliner", "IN --exclude Gelu", "--keep"),
    ("polygraphy", "IN --override-inputs x:[1,3]", "--input-shape"),
    ("polygraphy", "IN --fold-constants", "--fold"),
    ("polygraphy", "IN --onnx-outputs y", "--outputs"),
    ("polygraphy", "IN --val-range [0,1]", "--seed"),
    ("polygraphy", "IN --save-outputs y.json", "run INPUT --inputs FILE"),
    ("netron", "IN --port 8080", "-o graph.html"),
    ("netron", "IN --browse", "-o graph.html"),
    ("tract", "IN --output-node y", "--outputs"),
    ("tract", "IN --input-node x", "--inputs-at"),
    ("tract", "IN --override-fact x:1,3,f32", "--input-shape"),
    ("tract", "IN --pass declutter", SIMPLER),
    ("tract", "IN --nnef-dir out", "-o model/"),
    ("tract", "IN --cost", "--stats"),
    ("pnnx", "IN inputshape=[1,3]", "--input-shape"),
    ("pnnx", "IN inputshape2=[1,5]", "--input-shape"),
    ("pnnx", "IN pnnxonnx=out.onnx", "-o OUTPUT"),
    ("pnnx", "IN input=x.npy", "--inputs"),
    // First words.
    ("onnxsim", "onnxsim IN out.onnx", SIMPLER),
    ("onnxsim", "simplify IN", SIMPLER),
    ("onnxsim", "IN out.onnx", "-o out.onnx"),
    ("onnxslim", "onnxslim IN out.onnx", SIMPLER),
    ("onnxslim", "slim IN", SIMPLER),
    ("onnx.inliner", "inliner IN", "nnef-flatten INPUT -o OUTPUT"),
    ("onnx.inliner", "inline_local_functions IN", "nnef-flatten INPUT -o OUTPUT"),
    ("onnx.inliner", "inline_schema_functions IN", "--lower all"),
    ("polygraphy", "surgeon extract IN", "--inputs-at"),
    ("polygraphy", "surgeon sanitize IN", SIMPLER),
    ("polygraphy", "inspect model IN", "--stats"),
    ("polygraphy", "convert IN", "-o OUTPUT"),
    ("polygraphy", "check lint IN", "nnef-flatten check INPUT"),
    ("polygraphy", "debug reduce IN", "--outputs"),
    ("polygraphy", "data to-input IN", "--inputs"),
    ("netron", "netron IN", "-o graph.html"),
    ("netron", "view IN", "-o graph.html"),
    ("netron", "serve IN", "-o graph.html"),
    ("tract", "IN dump", "--lower none"),
    ("tract", "IN bench", "nnef-flatten run INPUT"),
    ("tract", "IN compare", "nnef-flatten diff A B"),
    ("tract", "stats IN", "--stats"),
    ("pnnx", "pnnx IN", "nnef-flatten INPUT"),
    ("onnx", "shape_inference IN", "--annotate"),
    ("onnx", "checker IN", "nnef-flatten check INPUT"),
    ("onnx", "extract_model IN", "--inputs-at"),
];

/// The first paragraph of what the command says, which names the option or the command: the usage follows it.
fn told(typed: &str, folder: &Path) -> (Option<i32>, String) {
    let words = typed.split(' ').map(|word| if word == "IN" { "in.nnef" } else { word });
    let output = call(words).within(folder).run();
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text.split("\n\n").next().unwrap_or_default().to_owned())
}

#[test]
fn words_of_other_programs_lead_to_what_does_their_work() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.nnef");
    std::fs::write(&input, "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }\n")
        .unwrap();
    let wrong: Vec<String> = TYPED
        .iter()
        .filter_map(|(program, typed, wanted)| {
            let (status, text) = told(typed, folder.path());
            // The message repeats what was typed, which may have the wanted word in it.
            let typed_words = typed.split(' ').filter(|word| word.contains(wanted));
            let said = typed_words.fold(text.clone(), |text, word| text.replace(word, ""));
            let leads = status == Some(2) && said.contains(wanted);
            (!leads).then(|| format!("{program}: {typed}: no {wanted} in {text}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} words: {wrong:#?}", wrong.len(), TYPED.len());
    let options = TYPED.iter().filter(|(_, typed, _)| typed.starts_with("IN -")).count();
    assert!(options >= 24 && TYPED.len() - options >= 24, "{options} of {} are options", TYPED.len());
}
