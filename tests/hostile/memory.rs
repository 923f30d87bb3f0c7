//! Small documents that ask for much memory: each operation of the command stays within its budget, or is refused.
//!
//! The most memory in use is that which the system tells of the process, without what the command takes for a document
//! of one operation.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nnef_flatten::input::Refusal;
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Options, open};

use crate::common::command::fast;
use crate::common::measured::{measured, thread_time};
use crate::common::protobuf::{field, head, varint};
use crate::common::{HEADER, list};

/// The budget in bytes.
const BUDGET: u64 = 64 << 20;

/// A document with fragments and statements beside an input `x`; `y` is its result.
fn document(fragments: &str, shape: &str, body: &str) -> String {
    format!("{HEADER}{fragments}graph G( x ) -> ( y ) {{ x = external(shape = {shape}); {body} }}\n")
}

/// Fragments of which each calls the one before it twice.
fn doubled(first: &str, depth: usize) -> String {
    let head = |k: usize| format!("fragment f{k}( x: tensor<scalar> ) -> ( y: tensor<scalar> )");
    let calls = |k: usize| format!("{} {{ y = f{}(f{}(x)); }}\n", head(k), k - 1, k - 1);
    format!("{} {{ y = {first}; }}\n{}", head(0), (1..=depth).map(calls).collect::<String>())
}

fn texts() -> Vec<(&'static str, String)> {
    let constant = "v = constant(shape = [N], value = [1.0]); t = relu(v); u = exp(t); w = exp(u); y = add(x, w);";
    let pads = list(2000, " ", |k| format!("t{k} = pad(x, padding = [(0, 0), (0, {k})]);"));
    let names = list(2000, ", ", |k| format!("t{k}"));
    let copies = list(3000, ", ", |k| format!("t{k}"));
    let ones = list(20_000, ", ", |_| "1".to_owned());
    let lifted = list(2000, " ", |k| format!("t{} = unsqueeze(t{k}, axes = [0]);", k + 1));
    vec![
        ("few operations", document(&doubled("relu(x)", 10), "[1]", "y = f10(x);")),
        ("many operations", document(&doubled("relu(x)", 17), "[1]", "y = f17(x);")),
        ("more operations", document(&doubled("relu(x)", 20), "[1]", "y = f20(x);")),
        ("many constants", document(&doubled("x * constant(shape = [1000], value = [2.0])", 14), "[1]", "y = f14(x);")),
        ("many nodes", document(&doubled("round(x)", 16), "[1]", "y = f16(x);")),
        ("items", document("", "[1]", &constant.replace('N', "4000000"))),
        ("more items", document("", "[1]", &constant.replace('N', "400000000"))),
        ("pads", document("", "[2, 3]", &format!("{pads} y = concat([{names}], axis = 1);"))),
        ("copies", document("", "[1000]", &format!("[{copies}] = copy_n(x, times = 3000); y = copy(t2999);"))),
        ("axes", document("", &format!("[{ones}]"), &format!("t0 = relu(x); {lifted} y = copy(t2000);"))),
    ]
}

const CALLS: &[&[&str]] = &[
    &[],
    &["--to", "json"],
    &["--to", "onnx"],
    &["--to", "onnxtxt"],
    &["--to", "pnnx"],
    &["--unroll", "--flat"],
    &["--fold", "--lower", "all"],
    &["--verify"],
];

/// The most memory in use of a call in bytes, and its exit status: 1 only if it is refused for its memory.
fn peak(path: &Path, call: &[&str]) -> (u64, Option<i32>) {
    let limited = fast::call(["-q", "--max-memory", &BUDGET.to_string(), "-o", "/dev/null"]).args(call).args([path]);
    let (output, peak) = measured(&mut limited.command());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || told.contains("--max-memory"), "{} {call:?}: {told:.1000}", path.display());
    (peak << 10, output.status.code())
}

