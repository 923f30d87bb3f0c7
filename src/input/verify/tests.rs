use super::*;
use crate::input::open::Given;
use crate::tensor::{Data, NarrowFloat};
use std::sync::Arc;

const X: &str = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [3]);\n    y = exp(x);\n}\n";
const DRAFT: &str = "version 1.0\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [3])\n    y = exp(x)\n}\n";
const LOOPS: &str = r#"{"name": "n", "inputs": {"x": {"dtype": "float32", "shape": [3]}}, "constants": {},
    "layers": [{"op": "exp", "name": "y", "inputs": ["x"]}], "outputs": ["y"]}"#;
const PNNX: &str = "7767517\n3 2\npnnx.Input in 0 1 x #x=(3)f32\n\
    pnnx.Expression e 1 1 x y expr=exp(@0) #y=(3)f32\npnnx.Output out 1 0 y\n";
const NCNN: &str = "7767517\n2 2\nInput in 0 1 x 0=3\nExp e 1 1 x y 0=-1.0 1=1.0 2=0.0\n";
const ONNX: &str = "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[3] x) => (float[3] y) { y = Exp (x) }\n";

/// Writes an input in a notation, changes the text, and compares it with the input.
fn compared(name: &str, text: &[u8], to: &'static str, change: impl Fn(Vec<u8>) -> Vec<u8>) -> Result<(), String> {
    // Layers of ncnn become operations of NNEF.
    let lower = if name == "x.param" { Lower::All } else { Lower::Custom };
    let options = Options::default().with(|options| options.lower = lower);
    let settings = Settings::new(&options);
    let mut bytes = Vec::new();
    crate::open((name, text), &options).unwrap().print(to, &mut bytes).map_err(|refused| refused.to_string())?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("written");
    std::fs::write(&file, change(bytes)).unwrap();
    let (opened, _) = Given::from((name, text)).opened().unwrap();
    let source = (Notation::of(&opened, None).unwrap().read)(opened, &settings).unwrap();
    let to = write::Notation::named(to).unwrap();
    let check = || -> Result<Verified, Refusal> {
        let written = ReadBack { name: "written", to, folder: None }.at(&file, &settings)?;
        let mut source = Side::source(source, &settings)?;
        let labels = if to.dialect.is_some() { Labels::Source(None) } else { Labels::Files };
        verify(&mut source, written, &[], 0, labels, &settings)
    };
    check().map(drop).map_err(|refused| refused.to_string())
}

/// Another operation in the place of the one that computes.
fn faulty(bytes: Vec<u8>) -> Vec<u8> {
    let words: [(&[u8], &[u8]); 2] = [(b"exp(", b"abs("), (b"Exp", b"Abs")];
    for (from, to) in words {
        if let Some(at) = bytes.windows(from.len()).position(|window| window == from) {
            return [&bytes[..at], to, &bytes[at + from.len()..]].concat();
        }
    }
    bytes
}

#[test]
fn what_is_written_is_read_back_in_every_pair_of_notations() {
    let mut model = Vec::new();
    crate::open(("x.onnxtxt", ONNX), &Options::default()).unwrap().print("onnx", &mut model).unwrap();
    let texts = [("x.nnef", X), ("draft.nnef", DRAFT), ("x.json", LOOPS), ("x.pnnx.param", PNNX), ("x.param", NCNN)];
    let texts = texts.into_iter().chain([("x.onnxtxt", ONNX)]).map(|(name, text)| (name, text.as_bytes()));
    for (name, text) in texts.chain([("x.onnx", &model[..])]) {
        for to in ["nnef", "onnx", "onnxtxt", "pnnx"] {
            if name.starts_with("x.onnx") && to == "pnnx" {
                continue;
            }
            assert_eq!(compared(name, text, to, |bytes| bytes), Ok(()), "{name} as {to}");
            let fault = compared(name, text, to, faulty).expect_err(&format!("{name} as {to}"));
            assert!(fault.contains("E0830"), "{name} as {to}: {fault}");
            // A part of what was written is no document.
            let fault = compared(name, text, to, |bytes| bytes[..bytes.len() / 3].to_vec());
            let fault = fault.expect_err(&format!("{name} as {to}"));
            assert!(fault.contains("E0830"), "{name} as {to}: {fault}");
        }
    }
}

#[test]
fn differences_are_allowed_by_type() {
    let one = |data: Data| vec![("y".to_owned(), Arc::new(Tensor::new(&[1], data).unwrap()))];
    let apart = |a: Data, b: Data| compare(&one(a), &one(b), tolerance).is_err();
    let pairs = |make: fn(f64) -> Data| {
        [1.0, 1000.0].map(|x| [2e-12, 2e-6, 1e-3].map(|part| apart(make(x), make(x * (1.0 + part)))))
    };
    assert_eq!(pairs(|x| Data::Float64(vec![x])), [[false, true, true]; 2]);
    assert_eq!(pairs(|x| Data::Float32(vec![x as f32])), [[false, false, true]; 2]);
    let half = |x: f64| Data::Narrow(NarrowFloat::Float16, vec![NarrowFloat::Float16.round(x)]);
    assert!(!apart(half(1.0), half(1.0 + 2.0 / 1024.0)) && apart(half(1.0), half(1.0 + 3.0 / 1024.0)));
    let brain = |x: f64| Data::Narrow(NarrowFloat::BFloat16, vec![NarrowFloat::BFloat16.round(x)]);
    assert!(!apart(brain(1.0), brain(1.0 + 2.0 / 128.0)) && apart(brain(1.0), brain(1.0 + 3.0 / 128.0)));
    // The coarser of two types counts.
    assert!(
        !apart(Data::Float64(vec![1.0]), half(1.001))
            && !apart(Data::Float64(vec![1e300]), Data::Float32(vec![f32::INFINITY]))
    );
    // Integers of any length are equal or not, and NaN and infinities have their places.
    assert!(
        !apart(Data::Int64(vec![3]), Data::Int32(vec![3]))
            && apart(Data::Int64(vec![1 << 60]), Data::Int64(vec![(1 << 60) + 1]))
    );
    assert!(
        apart(Data::Int64(vec![3]), Data::Float64(vec![3.0])) && apart(Data::Bool(vec![true]), Data::Int64(vec![1]))
    );
    let real = |x: f64| Data::Float32(vec![x as f32]);
    assert!(!apart(real(f64::NAN), real(f64::NAN)) && apart(real(f64::NAN), real(0.0)));
    assert!(apart(real(f64::INFINITY), real(1e38)) && apart(real(f64::INFINITY), real(f64::NEG_INFINITY)));
}
