//! Layers of ncnn and operators of PNNX that are computed by operations of NNEF: the numbers that follow from their
//! definitions.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use crate::common::all_near;
use crate::common::command;
use crate::common::command::run;
use serde_json::{Map, Value, json};

fn done(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All numbers of nested lists; truth values are 0 and 1.
pub fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Bool(truth) => vec![f64::from(u8::from(*truth))],
        number => vec![number.as_f64().unwrap()],
    }
}

/// The shape and the items of the first output of a file, for values of its inputs in their order.
fn computed(path: &Path, values: &[Value]) -> (Value, Vec<f64>) {
    let file = path.to_str().unwrap();
    let graph: Value = serde_json::from_str(&done(&["-q", "--lower", "all", "--to", "json", file])).unwrap();
    let names = graph["inputs"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
    let inputs: Map<String, Value> = names.zip(values.iter().cloned()).collect();
    let given = path.with_file_name("in.json");
    fs::write(&given, Value::Object(inputs).to_string()).unwrap();
    let found = done(&["run", "-q", file, "--inputs", given.to_str().unwrap()]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let (_, output) = found["outputs"].as_object().unwrap().iter().next().unwrap();
    (output["shape"].clone(), flat(&output["data"]))
}

fn close(found: &[f64], wanted: &[f64]) -> bool {
    all_near(found, wanted, 1e-5)
}

/// Runs layers of ncnn with weights on an input.
fn of_ncnn(layers: &str, weights: &[f32], input: Value) -> (Value, Vec<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let blobs: usize = layers.lines().map(|line| line.split(' ').nth(3).unwrap().parse::<usize>().unwrap()).sum();
    let path = folder.path().join("net.param");
    fs::write(&path, format!("7767517\n{} {blobs}\n{layers}\n", layers.lines().count())).unwrap();
    let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    fs::write(path.with_extension("bin"), bytes).unwrap();
    computed(&path, &[input])
}

const CHANNELS: &str = "Input in 0 1 a 0=2 1=1 2=2\n";
const IMAGE: &str = "Input in 0 1 a 0=3 1=2 2=1\n";
const MATRIX: &str = "Input in 0 1 a 0=3 1=2\n";

#[test]
fn channels_have_their_own_weights() {
    let input = || json!([[[1.0, 2.0]], [[3.0, 4.0]]]);
    for (layer, weights, shape, wanted) in [
        (
            "ConvolutionDepthWise l 1 1 a b 0=2 1=1 6=2 7=2",
            &[0.0, 10.0, -1.0][..],
            [2, 1, 2],
            &[10., 20., -3., -4.][..],
        ),
        (
            "ConvolutionDepthWise l 1 1 a b 0=2 1=1 5=1 6=2 7=2 9=3 -23310=2,-2.5,15.0",
            &[0.0, 10.0, -1.0, 0.5, 1.0],
            [2, 1, 2],
            &[10.5, 15.0, -2.0, -2.5],
        ),
        (
            "DeconvolutionDepthWise l 1 1 a b 0=2 1=2 11=1 6=4 7=2",
            &[0.0, 1.0, 10.0, 1.0, -1.0],
            [2, 1, 3],
            &[1.0, 12.0, 20.0, 3.0, 1.0, -4.0],
        ),
    ] {
        let (found, items) = of_ncnn(&format!("{CHANNELS}{layer}"), weights, input());
        assert!(found == json!(shape) && close(&items, wanted), "{layer}: {found} {items:?}");
    }
    let four = json!([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]);
    let layers = "Input in 0 1 a 0=1 1=1 2=4\nConvolutionDepthWise l 1 1 a b 0=2 1=1 6=4 7=2";
    let (shape, items) = of_ncnn(layers, &[0.0, 1.0, 10.0, 100.0, 1000.0], four);
    assert!(shape == json!([2, 1, 1]) && close(&items, &[21.0, 4300.0]), "{shape} {items:?}");
}

#[test]
fn activations_follow_weights() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mish = |x: f64| x * x.exp().ln_1p().tanh();
    let hard = |x: f64| x * (0.5 * x + 0.5).clamp(0.0, 1.0);
    let leaky = |x: f64| if x < 0.0 { 0.1 * x } else { x };
    let of: [(&str, &dyn Fn(f64) -> f64); 5] = [
        ("1", &|x| x.max(0.0)),
        ("2 -23310=1,0.1", &leaky),
        ("4", &sigmoid),
        ("5", &mish),
        ("6 -23310=2,0.5,0.5", &hard),
    ];
    for (activation, f) in of {
        let layer = format!("{CHANNELS}ConvolutionDepthWise l 1 1 a b 0=2 1=1 6=2 7=2 9={activation}");
        let (_, items) = of_ncnn(&layer, &[0.0, 1.0, -0.2], json!([[[1.0, 2.0]], [[3.0, 4.0]]]));
        assert!(close(&items, &[1.0, 2.0, -0.6, -0.8].map(f)), "{activation}: {items:?}");
    }
    let (_, items) = of_ncnn("Input in 0 1 a 0=3\nErf l 1 1 a b", &[], json!([1.0, 2.0, -0.5]));
    assert!(close(&items, &[0.842701, 0.995322, -0.520500]), "{items:?}");
}

#[test]
fn pools_have_given_extents_and_depth_becomes_space() {
    let image = || json!([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]);
    for (layer, shape, wanted) in [
        ("Pooling l 1 1 a b 0=1 7=1 8=1 18=2", [1, 2, 1], &[2.0, 5.0][..]),
        ("Pooling l 1 1 a b 0=0 7=1 8=1 18=2", [1, 2, 1], &[3.0, 6.0]),
        ("Pooling l 1 1 a b 0=0 7=1 8=-233 18=1", [1, 1, 3], &[4.0, 5.0, 6.0]),
    ] {
        let (found, items) = of_ncnn(&format!("{IMAGE}{layer}"), &[], image());
        assert!(found == json!(shape) && close(&items, wanted), "{layer}: {found} {items:?}");
    }
    // Four channels after each other are the places of one channel.
    let all = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let deep = json!(all.map(|item| [[item]]));
    let (shape, items) = of_ncnn("Input in 0 1 a 0=1 1=1 2=8\nPixelShuffle l 1 1 a b 0=2", &[], deep);
    assert!(shape == json!([2, 2, 2]) && close(&items, &all), "{shape} {items:?}");
    let wide = json!([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]);
    let (shape, items) = of_ncnn("Input in 0 1 a 0=2 1=2 2=2\nReorg l 1 1 a b 0=2", &[], wide);
    assert!(shape == json!([8, 1, 1]) && close(&items, &all), "{shape} {items:?}");
    // Two places beside each other keep the rows and columns of their pixels.
    let deep = json!([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]], [[7.0, 8.0]]]);
    let (shape, items) = of_ncnn("Input in 0 1 a 0=2 1=1 2=4\nPixelShuffle l 1 1 a b 0=2", &[], deep);
    let spread = [1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0];
    assert!(shape == json!([1, 2, 4]) && close(&items, &spread), "{shape} {items:?}");
    let wide = json!([[[1.0, 3.0, 2.0, 4.0], [5.0, 7.0, 6.0, 8.0]]]);
    let (shape, items) = of_ncnn("Input in 0 1 a 0=4 1=2 2=1\nReorg l 1 1 a b 0=2", &[], wide);
    assert!(shape == json!([4, 1, 2]) && close(&items, &all), "{shape} {items:?}");
}

