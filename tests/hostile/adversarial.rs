//! Six hundred inputs made to take time or memory, the same in each run: every call ends with exit
//! status 0 or 1 within two seconds of processor time and one gigabyte of memory.
//!
//! The system ends a call that takes longer; the memory in use is looked up all the while. The program is optimized, as
//! that of users is.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::archives::entry;
use crate::common::command::fast;
use crate::common::measured::measured;
use crate::common::{HEADER, Random};
use nnef_flatten::tensor::Tensor;

/// Seconds of processor time.
const SECONDS: u32 = 2;
/// Memory in use, in KiB.
const MEMORY: u64 = 1 << 20;
/// Addresses in KiB: tables reserve more than they use.
const ADDRESSES: u32 = 4 << 20;
const INPUTS: usize = 600;

/// An input: the ending of its file, its bytes, and the calls on it.
struct Input {
    ending: &'static str,
    bytes: Vec<u8>,
    calls: &'static [&'static [&'static str]],
}

const TEXT_CALLS: &[&[&str]] = &[
    &["-q"],
    &["check"],
    &["-q", "--lower", "all", "--to", "json"],
    &["fmt", "--check"],
    &["-q", "--fold", "--share"],
];
/// For expansions that go on up to their limits. The default limits have a test of their own: they take ten times as
/// long as these, in the same way.
const HEAVY_CALLS: &[&[&str]] = &[
    &["-q", "--max-ops", "1000000"],
    &["-q", "--lower", "all", "--limits", "untrusted"],
    &["check", "--limits", "untrusted"],
    &["-q", "--to", "json", "--limits", "untrusted"],
];
const RUN_CALLS: &[&[&str]] =
    &[&["-q", "--verify", "--limits", "untrusted"], &["check"], &["run", "--limits", "untrusted"]];
const MODEL_CALLS: &[&[&str]] = &[&["check"], &["-q"], &["run", "--limits", "untrusted"]];
const LOOP_CALLS: &[&[&str]] = &[
    &["check", "--from", "loops"],
    &["-q", "--from", "loops", "--unroll", "--limits", "untrusted"],
    &["run", "--from", "loops", "--limits", "untrusted"],
];

fn text(text: String) -> Input {
    Input { ending: "nnef", bytes: text.into_bytes(), calls: TEXT_CALLS }
}

fn document(fragments: &str, body: &str) -> String {
    format!("{HEADER}{fragments}\ngraph G( x ) -> ( y ) {{ x = external(shape = [2, 3]); {body} }}\n")
}

const WORDS: &[&str] = &[
    "version",
    "1.0",
    ";",
    "extension",
    "fragment",
    "graph",
    "f",
    "x",
    "y",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "->",
    "=",
    ",",
    ":",
    "tensor",
    "<",
    ">",
    "scalar",
    "integer",
    "if",
    "else",
    "for",
    "in",
    "yield",
    "+",
    "-",
    "*",
    "^",
    "&&",
    "!",
    "1",
    "2.5e300",
    "'a'",
    "\"",
    "'",
    "#",
    "\n",
    "shape_of",
    "length_of",
    "range_of",
    "@",
    "\u{e9}",
    "?",
    "==",
    "..",
    "//",
];

/// Words of the language in any order, behind a good beginning or none.
fn words(random: &mut Random) -> Input {
    let mut made =
        if random.below(2) == 0 { String::new() } else { document("", "y = relu(x);").replace("y = relu(x); }", "") };
    let few = 2 + random.below(WORDS.len() - 1);
    for _ in 0..random.below(40_000) {
        made += WORDS[(random.below(few) * 7 + few) % WORDS.len()];
        made += [" ", "", "\n"][random.below(3)];
    }
    text(made)
}

/// Brackets, signs and calls, opened and perhaps closed again.
fn nested(random: &mut Random) -> Input {
    const PAIRS: &[(&str, &str)] = &[
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        ("!", ""),
        ("relu(", ")"),
        ("x if ", " else x"),
        ("[for i in [1] yield ", "]"),
        ("x[0:", "]"),
        ("(x, ", ")"),
        ("max(x, y = ", ")"),
        ("1 + ", ""),
        ("2 ^ ", ""),
    ];
    let depth = 1 << random.below(17);
    let (first, second) = (PAIRS[random.below(PAIRS.len())], PAIRS[random.below(PAIRS.len())]);
    let mut made = String::new();
    (0..depth).for_each(|i| made += if i % 2 == 0 { first.0 } else { second.0 });
    made += "x";
    let closed = if random.below(3) == 0 { random.below(depth) } else { depth };
    (0..closed).rev().for_each(|i| made += if i % 2 == 0 { first.1 } else { second.1 });
    text(document(&format!("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = {made}; }}"), "y = f(x);"))
}

/// Fragments that call others more than once: exponentially many calls.
fn calls(random: &mut Random) -> Input {
    let (depth, width) = (1 + random.below(60), 1 + random.below(4));
    let body = ["relu(x)", "x", "x + x", "copy(x) if n > 0 else x"][random.below(4)];
    let mut fragments =
        format!("fragment f0( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) {{ y = {body}; }}\n");
    for i in 1..=depth {
        let call = (0..width).fold("x".to_owned(), |inner, _| format!("f{}({inner}, n + 1)", i - 1));
        let _ = writeln!(
            fragments,
            "fragment f{i}( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) {{ y = {call}; }}"
        );
    }
    Input { calls: HEAVY_CALLS, ..text(document(&fragments, &format!("y = f{depth}(x, 1);"))) }
}

/// Recursion that does not end, or hardly ever, with values that grow.
fn recursion(random: &mut Random) -> Input {
    let grown = ["a + a", "a + [n]", "[for i in a yield i + 1]", "a[0:]", "a * 2", "a"][random.below(6)];
    let ends = ["true", "n > 0", "length_of(a) < 100000000", "n != n + 1"][random.below(4)];
    let call = ["f(x, n + 1, A)", "relu(f(x, n + 1, A))", "f(f(x, n - 1, A), n - 1, a)"][random.below(3)];
    let locals = random.below(300);
    let extra: String = (0..locals).map(|i| format!("t{i} = n + {i}; ")).collect();
    let uses: String = (0..locals).map(|i| format!(" + t{i}")).collect();
    let fragment = format!(
        "fragment f( x: tensor<scalar>, n: integer, a: integer[] ) -> ( y: tensor<scalar> )
         {{ {extra} m = n{uses}; y = {} if {ends} && m != -1 else x; }}",
        call.replace('A', grown)
    );
    Input { calls: HEAVY_CALLS, ..text(document(&fragment, "y = f(x, 1, [1, 2]);")) }
}

/// Comprehensions in comprehensions over long arrays.
fn comprehensions(random: &mut Random) -> Input {
    let long = 10usize.pow(random.below(9) as u32);
    let deep = 1 + random.below(5);
    let made = (0..deep).fold("i".to_owned(), |inner, level| match random.below(3) {
        0 => format!("[for i in range_of([0] * {long}) yield {inner}]"),
        1 => format!("[for i in range_of([0] * {long}) if i > {level} yield {inner}]"),
        _ => format!("[for i in [{level}] * {long}, j in range_of([0] * {long}) yield {inner}]"),
    });
    let made = made.replacen("yield i]", "yield 1]", 1);
    let body = format!("a = {made}; y = relu(x) if length_of(a) > 0 else x;");
    Input {
        calls: HEAVY_CALLS,
        ..text(document(&format!("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ {body} }}"), "y = f(x);"))
    }
}

/// Shapes and attributes that are far too large, for the evaluator.
fn shapes(random: &mut Random) -> Input {
    let pick = random.below(14);
    let mut number = |most: u32| {
        let number = 10u64.pow(random.below(most as usize) as u32) * (1 + random.below(9)) as u64;
        number.to_string()
    };
    let operations = [
        "tile(x, repeats = [A, B])",
        "pad(x, padding = [(A, B), (0, 1)])",
        "reshape(x, shape = [A, B])",
        "conv(C, D, padding = [(A, B), (0, 0)], stride = [A, 1])",
        "max_pool(x, size = [A, B], border = 'ignore')",
        "box(x, size = [A, B], border = 'constant', padding = [(A, B), (A, B)])",
        "sum_reduce(matmul(C, C), axes = [0, 1])",
        "nearest_upsample(D, factor = [A, B])",
        "multilinear_upsample(D, factor = [A, B])",
        "concat([tile(x, repeats = [1, A]), x], axis = 1)",
        "stack(unstack(tile(x, repeats = [A, 1]), axis = 0), axis = 0)",
        "slice(x, axes = [1], begin = [A], end = [B])",
        "softmax(tile(x, repeats = [A, B]))",
        "deconv(D, D, stride = [A, B], output_shape = [1, 1, A, B])",
    ];
    let operation = operations[pick].replace('A', &number(19)).replace('B', &number(7));
    let wide = format!("constant(shape = [{}, {}], value = [1.0])", number(8), number(5));
    let deep = format!("constant(shape = [1, 1, {}, {}], value = [1.0])", number(5), number(5));
    let operation = operation.replace('C', &wide).replace('D', &deep);
    let text = format!(
        "version 1.0;\ngraph G( z ) -> ( y ) {{ z = external(shape = [1]); x = constant(shape = [2, 3], value = [1.0]); y = {operation}; }}\n"
    );
    Input { ending: "nnef", bytes: text.into_bytes(), calls: RUN_CALLS }
}

/// Names, strings and numbers that are long, or nearly right, or both; half of them are right.
fn names(random: &mut Random) -> Input {
    let (long, many) = (1 << random.below(14), 1 + random.below(300));
    let letter = ["a", "_", "z9", "\u{e4}", "\\'", "1"][random.below(6)];
    let is_right = random.below(2) == 0;
    let name = |i: usize| format!("n{}{i}", letter.repeat(long));
    let argument = |i: usize| match is_right {
        true => format!("{} = {i}", name(i)),
        false => format!("{}b = '{}'", name(i), letter.repeat(long)),
    };
    let parameters: Vec<String> = (0..many).map(|i| format!("{}: integer = 0", name(i))).collect();
    let arguments: Vec<String> = (0..many).map(argument).collect();
    let fragment =
        format!("fragment f( x: tensor<scalar>, {} ) -> ( y: tensor<scalar> ) {{ y = x; }}", parameters.join(", "));
    text(document(&fragment, &format!("y = f(x, {});", arguments.join(", "))))
}

const EXAMPLES: &[&str] = &[
    include_str!("../../examples/repeat.nnef"),
    include_str!("../../examples/transformer.nnef"),
    include_str!("../../examples/gru.nnef"),
    include_str!("../../examples/pyramid.nnef"),
    include_str!("../../examples/moments.nnef"),
    include_str!("../../examples/loops/clauses.nnef"),
    include_str!("../../examples/loops/scan.nnef"),
];

/// Copies parts of a text to other places of it, and replaces its numbers by large ones.
fn spliced(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..1 + random.below(6) {
        let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
        let part = bytes[from..bytes.len().min(from + random.below(200))].to_vec();
        match random.below(4) {
            0 => drop(bytes.splice(to..to, part.repeat(1 + random.below(50)))),
            1 => bytes[to] = random.below(256) as u8,
            2 => drop(bytes.drain(from..(from + part.len()).min(bytes.len()))),
            _ => {
                if let Some(at) = bytes[to..].iter().position(u8::is_ascii_digit) {
                    bytes.splice(to + at..=to + at, b"99999999"[random.below(8)..].iter().copied());
                }
            }
        }
    }
    bytes
}

fn mutants(random: &mut Random) -> Input {
    let example = EXAMPLES[random.below(EXAMPLES.len())].as_bytes().to_vec();
    Input { ending: "nnef", bytes: spliced(example, random), calls: TEXT_CALLS }
}

/// A graph of a model with one file of data.
const MODEL_GRAPH: &str = "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2]); \
    v = variable(shape = [2], label = 'v'); y = add(x, v); }";

/// Archives of models with all that one may claim in them, and some that are right.
fn archives(random: &mut Random) -> Input {
    let made = claims(random);
    if random.below(4) > 0 {
        return made;
    }
    let data = Tensor::scalars(&[2], vec![0.5; 2]).unwrap().to_dat().unwrap();
    let mut archive = Vec::new();
    entry(&mut archive, "graph.nnef", b'0', MODEL_GRAPH.len() as u64, MODEL_GRAPH.as_bytes());
    entry(&mut archive, "v.dat", b'0', data.len() as u64, &data);
    archive.resize(archive.len() + 1024, 0);
    Input { ending: "tar", bytes: archive, calls: MODEL_CALLS }
}

/// Archives with any entries, packed or not.
fn claims(random: &mut Random) -> Input {
    let mut archive = Vec::new();
    let long = "g".repeat(random.below(1 << 16));
    let data = vec![[0, b'@', b'\n', 0xff][random.below(4)]; 1 << random.below(24)];
    for _ in 0..1 + random.below(8) {
        match random.below(8) {
            0 | 1 => entry(&mut archive, "graph.nnef", b'0', MODEL_GRAPH.len() as u64, MODEL_GRAPH.as_bytes()),
            2 => entry(&mut archive, "graph.nnef", b'0', data.len() as u64, &data),
            3 => entry(&mut archive, "v.dat", b'0', data.len() as u64, &data),
            4 => entry(&mut archive, "graph.quant", b'0', data.len() as u64, &data),
            5 => entry(&mut archive, "././@LongLink", b'L', long.len() as u64, long.as_bytes()),
            6 => entry(&mut archive, "a", b"0125xgSK"[random.below(8)], random.next() >> 31, b"27 path=graph.nnef\n"),
            _ => entry(&mut archive, ["../v.dat", "/v.dat", "v.dat/", "", "\x1b[2J"][random.below(5)], b'0', 1, b"x"),
        }
    }
    archive.resize(archive.len() + 1024, 0);
    if random.below(2) == 0 {
        return Input { ending: "tar", bytes: archive, calls: MODEL_CALLS };
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&archive).unwrap();
    let mut bytes = packed.finish().unwrap();
    if random.below(4) == 0 {
        bytes = spliced(bytes, random);
    }
    Input { ending: "tgz", bytes, calls: MODEL_CALLS }
}

const NETWORKS: &[&str] = &[
    include_str!("../../examples/loops/elman.json"),
    include_str!("../../examples/loops/fibonacci.json"),
    include_str!("../../examples/loops/lstm.json"),
    include_str!("../../examples/loops/power.json"),
    include_str!("../../examples/loops/decode.json"),
];

fn networks(random: &mut Random) -> Input {
    let network = NETWORKS[random.below(NETWORKS.len())];
    let many = format!("\"data\": {}", 10u64.pow(random.below(10) as u32));
    let large = format!("\"shape\": [{}", 10u64.pow(random.below(12) as u32));
    let bytes = match random.below(4) {
        0 => network.replace("\"data\": 10", &many).into_bytes(),
        1 => network.replace("\"shape\": [", &(large + ", ")).into_bytes(),
        2 => "[".repeat(1 << random.below(18)).into_bytes(),
        _ => spliced(network.as_bytes().to_vec(), random),
    };
    Input { ending: "json", bytes, calls: LOOP_CALLS }
}

/// Archives of arrays for a graph whose inputs they have, or not.
fn arrays(random: &mut Random) -> Input {
    let tensors: Vec<Tensor> =
        (0..4).map(|i| Tensor::scalars(&[1 << (5 * i)], vec![0.5; 1 << (5 * i)]).unwrap()).collect();
    let names = ["x", "y", "z", "x.npy"];
    let mut bytes = spliced(Tensor::to_npz(names.iter().copied().zip(&tensors)).unwrap(), random);
    if random.below(4) == 0 {
        bytes = Tensor::to_npz([("x", &Tensor::scalars(&[2, 3], vec![0.5; 6]).unwrap())]).unwrap();
    }
    Input { ending: "npz", bytes, calls: &[&["run", "GRAPH", "--inputs"]] }
}

const ONNX_CALLS: &[&[&str]] = &[
    &["check"],
    &["-q", "--fold", "--share"],
    &["-q", "--fold", "--unroll", "--lower", "all"],
    &["-q", "--unroll", "--max-trips", "1000", "--annotate"],
    &["-q", "--to", "json", "--limits", "untrusted"],
    &["-q", "--to", "nnef"],
    &["run", "--limits", "untrusted"],
];

/// Graphs of ONNX in which extents, trips and items are computed.
const ONNX_GRAPHS: &[&str] = &[
    "g (float[2,3] x) => (y) <int64[2] s = {64, 65}, int64[2] r = {9, 9}> { a = Expand (x, r) b = Tile (a, s) y = Softmax (b) }",
    "g (float[2] x) => (y) <int64 n = {100}, bool c = {1}> { y = Loop <body = b (int64 i, bool d, float[2] a) => (d, e) { e = Add (a, a) }> (n, c, x) }",
    "g (float[5,2,3] x, float[1,16,3] w, float[1,16,4] r) => (y) { y, h, c = LSTM <hidden_size = 4> (x, w, r) }",
    "g (float[4,2] x) => (y, z) { y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (f, f) { f = Add (a, e) }> (x, x) }",
    "g (int64[2] x) => (y) <int64 a = {0}, int64 b = {1000}, int64 c = {1}, float[2] v = {0, 1}> { d = Range (a, b, c) e = OneHot (d, b, v) y = ReduceSum (e) }",
    "g (float[1,4,8,8] x) => (y) <int64[4] p = {1, 4, 80, 80}> { s = ConstantOfShape (p) y = Resize <mode = \"cubic\"> (x, , , p) }",
    "g (float[1,4,6,8] q, float[1,2,9,8] k) => (y) { y = Attention <is_causal = 1> (q, k, k) }",
    "g (float[2,3] x) => (y) { a = l.f (x) b = l.f (a) y = Einsum <equation = \"ab,cb,dc->ad\"> (a, b, b) } <domain: \"l\", opset_import: [\"\" : 23]> f (a) => (c) { b = Gelu (a) c = LayerNormalization (b, b) }",
];

/// Models of ONNX, with larger numbers, and parts at other places.
fn models(random: &mut Random) -> Input {
    let graph = ONNX_GRAPHS[random.below(ONNX_GRAPHS.len())];
    let text = format!("<ir_version: 10, opset_import: [\"\" : 23, \"l\" : 1]>\n{graph}");
    let bytes = if random.below(8) == 0 { text.into_bytes() } else { spliced(text.into_bytes(), random) };
    Input { ending: "onnxtxt", bytes, calls: ONNX_CALLS }
}

const MAKERS: &[fn(&mut Random) -> Input] =
    &[words, nested, calls, recursion, comprehensions, shapes, names, mutants, archives, networks, arrays, models];

/// Calls the command on an input made from a seed: whether it is accepted, or what is wrong with how it ends.
fn attack(folder: &Path, i: usize) -> Result<bool, String> {
    let mut random = Random::new(0xADDE + i as u64);
    let input = MAKERS[i % MAKERS.len()](&mut random);
    let call = random.below(input.calls.len());
    ends(folder, i, &input, input.calls[call], SECONDS)
}

/// Calls the command on an input for so many seconds of processor time: whether it is accepted, or what is wrong with how it
/// ends.
fn ends(folder: &Path, i: usize, input: &Input, call: &[&str], seconds: u32) -> Result<bool, String> {
    told(folder, i, input, call, seconds).map(|refusal| refusal.is_none())
}

/// The same; of an input that is refused, what is said.
fn told(folder: &Path, i: usize, input: &Input, call: &[&str], seconds: u32) -> Result<Option<String>, String> {
    let path = folder.join(format!("{i}.{}", input.ending));
    std::fs::write(&path, &input.bytes).unwrap();
    let graph = folder.join("given.nnef");
    let words = call.iter().map(|word| if *word == "GRAPH" { graph.as_os_str() } else { OsStr::new(word) });
    let limits = [format!("-t {seconds}"), format!("-v {ADDRESSES}")];
    let limited = fast::call(words).args([&path]).limited(&limits.each_ref().map(String::as_str));
    let (output, peak) = measured(&mut limited.command());
    std::fs::remove_file(&path).unwrap();
    if peak > MEMORY {
        return Err(format!("input {i}, {call:?}: {} MiB", peak >> 10));
    }
    match output.status.code() {
        Some(0) => Ok(None),
        Some(1) if !output.stderr.is_empty() || call[0] == "fmt" => {
            Ok(Some(String::from_utf8_lossy(&output.stderr).into_owned()))
        }
        code => {
            let said = String::from_utf8_lossy(&output.stderr).chars().take(300).collect::<String>();
            Err(format!("input {i}, {call:?}: {code:?} {:?}\n{said}", output.status))
        }
    }
}

#[test]
fn the_default_limits_end_an_explosion() {
    let folder = tempfile::tempdir().unwrap();
    let fragment = |i: usize, body: &str| {
        format!("fragment f{i}( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = {body}; }}\n")
    };
    let call = |i: usize| fragment(i + 1, &format!("f{i}(f{i}(f{i}(x)))"));
    let fragments = (0..40).fold(fragment(0, "x + x"), |made, i| made + &call(i));
    let input = text(document(&fragments, "y = f40(x);"));
    // It makes as many operations as are allowed, and fills memory: where processors share a core and its memory with others
    // that work, that takes twice the processor time of an idle machine.
    let refusal = told(folder.path(), 0, &input, &["-q"], 2 * SECONDS).unwrap().unwrap();
    assert!(refusal.contains("E0811") && refusal.contains("more than 10000000 operations"), "{refusal}");
}

#[test]
fn hostile_inputs_take_little_time_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("given.nnef"), document("", "y = relu(x);")).unwrap();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut ends = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= INPUTS {
                return ends;
            }
            ends.push((i % MAKERS.len(), attack(folder.path(), i)));
        }
    };
    let ends: Vec<(usize, Result<bool, String>)> = thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let bad: Vec<&str> = ends.iter().filter_map(|(_, end)| end.as_ref().err().map(String::as_str)).collect();
    assert!(bad.is_empty(), "{} bad\n{}", bad.len(), bad.join("\n"));
    // Inputs that are refused at their first letters attack nothing. Words in any order need not be accepted.
    let accepted = |kind: usize| ends.iter().filter(|(of, end)| *of == kind && *end == Ok(true)).count();
    let accepted: Vec<usize> = (0..MAKERS.len()).map(accepted).collect();
    println!("{accepted:?} of {} are accepted", INPUTS / MAKERS.len());
    assert!(accepted.iter().sum::<usize>() * 10 > INPUTS, "{accepted:?}");
    assert!(accepted[1..].iter().all(|count| *count > 0), "{accepted:?}");
}
