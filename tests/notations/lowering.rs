//! Law: what `--lower all` writes of any notation has only primitives, so that lowering it again changes nothing.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::all_near;
use crate::common::command::feed;

/// Networks with operations that NNEF defines by others, by their notations.
const NETWORKS: &[(&str, &str)] = &[
    (
        "pnnx",
        "7767517\n7 6\npnnx.Input x 0 1 0 #0=(2,4,6)f32\nF.softmax a 1 1 0 1 dim=1 $input=0\n\
         F.normalize b 1 1 1 2 dim=1 eps=1.0e-12 p=2.0 $input=1\nF.gelu c 1 1 2 3 approximate=tanh\nF.elu d 1 1 3 4 alpha=0.5\n\
         F.hardtanh e 1 1 4 5 max_val=1.0 min_val=-1.0\npnnx.Output y 1 0 5\n",
    ),
    (
        "pnnx",
        "7767517\n4 3\npnnx.Input x 0 1 0 #0=(1,4,6,8)f32\nF.local_response_norm a 1 1 0 1 size=3 alpha=0.1 beta=0.75 k=1.0\n\
         nn.Upsample b 1 1 1 2 mode=nearest scale_factor=(2,2)\npnnx.Output y 1 0 2\n",
    ),
    (
        "pnnx",
        "7767517\n5 4\npnnx.Input x 0 1 0 #0=(2,3,5)f32\nF.interpolate a 1 1 0 1 mode=nearest size=(10)\n\
         pnnx.Expression e 1 1 1 2 expr=tanh(square(@0))\nF.leaky_relu r 1 1 2 3 negative_slope=0.1\npnnx.Output y 1 0 3\n",
    ),
    (
        "ncnn",
        "7767517\n6 6\nInput x 0 1 x 0=6 1=4 2=2\nPooling p 1 1 x p 0=1 1=2 2=2\nSoftmax s 1 1 p s 0=0 1=1\nSELU e 1 1 s e\n\
         ReLU r 1 1 e r 0=0.25\nSwish w 1 1 r y\n",
    ),
    (
        "onnxtxt",
        "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2, 3, 4, 4] x) => (float[2, 3, 4, 4] y)\n{\n\
         a = Softmax <axis = 1> (x) b = LRN <size = 3> (a) c = Elu <alpha = 0.5> (b) d = LpNormalization <axis = 1> (c)\n\
         e = Gelu (d) f = HardSigmoid (e) y = Selu (f)\n}\n",
    ),
    (
        "loops",
        r#"{"name": "g", "inputs": {"x": {"dtype": "float32", "shape": [2, 3]}}, "constants": {}, "layers": [
            {"op": "softmax", "name": "a", "inputs": ["x"], "axis": 1},
            {"op": "softplus", "name": "y", "inputs": ["a"]}], "outputs": ["y"]}"#,
    ),
];