#[test]
fn matrices_are_multiplied() {
    const ROWS: &[f32] = &[1.0, 0.0, -1.0, 0.0, 1.0, 1.0];
    let with = |rest: &[f32]| [ROWS, rest].concat();
    let two = "MemoryData m 0 1 v 0=3 1=2\n";
    for (layers, weights, shape, wanted) in [
        (format!("{two}MatMul l 2 1 a v b 0=1"), with(&[]), json!([2, 2]), &[-2.0, 5.0, -2.0, 11.0][..]),
        ("MemoryData m 0 1 v 0=1 1=3\nMatMul l 2 1 a v b".into(), vec![1.0; 3], json!([2, 1]), &[6.0, 15.0]),
        (
            format!("{two}MemoryData n 0 1 c 0=2\nGemm l 3 1 a v c b 3=1 0=2.0 1=0.5"),
            with(&[10.0, 100.0]),
            json!([2, 2]),
            &[6.0, 110.0, 6.0, 122.0],
        ),
        (
            "MemoryData m 0 1 v 0=3 1=1\nMemoryData n 0 1 c 0=2\nGemm l 3 1 a v c b 3=1".into(),
            vec![1.0, 1.0, 1.0, 10.0, 100.0],
            json!([2, 1]),
            &[16.0, 115.0],
        ),
        (
            format!("{two}Gemm l 2 1 a v b 3=1 6=1 7=2 8=2 9=3 10=1"),
            with(&[0.0, 10.0, 100.0]),
            json!([2, 2]),
            &[8.0, 15.0, 98.0, 111.0],
        ),
    ] {
        let input = json!([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let (found, items) = of_ncnn(&format!("{MATRIX}{layers}"), &weights, input);
        assert!(found == shape && close(&items, wanted), "{layers}: {found} {items:?}");
    }
    let vectors = "Input in 0 1 a 0=3\nMemoryData m 0 1 v 0=3\nMatMul l 2 1 a v b";
    let (shape, items) = of_ncnn(vectors, &[1.0, 1.0, -1.0], json!([1.0, 2.0, 4.0]));
    assert!(shape == json!([1]) && close(&items, &[-1.0]), "{shape} {items:?}");
}

/// Runs lines of a file of PNNX between its inputs and its output `y`.
fn of_pnnx(inputs: &[(&str, Value)], lines: &str) -> (Value, Vec<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.pnnx.param");
    fs::write(&path, pnnx(inputs, lines)).unwrap();
    let values: Vec<Value> = inputs.iter().map(|(_, value)| value.clone()).collect();
    computed(&path, &values)
}

fn pnnx(inputs: &[(&str, Value)], lines: &str) -> String {
    let mut text = String::new();
    for (i, (ty, _)) in inputs.iter().enumerate() {
        text += &format!("pnnx.Input in{i} 0 1 {i} #{i}={ty}\n");
    }
    let (own, all) = (lines.lines().count(), inputs.len());
    format!("7767517\n{} {}\n{text}{lines}\npnnx.Output out 1 0 y\n", own + all + 1, own + all)
}

#[test]
fn truth_values_are_chosen_and_filled() {
    let bits = || ("(4)bool", json!([true, true, false, false]));
    let mask = || ("(4)bool", json!([true, false, true, false]));
    for (inputs, line, wanted) in [
        (vec![mask(), bits()], "torch.where w 2 1 0 1 y $condition=0 $input=1 other=True", [1.0, 1.0, 0.0, 1.0]),
        (vec![mask(), bits()], "torch.where w 2 1 0 1 y $condition=0 other=False $input=1", [1.0, 0.0, 0.0, 0.0]),
        (vec![bits(), mask()], "torch.masked_fill w 2 1 0 1 y $input=0 $mask=1 value=True", [1.0, 1.0, 1.0, 0.0]),
        (vec![bits()], "torch.bitwise_not n 1 1 0 y $input=0", [0.0, 0.0, 1.0, 1.0]),
        (vec![bits(), mask()], "torch.logical_xor n 2 1 0 1 y $input=0 $other=1", [0.0, 1.0, 1.0, 0.0]),
        (vec![("(4)i64", json!([-5, 0, 2, 9]))], "torch.clamp c 1 1 0 y $input=0 min=-1 max=3", [-1.0, 0.0, 2.0, 3.0]),
        (
            vec![("(4)i64", json!([6, 3, 5, 0])), ("(4)i64", json!([3, 3, 1, 7]))],
            "torch.eq e 2 1 0 1 y $input=0 $other=1",
            [0.0, 1.0, 0.0, 0.0],
        ),
    ] {
        let (_, items) = of_pnnx(&inputs, line);
        assert!(close(&items, &wanted), "{line}: {items:?}");
    }
}

/// A signal is what its spectra were made of, however these are normalized.
#[test]
fn spectra_are_inverted() {
    let signal: Vec<f64> = (0..16).map(|i| f64::from((i * 7 + 3) % 11) - 5.0).collect();
    let inputs = || [("(1,16)f32", json!([signal])), ("(4)f32", json!([0.25, 1.0, 0.75, 0.5]))];
    let same = "center=True hop_length=2 n_fft=4 win_length=4";
    let audio = "torchaudio.functional";
    for (norm, border) in
        [("window", "reflect"), ("frame_length", "circular"), ("True", "constant"), ("False", "replicate")]
    {
        for one in ["True", "False"] {
            let settings = format!("{same} normalized={norm} onesided={one} pad=0");
            let lines = format!(
                "{audio}.spectrogram s 2 1 0 1 t $waveform=0 $window=1 {settings} pad_mode={border} power=None\n\
                 {audio}.inverse_spectrogram i 2 1 t 1 y $spectrogram=t $window=1 {settings} length=16"
            );
            let (shape, items) = of_pnnx(&inputs(), &lines);
            assert!(shape == json!([1, 16]) && close(&items, &signal), "{lines}: {items:?}");
        }
    }
    for (norm, one) in [("True", "True"), ("False", "False")] {
        let settings = format!("center=True hop_length=1 n_fft=4 win_length=3 normalized={norm} onesided={one}");
        let lines = format!(
            "torch.stft s 1 1 0 t $input=0 {settings} pad_mode=reflect return_complex=True\n\
             torch.istft i 1 1 t y $input=t {settings} return_complex=False length=16"
        );
        let (_, items) = of_pnnx(&inputs()[..1], &lines);
        assert!(close(&items, &signal), "{lines}: {items:?}");
    }
}

/// Powers of spectra: that of a constant signal is in its first frequency.
#[test]
fn spectra_have_powers() {
    let inputs = [("(1,4)f32", json!([[1.0, 1.0, 1.0, 1.0]])), ("(4)f32", json!([1.0, 1.0, 1.0, 1.0]))];
    for (power, wanted) in [("1.0", 4.0), ("2.0", 16.0), ("3.0", 64.0)] {
        let line = format!(
            "torchaudio.functional.spectrogram s 2 1 0 1 y $waveform=0 $window=1 center=False hop_length=4 n_fft=4 \
             win_length=4 normalized=False onesided=True pad=0 pad_mode=reflect power={power}"
        );
        let (shape, items) = of_pnnx(&inputs, &line);
        assert!(shape == json!([1, 3, 1]) && close(&items, &[wanted, 0.0, 0.0]), "{power}: {shape} {items:?}");
    }
}

#[test]
fn lists_of_expressions_are_lists_of_operands() {
    let inputs = [("(2)f32", json!([1.0, 2.0])), ("(2)f32", json!([3.0, 4.0]))];
    let lines = "pnnx.Expression e 2 1 0 1 l expr=[@1,@0,neg(@0)]\ntorch.cat c 1 1 l y dim=0";
    let (_, items) = of_pnnx(&inputs, lines);
    assert!(close(&items, &[3.0, 4.0, 1.0, 2.0, -1.0, -2.0]), "{items:?}");
    let written = command::feed(&["--from", "pnnx", "--to", "pnnx", "-"], pnnx(&inputs, lines).as_bytes());
    let written = String::from_utf8(written.stdout).unwrap();
    assert!(written.contains("prim::ListConstruct"), "{written}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.pnnx.param");
    fs::write(&path, written).unwrap();
    let values: Vec<Value> = inputs.iter().map(|(_, value)| value.clone()).collect();
    assert!(close(&computed(&path, &values).1, &items));
}

#[test]
fn expressions_that_are_no_operations() {
    let told = |line: &str| {
        let output =
            command::feed(&["--from", "pnnx", "--to", "pnnx", "-"], pnnx(&[("(2)f32", json!(0))], line).as_bytes());
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, _, errors) = told("pnnx.Expression e 1 1 0 y");
    assert!(code == Some(1) && errors.contains("an expression has the parameter `expr` and a result"), "{errors}");
    let (code, _, errors) = told("pnnx.Expression e 1 1 0 y expr=add(@0");
    assert!(code == Some(1) && errors.contains("Error["), "{errors}");
    let (code, text, _) = told("pnnx.Expression e 1 1 0 y expr=@0");
    assert!(code == Some(0) && !text.contains("pnnx.Expression"), "{text}");
    let (code, text, _) = told("pnnx.Expression t 0 1 w expr=zeros\nF.relu r 1 1 0 y");
    assert!(code == Some(0) && text.contains("expr=zeros"), "{text}");
}

/// Small networks of `tests/interop/ncnn_layers.py`, which wrote what ncnn computes.
#[test]
fn recorded_networks_compute_what_ncnn_does() {
    let recorded: Value = serde_json::from_str(include_str!("ncnn.json")).unwrap();
    let recorded = recorded.as_array().unwrap();
    assert!(recorded.len() > 100, "{} networks", recorded.len());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.param");
    for case in recorded {
        let network = case["network"].as_str().unwrap();
        let digits = case["weights"].as_str().unwrap();
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        fs::write(&path, network).unwrap();
        fs::write(path.with_extension("bin"), (0..digits.len()).step_by(2).map(byte).collect::<Vec<_>>()).unwrap();
        let values = case["inputs"].as_array().unwrap().iter().enumerate();
        let values: Map<String, Value> = values.map(|(at, value)| (format!("in{at}"), value.clone())).collect();
        let given = folder.path().join("in.json");
        fs::write(&given, Value::Object(values).to_string()).unwrap();
        let found = done(&["run", "-q", path.to_str().unwrap(), "--inputs", given.to_str().unwrap()]);
        let found: Value = serde_json::from_str(&found).unwrap();
        for (at, wanted) in case["outputs"].as_array().unwrap().iter().enumerate() {
            let found = &found["outputs"][format!("out{at}")];
            let mut extents = Vec::new();
            let mut part = wanted;
            while let Value::Array(items) = part {
                extents.push(items.len());
                part = &items[0];
            }
            assert_eq!(found["shape"], json!(extents), "{network}");
            let (found, wanted) = (flat(&found["data"]), flat(wanted));
            assert!(all_near(&found, &wanted, 1e-3), "{network}\n{found:?}\n{wanted:?}");
        }
    }
}

/// A graph of NNEF has an input, also where a network has none.
#[test]
fn networks_without_inputs_get_one_in_each_form() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.param");
    fs::write(&path, "7767517\n2 2\nMemoryData w 0 1 w 0=3\nReLU r 1 1 w y\n").unwrap();
    fs::write(path.with_extension("bin"), [-1.0f32, 0.0, 2.0].map(f32::to_le_bytes).concat()).unwrap();
    for options in [&[][..], &["--lower", "all"], &["--lower", "all", "--simplify"], &["--fold"]] {
        let text = done(&[options, &["-q", path.to_str().unwrap()]].concat());
        assert!(text.contains("graph model(unused) -> (y)\n"), "{options:?}: {text}");
        assert!(text.contains("unused = external(shape = [1]);\n"), "{options:?}: {text}");
    }
    let (shape, items) = computed(&path, &[json!([0.0])]);
    assert_eq!((shape, items), (json!([3]), vec![0.0, 0.0, 2.0]));
}