/// A model of ONNX with a call and a constant of so many bytes, which has no blocks on the disk.
fn large_model(path: &Path, bytes: u64) {
    use std::io::{Seek, SeekFrom, Write};
    let tensor = [vec![8], varint(bytes / 4), vec![16, 1], field(8, b"w"), head(9, bytes)].concat();
    let call = [field(1, b"w"), field(2, b"y"), field(4, b"f"), field(7, b"l")].concat();
    let neg = [field(1, b"a"), field(2, b"b"), field(4, b"Neg")].concat();
    let opsets = [field(8, b"\x10\x15"), field(8, b"\x0a\x01l\x10\x01")].concat();
    let function =
        [field(1, b"f"), field(4, b"a"), field(5, b"b"), field(7, &neg), field(9, b"\x10\x15"), field(10, b"l")]
            .concat();
    let output = field(12, [field(1, b"y"), field(2, field(1, b"\x08\x01"))].concat());
    let nodes = [field(1, &call), field(2, b"g"), head(5, tensor.len() as u64 + bytes), tensor].concat();
    let graph = head(7, (nodes.len() + output.len()) as u64 + bytes);
    let before = [vec![8, 10], opsets, field(25, &function), graph, nodes].concat();
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(&before).unwrap();
    file.seek(SeekFrom::Current(bytes as i64)).unwrap();
    file.write_all(&output).unwrap();
}

#[test]
fn constants_of_large_models_are_not_in_memory() {
    const SIZE: u64 = 400 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.onnx");
    large_model(&path, SIZE);
    for call in [&["--to", "onnx"][..], &["--to", "json"], &["--share"], &["--fold"]] {
        let (peak, status) = peak(&path, call);
        assert!(status == Some(0) && peak < BUDGET, "{call:?}: {status:?}, {} MiB", peak >> 20);
    }
}

#[test]
fn operations_stay_within_the_memory_of_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.nnef");
    std::fs::write(&path, document("", "[1]", "y = relu(x);")).unwrap();
    let base = CALLS.iter().map(|call| peak(&path, call).0).max().unwrap();
    assert!(base > 0, "no memory is seen");
    let (texts, next, accepted) = (texts(), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut bad = Vec::new();
        while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let path = folder.path().join(format!("{name}.nnef"));
            std::fs::write(&path, text).unwrap();
            for call in CALLS {
                let (peak, status) = peak(&path, call);
                println!("{name} {call:?}: {status:?}, {} MiB", peak >> 20);
                accepted.fetch_add(usize::from(status == Some(0)), Ordering::Relaxed);
                // Two graphs are compared, beside the one that is written.
                let more = if call.contains(&"--verify") { BUDGET / 2 } else { BUDGET / 5 };
                let allowed = base + BUDGET + more + text.len() as u64;
                if peak > allowed || !matches!(status, Some(0 | 1)) {
                    bad.push(format!("{name} {call:?}: {status:?}, {} of {} MiB", peak >> 20, allowed >> 20));
                }
            }
        }
        bad
    };
    let bad: Vec<String> = thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    // What is refused at once stays within any budget, and what is never refused needs none.
    let (accepted, all) = (accepted.into_inner(), texts.len() * CALLS.len());
    assert!((all / 4..all * 4 / 5).contains(&accepted), "{accepted} of {all} calls are accepted");
}