fn done(args: &[&str], text: &str) -> String {
    let output = feed(&[&["-q"], args, &["-"]].concat(), text.as_bytes());
    assert!(output.status.success(), "{args:?}: {}\n{text}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn lowering_all_twice_is_lowering_all_once() {
    for (notation, text) in NETWORKS {
        let once = done(&["--from", notation, "--lower", "all", "--to", "nnef"], text);
        assert_eq!(done(&["--lower", "all"], &once), once, "{notation}");
        assert_eq!(done(&[], &once), once, "{notation}");
        assert_ne!(done(&["--from", notation, "--to", "nnef"], text), once, "{notation}");
        // The definitions are not a part of the document, whose directives strict documents need; formulas may be others.
        let call = ["--from", notation, "--lower", "all", "--to", "nnef", "--strict", "-"];
        let strict = feed(&call, text.as_bytes());
        let told = String::from_utf8(strict.stderr).unwrap();
        assert!(!told.contains("E1310"), "{notation}: {told}");
        match strict.status.success() {
            true => {
                let strict = String::from_utf8(strict.stdout).unwrap();
                assert_eq!(done(&["--lower", "all", "--strict"], &strict), strict, "{notation}");
            }
            // The error function needs a registry.
            false => assert!(told.contains("E2094") && told.contains("`Gelu`"), "{notation}: {told}"),
        }
    }
}

/// Without the option, compounds that NNEF has stay, and both graphs compute the same.
#[test]
fn lowering_changes_the_form_alone() {
    for (notation, text) in NETWORKS {
        let words = ["--from", notation, "--lower", "all", "--to", "nnef", "--verify"];
        done(&words, text);
    }
}

/// ONNX has operators for some compounds, which stay.
#[test]
fn onnx_reads_compounds_that_it_has() {
    let (notation, text) = NETWORKS[0];
    let model = done(&["--from", notation, "--lower", "all", "--to", "onnxtxt"], text);
    for stays in ["= Softmax <axis: int = 1> (", "= Elu <alpha: float = 0.5> ("] {
        assert!(model.contains(stays), "{stays}: {model}");
    }
    for part in ["= Exp (", "= ReduceMax (", "= Where ("] {
        assert!(!model.contains(part), "{part}: {model}");
    }
}

/// The first output of an operator by position, whose operands are inputs or literals.
fn computed(operator: &str, operands: &[(&str, &str)], outputs: &str) -> Vec<f64> {
    let (mut lines, mut inputs) = (String::new(), Vec::new());
    for (at, (typed, value)) in operands.iter().enumerate() {
        if typed.is_empty() {
            lines += &format!("pnnx.Expression e{at} 0 1 {at} expr={value}\n");
        } else {
            lines += &format!("pnnx.Input i{at} 0 1 {at} #{at}={typed}\n");
            inputs.push(format!("\"v_{at}\": {value}"));
        }
    }
    let numbers: Vec<String> = (0..operands.len()).map(|at| at.to_string()).collect();
    let all: Vec<&str> = outputs.split(' ').collect();
    lines += &format!("{operator} o {} {} {} {outputs}\n", operands.len(), all.len(), numbers.join(" "));
    lines += &format!("pnnx.Output y 1 0 {}\n", all[0]);
    let count = operands.len() + 2;
    let text = format!("7767517\n{count} {}\n{lines}", operands.len() + all.len());
    let folder = tempfile::tempdir().unwrap();
    let (file, given) = (folder.path().join("net.pnnx.param"), folder.path().join("in.json"));
    std::fs::write(&file, text).unwrap();
    std::fs::write(&given, format!("{{{}}}", inputs.join(", "))).unwrap();
    let output = feed(&["run", "-q", file.to_str().unwrap(), "--inputs", given.to_str().unwrap()], b"");
    assert!(output.status.success(), "{operator}: {}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (_, output) = found["outputs"].as_object().unwrap().iter().next().unwrap();
    crate::layers::flat(&output["data"])
}

#[test]
fn operators_without_a_name_of_torch_compute_what_torch_does() {
    let text = "7767517\n5 4\npnnx.Input x 0 1 0 #0=(3,4)f32\naten::numel n 1 1 0 1\n\
        torch.arange r 1 1 1 2 start=0 step=5 $end=1\npnnx.Expression e 1 1 2 3 expr=mul(@0,2)\npnnx.Output y 1 0 3\n";
    let flat = done(&["--from", "pnnx", "--lower", "all", "--to", "nnef"], text);
    let (_, statements) = flat.split_once("external(shape = [3, 4]);\n").unwrap();
    let wanted = "    v_2 = constant<integer>(shape = [3], value = [0, 5, 10]);\n    v_3 = mul(v_2, 2);\n}\n";
    assert_eq!(statements, wanted);
    let pairs = [("(4)i64", "[12, -18, 0, 7]"), ("(4)i64", "[8, 27, 5, 0]")];
    assert_eq!(computed("aten::gcd", &pairs, "r"), [4.0, 9.0, 5.0, 7.0]);
    assert_eq!(computed("aten::lcm", &pairs, "r"), [24.0, 54.0, 0.0, 0.0]);
    let bag = |mode: &'static str, padding: &'static str| {
        let operands = [
            ("(3,2)f32", "[[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]]"),
            ("(5)i64", "[0, 2, 1, 1, 2]"),
            ("(3)i64", "[0, 2, 2]"),
            ("", "False"),
            ("", mode),
            ("", "False"),
            ("", "None"),
            ("", "False"),
            ("", padding),
        ];
        computed("aten::embedding_bag", &operands, "r s t u")
    };
    assert_eq!(bag("0", "-1"), [5.0, 50.0, 0.0, 0.0, 8.0, 80.0]);
    assert_eq!(bag("1", "2"), [1.0, 10.0, 0.0, 0.0, 2.0, 20.0]);
    assert_eq!(bag("2", "-1"), [4.0, 40.0, 0.0, 0.0, 4.0, 40.0]);
    let layer = [
        ("(1,2,2)f32", "[[[1.0, 2.0], [-3.0, 5.0]]]"),
        ("", "2"),
        ("", "1"),
        ("(6,2)f32", "[[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]]"),
        ("(6)f32", "[0, 0, 0, 0, 1, 2]"),
        ("(2,2)f32", "[[1, 0], [0, 1]]"),
        ("(2)f32", "[0, 0]"),
        ("", "False"),
        ("", "True"),
        ("", "1.0e-5"),
        ("(2)f32", "[1, 1]"),
        ("(2)f32", "[0, 0]"),
        ("(2)f32", "[1, 1]"),
        ("(2)f32", "[0, 0]"),
        ("(1,2)f32", "[[0, 0]]"),
        ("(1)f32", "[3]"),
        ("(2,1)f32", "[[1], [10]]"),
        ("(2)f32", "[0.5, 0]"),
        ("", "None"),
        ("", "None"),
    ];
    // The values are their bias, and the linear layers give 3.5 and 30.
    let found = computed("aten::_transformer_encoder_layer_fwd", &layer, "r");
    assert!(all_near(&found, &[5.5, 34.0, 1.5, 37.0], 1e-6), "{found:?}");
}