/// Files with a line for each blob, each of which becomes operations with long lists or many operations.
fn layered() -> Vec<(&'static str, &'static str, String)> {
    let file = |lines: &[String]| {
        let blobs: usize = lines.iter().map(|line| line.split(' ').nth(3).unwrap().parse::<usize>().unwrap()).sum();
        format!("7767517\n{} {blobs}\n{}\n", lines.len(), lines.join("\n"))
    };
    let pnnx = |inputs: &[&str], line: &dyn Fn(usize) -> String, n: usize| {
        let inputs = inputs.iter().enumerate().map(|(i, input)| format!("pnnx.Input i{i} 0 1 {input}"));
        let lines: Vec<String> = inputs.chain((0..n).map(line)).chain(["pnnx.Output o 1 0 y0".into()]).collect();
        file(&lines)
    };
    let losses = |i| format!("F.cross_entropy d{i} 2 1 x z y{i} $input=x $target=z");
    let steps = |i| format!("torch.arange d{i} 0 1 y{i} start=0 end=1000000 step=1");
    let planes = |i| format!("nn.Upsample d{i} 1 1 x y{i} size=(1000) mode=linear align_corners=False");
    let spectra = |i| format!("Spectrogram s{i} 1 1 a b{i} 0=1000000 1=1 2=1000 3=1000000");
    let differences = |i| format!("torch.diff d{i} 1 1 x y{i} dim=0 n=900000");
    let ncnn: Vec<String> = ["Input i 0 1 a 0=2000000".to_owned()].into_iter().chain((0..60).map(spectra)).collect();
    vec![
        ("losses", "pnnx", pnnx(&["x #x=(1,1000000)f32", "z #z=(1)i64"], &losses, 100)),
        ("ranges", "pnnx", pnnx(&[], &steps, 100)),
        ("interpolations", "pnnx", pnnx(&["x #x=(1,1,900)f32"], &planes, 100)),
        ("differences", "pnnx", pnnx(&["x #x=(1000000000)f32"], &differences, 1)),
        ("spectra", "ncnn", file(&ncnn)),
    ]
}

#[test]
fn lowered_lines_stay_within_the_memory_of_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.param");
    let lowered = |from, text: &str| {
        std::fs::write(&path, text).unwrap();
        let limited = fast::call(["--max-memory", &BUDGET.to_string(), "-o", "/dev/null", "--lower", "all"]);
        let (output, peak) = measured(&mut limited.args(["--from", from]).args([&path]).command());
        (peak << 10, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // A call of some milliseconds may end before its most memory is seen, so that several are asked.
    let least = || lowered("ncnn", "7767517\n2 2\nInput x 0 1 x 0=2\nReLU r 1 1 x y\n").0;
    let base = (0..10).map(|_| least()).max().unwrap();
    assert!(base > 0, "no memory is seen");
    for (name, from, text) in layered() {
        let (peak, status, told) = lowered(from, &text);
        // The limit counts the tables of the graph, neither their spare room nor what is known of the items.
        let allowed = base + 2 * BUDGET;
        println!("{name}: {} of {} MiB", peak >> 20, allowed >> 20);
        assert!(peak <= allowed && matches!(status, Some(0 | 1)), "{name}: {status:?}, {} MiB", peak >> 20);
        assert!(told.contains("--max-memory"), "{name}: {told}");
    }
}

/// The memory that SECURITY.md promises for untrusted inputs.
const UNTRUSTED: u64 = 256 << 20;

#[test]
fn lowered_lines_stay_within_the_memory_for_untrusted_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, from, text) in layered() {
        std::fs::write(at("file.param"), text).unwrap();
        for verify in [&[][..], &["--verify"]] {
            let call = fast::call(["-q", "--limits", "untrusted", "--lower", "all", "--from", from]).args(verify);
            let (output, peak) = measured(&mut call.args(["-o"]).args([at("flat.nnef"), at("file.param")]).command());
            let peak = peak << 10;
            println!("{name} {verify:?}: {} MiB", peak >> 20);
            assert!(peak <= UNTRUSTED && matches!(output.status.code(), Some(0 | 1)), "{name} {verify:?}: {output:?}");
        }
    }
}

#[test]
fn files_of_arrays_are_refused_by_the_option_that_helps() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("x.nnef"), document("", "[1]", "y = relu(x);")).unwrap();
    let text = "7767517\n2 1\npnnx.Input i 0 1 x #x=(1)f32\npnnx.Output o 1 0 x\n";
    std::fs::write(at("x.pnnx.param"), text).unwrap();
    for name in ["x.pnnx.bin", "x.npy"] {
        std::fs::write(at(name), vec![0; 1 << 20]).unwrap();
    }
    let bound = format!("x={}", at("x.npy").display());
    for (input, options) in [("x.pnnx.param", &[][..]), ("x.nnef", &["--bind", &bound])] {
        let call = fast::call(["-q", "--max-memory", "300000", "-o", "/dev/null"]).args(options).args([at(input)]);
        let (output, _) = measured(&mut call.command());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && told.contains("--max-memory"), "{input}: {told}");
    }
}

#[test]
fn the_stages_of_a_run_share_its_memory() {
    let options = Options::default().with(|options| options.max_memory = 24 << 20);
    let x = [("x".to_owned(), Tensor::scalars(&[1], vec![1.0]).unwrap())];
    // Operations of the flat graph, and items of its evaluation.
    let run = |depth: usize, items: usize| {
        let constant = format!("c = constant(shape = [{items}], value = [1.0]); s = sum_reduce(c, axes = [0]);");
        let text = document(&doubled("relu(x)", depth), "[1]", &format!("{constant} t = f{depth}(x); y = t + s;"));
        open(("graph.nnef", text), &options).unwrap().evaluate(&x).map(drop).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(run(17, 10), Ok(()));
    assert_eq!(run(2, 1_900_000), Ok(()));
    let refused = run(17, 1_900_000).unwrap_err();
    assert!(refused.contains("E0827") && refused.contains("--max-memory"), "{refused}");
    // What a run had is free for the next one.
    assert_eq!(run(17, 10), Ok(()));
}

/// Operators with loops or lists along the axes of `x`, and the extents of `x`, where `N` is large.
const EMPTY: &[(&str, &str)] = &[
    ("Resize <mode = \"linear\"> (x, , , n)", "0, 1, 4"),
    ("Resize <mode = \"cubic\"> (x, , , n)", "0, 1, 4"),
    ("Resize <mode = \"nearest\"> (x, , , n)", "0, 1, 4"),
    ("Unique <axis = 0> (x)", "N, 0"),
    ("Expand (x, n)", "0, 1, 1"),
    ("Concat <axis = 0> (x, x)", "N, 0"),
    ("Scan <num_scan_inputs = 1, body = b (float[0] i) => (float[0] o) { o = Relu (i) }> (x)", "N, 0"),
    ("MatMul (x, x)", "N, 0, 0"),
    ("Det (x)", "N, 0, 0"),
    ("DFT (x)", "0, N, 1"),
    ("Hardmax <axis = 0> (x)", "N, 0"),
];

#[test]
fn tensors_without_items_take_the_steps_of_their_extents() {
    for (call, extents) in EMPTY {
        for large in [3, 1u64 << 27, 1 << 40, 1 << 62] {
            let rank = extents.split(',').count();
            let extents = extents.replace('N', &large.to_string());
            let known = format!("int64[{rank}] s = {{{extents}}}, int64[3] n = {{0, 1, {large}}}");
            let nodes = format!("x = ConstantOfShape (s) z = {call} y = ReduceSum <keepdims = 0> (z)");
            let text =
                format!("<ir_version: 11, opset_import: [\"\": 23]>\ng () => (float y)\n<{known}>\n{{ {nodes} }}\n");
            let opened = || open(("empty.onnxtxt", text.as_str()), &Options::untrusted()).unwrap();
            let start = thread_time();
            let _ = opened().fold(true).print("onnx", &mut std::io::sink());
            let _ = opened().print("nnef", &mut std::io::sink());
            let ended: Result<_, Refusal> = opened().evaluate(&[]);
            let took = thread_time().saturating_sub(start);
            let refused = ended.err().map(|refused| refused.to_string());
            // The promise of 2 seconds is that of optimized builds.
            assert!(took.as_secs() < 4, "{call}, {large}: {took:?}, {refused:?}");
            // The model is right, and nothing but its extents is too much.
            let is_too_large = refused.as_ref().map(|refused| refused.contains("E0827"));
            assert_eq!(is_too_large, (large > 3).then_some(true), "{call}, {large}: {refused:?}");
        }
    }
}
