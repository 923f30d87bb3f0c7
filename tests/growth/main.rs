//! Whatever there can be many of takes instructions in proportion: every list of the language at one length
//! and at several times that length.
//!
//! Instructions are counted by valgrind, because their number is the same in each run, however busy the machine is.
//! Without valgrind the tests are skipped. They take minutes, so that they run by themselves:
//! `cargo test --test growth -- --ignored`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../common/mod.rs"]
mod common;
mod onnx;
mod rank;
mod start;
mod tiny;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

use common::command::{fast, messages};
use common::left_out;
use common::{HEADER, list};
use onnx::{MODELS, SIMPLIFIED, model};
use rank::{MADE_RANKS, OPERANDS, RANKS};

/// A document with fragments and statements beside an input `x`; `y` is its result.
fn document(fragments: &str, body: &str) -> String {
    format!("{HEADER}{fragments}\ngraph G( x ) -> ( y ) {{ x = external(shape = [4]); {body} }}\n")
}

/// A document with a fragment `f` of a tensor and further parameters.
fn fragment(parameters: &str, body: &str, call: &str) -> String {
    let comma = if parameters.is_empty() { "" } else { ", " };
    document(
        &format!("fragment f( x: tensor<scalar>{comma}{parameters} ) -> ( y: tensor<scalar> ) {{ {body} }}"),
        &format!("y = {call};"),
    )
}

/// Makes a text with a list of a length.
type Make = fn(usize) -> String;

/// Documents. Those of cases with a code behind their name are refused with it, the others are accepted.
const DOCUMENTS: &[(&str, Make)] = &[
    ("parameters", |n| fragment(&list(n, ", ", |i| format!("p{i}: integer = {i}")), "y = relu(x);", "f(x)")),
    ("arguments by position", |n| {
        let call = format!("f(x, {})", list(n, ", ", |i| i.to_string()));
        fragment(&list(n, ", ", |i| format!("p{i}: integer")), "y = relu(x);", &call)
    }),
    ("arguments by name", |n| {
        let call = format!("f(x, {})", list(n, ", ", |i| format!("p{} = {i}", n - 1 - i)));
        fragment(&list(n, ", ", |i| format!("p{i}: integer")), "y = relu(x);", &call)
    }),
    ("arguments compared with names: E0217", |n| {
        let call = format!("f(x, {})", list(n, ", ", |i| format!("p{i} == {i}")));
        fragment(&list(n, ", ", |i| format!("p{i}: integer")), "y = relu(x);", &call)
    }),
    ("arguments without parameters: E0405", |n| {
        let call = format!("f(x, {})", list(n, ", ", |i| format!("q{i} = {i}")));
        fragment(&list(n, ", ", |i| format!("p{i}: integer = 0")), "y = relu(x);", &call)
    }),
    ("arguments twice: E0406", |n| {
        let call = format!("f(x, {0}, {0})", list(n, ", ", |i| format!("p{i} = {i}")));
        fragment(&list(n, ", ", |i| format!("p{i}: integer = 0")), "y = relu(x);", &call)
    }),
    ("parameters of the same name: E0302", |n| {
        fragment(&list(n, ", ", |_| "p: integer = 0".into()), "y = relu(x);", "f(x)")
    }),
    ("results", |n| {
        let results = list(n, ", ", |i| format!("r{i}: tensor<scalar>"));
        let body = list(n, " ", |i| format!("r{i} = relu(x);"));
        let targets = list(n, ", ", |i| format!("t{i}"));
        document(
            &format!("fragment f( x: tensor<scalar> ) -> ( {results} ) {{ {body} }}"),
            &format!("({targets}) = f(x); y = relu(t0);"),
        )
    }),
    ("extensions", |n| {
        format!("version 1.0;\n{}\n{}", list(n, "\n", |i| format!("extension E{i} x;")), graph("y = relu(x);"))
    }),
    ("words of an extension", |n| {
        format!("version 1.0;\nextension {};\n{}", list(n, " ", |i| format!("E{i}")), graph("y = relu(x);"))
    }),
    ("fragments", |n| {
        document(
            &list(n, "\n", |i| simple(i, "relu(x)")),
            &list(n, " ", |i| format!("t{i} = f{i}(x);")).replace("t0 ", "y "),
        )
    }),
    ("fragments of the same name: E0301", |n| document(&list(n, "\n", |_| simple(0, "relu(x)")), "y = f0(x);")),
    ("fragments that call each other", |n| {
        let body = |i: usize| if i == 0 { "relu(x)".to_owned() } else { format!("f{}(x)", i - 1) };
        document(&list(n, "\n", |i| simple(i, &body(i))), &format!("y = f{}(x);", n - 1))
    }),
    ("locals", |n| {
        fragment(
            "",
            &(list(n, " ", |i| format!("t{} = relu(t{i});", i + 1)).replacen("t0", "x", 1)
                + &format!(" y = relu(t{n});")),
            "f(x)",
        )
    }),
    ("locals of the same name: E0607", |n| {
        fragment("", &(list(n, " ", |_| "t = relu(x);".into()) + " y = relu(t);"), "f(x)")
    }),
    ("statements", |n| {
        document(
            "",
            &(list(n, "\n", |i| format!("t{} = relu(t{i});", i + 1)).replacen("(t0)", "(x)", 1)
                + &format!(" y = relu(t{n});")),
        )
    }),
    ("inputs", |n| many_inputs(n, |i| format!("x{i} = external(shape = [2]);"))),
    ("inputs that nothing makes: E0612", |n| many_inputs(n, |_| "x0 = external(shape = [2]);".into())),
    ("inputs of the same name: E0302", |n| {
        let names = list(n, ", ", |_| "x".into());
        format!("version 1.0;\ngraph G( {names} ) -> ( y ) {{ x = external(shape = [2]); y = relu(x); }}")
    }),
    ("outputs", |n| {
        let body = list(n, " ", |i| format!("y{i} = relu(x);"));
        format!(
            "version 1.0;\ngraph G( x ) -> ( {} ) {{ x = external(shape = [2]); {body} }}",
            list(n, ", ", |i| format!("y{i}"))
        )
    }),
    ("outputs of the same name: E0302", |n| {
        let names = list(n, ", ", |_| "y".into());
        format!("version 1.0;\ngraph G( x ) -> ( {names} ) {{ x = external(shape = [2]); y = relu(x); }}")
    }),
    ("labels", |n| {
        document("", &(list(n, "\n", |i| format!("v{i} = variable(shape = [4], label = 'l{i}');")) + " y = relu(x);"))
    }),
    ("labels of the same name", |n| {
        document("", &(list(n, "\n", |i| format!("v{i} = variable(shape = [4], label = 'l');")) + " y = relu(x);"))
    }),
    ("updates", |n| {
        let body = list(n, "\n", |i| format!("v{i} = variable(shape = [4], label = 'l{i}'); u{i} = update(v{i}, x);"));
        document("", &(body + " y = relu(x);"))
    }),
    ("items", |n| {
        document("", &format!("y = reshape(x, shape = [{}]);", list(n, ",", |_| "1".into()))).replace("[4]", "[1]")
    }),
    ("items that are expressions", |n| {
        fragment(
            "n: integer",
            "y = pad(x, padding = [for i in a yield (i, i)]) if false else relu(x);"
                .replace("a yield", &format!("[{}] yield", list(n, ",", |i| format!("n + {i}"))))
                .as_str(),
            "f(x, 1)",
        )
    }),
    ("items that are tensors", |n| document("", &format!("y = concat([{}], axis = 0);", list(n, ",", |_| "x".into())))),
    ("targets of an array", |n| {
        document(
            "",
            &format!(
                "[{}] = split(x, axis = 0, ratios = [{}]); y = relu(t0);",
                list(n, ",", |i| format!("t{i}")),
                list(n, ",", |_| "1".into())
            ),
        )
        .replace("[4]", &format!("[{n}]"))
    }),
    ("iterators", |n| {
        fragment(
            "",
            &format!(
                "r = [for {} yield i0]; y = relu(x) if length_of(r) > 0 else x;",
                list(n, ", ", |i| format!("i{i} in [1]"))
            ),
            "f(x)",
        )
    }),
    ("iterators of the same name: E0611", |n| {
        fragment(
            "",
            &format!(
                "r = [for {} yield i]; y = relu(x) if length_of(r) > 0 else x;",
                list(n, ", ", |_| "i in [1]".into())
            ),
            "f(x)",
        )
    }),
    ("turns", |n| {
        fragment("", &format!("ts = [for i in range_of([0] * {n}) yield relu(x)]; y = concat(ts, axis = 0);"), "f(x)")
    }),
    ("branches", |n| {
        fragment(
            "n: integer",
            &format!("y = {} relu(x);", list(n, " ", |i| format!("tanh(x) if n == {i} else"))),
            "f(x, -1)",
        )
    }),
    ("conditions", |n| {
        fragment(
            "n: integer",
            &format!("y = relu(x) if {} else tanh(x);", list(n, " && ", |i| format!("n != {i}"))),
            "f(x, -1)",
        )
    }),
    ("sums", |n| fragment("", &format!("y = {};", list(n, " + ", |_| "x".into())), "f(x)")),
    ("signs", |n| fragment("", &format!("y = {}x;", "-".repeat(n)), "f(x)")),
    ("parentheses", |n| fragment("", &format!("y = {}x{};", "(".repeat(n), ")".repeat(n)), "f(x)")),
    ("subscripts", |n| {
        let parts = format!("length_of(a{})", "[0:]".repeat(n));
        fragment("a: integer[]", &format!("y = relu(x) if {parts} == 2 else tanh(x);"), "f(x, [1, 2])")
    }),
    ("calls within calls", |n| fragment("", &format!("y = {}x{};", "relu(".repeat(n), ")".repeat(n)), "f(x)")),
    ("arrays in arrays", |n| fragment(&format!("a: integer{} = []", "[]".repeat(n)), "y = relu(x);", "f(x)")),
    ("array literals in array literals", |n| {
        fragment("", &format!("a = {}1{}; y = relu(x);", "[".repeat(n), "]".repeat(n)), "f(x)")
    }),
    ("tuples in tuples", |n| {
        let nested = |item: &str| format!("{}{item}{}", "(".repeat(n), format!(", {item})").repeat(n));
        fragment(&format!("a: {}", nested("integer")), "y = relu(x);", &format!("f(x, {})", nested("1")))
    }),
    ("items of a tuple", |n| {
        fragment(
            &format!("a: ({})", list(n, ", ", |_| "integer".into())),
            "y = relu(x);",
            &format!("f(x, ({}))", list(n, ", ", |_| "1".into())),
        )
    }),
    ("tuple targets", |n| {
        fragment(
            "",
            &format!("({}) = ({}); y = relu(x);", list(n, ", ", |i| format!("a{i}")), list(n, ", ", |i| i.to_string())),
            "f(x)",
        )
    }),
    ("open calls", |n| fragment("n: integer", "y = relu(f(x, n - 1)) if n > 0 else x;", &format!("f(x, {n})"))),
    ("undefined names: E0606", |n| document("", &(list(n, " ", |i| format!("t{i} = relu(u{i});")) + " y = relu(x);"))),
    ("undeclared operations", |n| document("", &(list(n, " ", |i| format!("t{i} = reul{i}(x);")) + " y = relu(x);"))),
    ("wrong types: E0701", |n| document("", &(list(n, " ", |i| format!("t{i} = relu('a');")) + " y = relu(x);"))),
    ("syntax errors: E0206", |n| document("", &(list(n, " ", |i| format!("t{i} = relu(;")) + " y = relu(x);"))),
    ("unknown characters: E0108", |n| document("", &(list(n, " ", |_| "@@".into()) + " y = relu(x);"))),
    ("opened parentheses: E0206", |n| document("", &("y = ".to_owned() + &"(".repeat(n)))),
    ("opened braces: E0003", |n| document("", &"{".repeat(n))),
    ("semicolons: E0206", |n| document("", &(";".repeat(n) + "y = relu(x);"))),
    ("semicolons in brackets: E0217", |n| {
        document("", &format!("y = reshape(x, shape = [{}]);", list(n, ";", |_| "1".into())))
    }),
    ("semicolons in a call: E0218", |n| document("", &format!("y = relu({});", list(n, "; ", |i| format!("b{i}"))))),
    ("signs that end nowhere: E0217", |n| document("", &("y = ".to_owned() + &"+ ".repeat(n)))),
    ("strings that end nowhere: E0104", |n| document("", &list(n, "\n", |_| "y = '".into()))),
    ("comments", |n| document("", &("#\n".repeat(n) + "y = relu(x);"))),
    ("quotes", |n| document("", &format!("v = variable(shape = [4], label = '{}'); y = relu(x);", "\\'".repeat(n)))),
    ("digits", |n| document("", &format!("y = max(x, {}.0);", "1".repeat(n)))),
    ("letters of a name", |n| document("", &format!("{0} = relu(x); y = relu({0});", "a".repeat(n)))),
    ("graphs: E0201", |n| {
        format!("version 1.0;\n{}", list(n, "\n", |i| graph("y = relu(x);").replace('G', &format!("G{i}"))))
    }),
    ("recurrences", |n| {
        looped(&format!(
            "{} = with {} do..(2) {{ yield {}; }}",
            list(n, ", ", |i| format!("t{i}")),
            list(n, ", ", |i| format!("s{i} = x")),
            list(n, ", ", |i| format!("relu(s{i})"))
        ))
    }),
    ("arrays iterated over", |n| {
        looped(&format!("t0 = with s = x for {} do relu(s)", list(n, ", ", |i| format!("a{i} : [x]"))))
    }),
    ("trips", |n| looped(&format!("t0 = with s = x do..({n}) relu(s)"))),
    ("loops in loops", |n| {
        // More than 250 are nested too deep.
        let n = n / 10;
        let ends = list(n, "; ", |i| format!("yield v{}; }}", n - 1 - i));
        looped(&format!("t0 = {}relu(x); {ends}", list(n, "", |i| format!("with s{i} = x do..(1) {{ v{i} = "))))
    }),
];

fn graph(body: &str) -> String {
    format!("graph G( x ) -> ( y ) {{ x = external(shape = [4]); {body} }}")
}

fn simple(i: usize, body: &str) -> String {
    format!("fragment f{i}( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = {body}; }}")
}

fn many_inputs(n: usize, made: impl Fn(usize) -> String) -> String {
    let names = list(n, ", ", |i| format!("x{i}"));
    format!("version 1.0;\ngraph G( {names} ) -> ( y ) {{ {} y = relu(x0); }}", list(n, " ", made))
}

fn looped(statement: &str) -> String {
    document(
        &format!(
            "extension flatten_loops;\nfragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ {statement}; y = relu(t0); }}"
        ),
        "y = f(x);",
    )
}

/// A network with loops of given layers; `x` is an input, `n` a count of two.
fn network(more_inputs: &str, layers: &str, outputs: &str) -> String {
    format!(
        r#"{{"name": "net", "inputs": {{"x": {{"dtype": "float32", "shape": [2]}}{more_inputs}}},
        "constants": {{"n": {{"dtype": "int32", "data": 2}}}}, "layers": [{layers}], "outputs": [{outputs}]}}"#
    )
}

const LIMIT: &str = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "n"}, "#;

/// Networks with loops.
const NETWORKS: &[(&str, Make)] = &[
    ("layers", |n| {
        network(
            "",
            &list(n, ", ", |i| layer(&format!("t{}", i + 1), &format!("t{i}"))).replacen("\"t0\"", "\"x\"", 1),
            "\"t1\"",
        )
    }),
    ("layers from last to first", |n| {
        network(
            "",
            &list(n, ", ", |i| layer(&format!("t{}", n - i), &format!("t{}", n - i - 1))).replace("\"t0\"", "\"x\""),
            "\"t1\"",
        )
    }),
    ("undefined tensors: E0974", |n| {
        network("", &list(n, ", ", |i| layer(&format!("t{i}"), &format!("u{i}"))), "\"t0\"")
    }),
    ("layers of the same name: E0973", |n| network("", &list(n, ", ", |_| layer("t", "x")), "\"t\"")),
    ("unknown operations: E0920", |n| {
        network("", &list(n, ", ", |i| layer(&format!("t{i}"), "x").replace("tanh", "tahn")), "\"t0\"")
    }),
    ("network inputs", |n| {
        network(
            &list(n, "", |i| format!(r#", "x{i}": {{"dtype": "float32", "shape": [2]}}"#)),
            &layer("y", "x"),
            "\"y\"",
        )
    }),
    ("network outputs", |n| {
        network("", &list(n, ", ", |i| layer(&format!("t{i}"), "x")), &list(n, ", ", |i| format!("\"t{i}\"")))
    }),
    ("network recurrences", |n| {
        network(
            "",
            &(LIMIT.to_owned()
                + &list(n, ", ", |i| {
                    format!(
                        r#"{{"op": "recurrence", "loop": "L", "name": "s{i}", "initial": "x", "next": "t{i}"}}, {}, {{"op": "loop_output", "loop": "L", "name": "y{i}", "kind": "last_value", "input": "s{i}"}}"#,
                        layer(&format!("t{i}"), &format!("s{i}"))
                    )
                })),
            &list(n, ", ", |i| format!("\"y{i}\"")),
        )
    }),
    ("loops", |n| {
        network(
            "",
            &list(n, ", ", |i| {
                format!(
        r#"{}{{"op": "recurrence", "loop": "L", "name": "s{i}", "initial": "x", "next": "t{i}"}}, {}, {{"op": "loop_output", "loop": "L", "name": "y{i}", "kind": "last_value", "input": "s{i}"}}"#,
        LIMIT, layer(&format!("t{i}"), &format!("s{i}"))
    ).replace("\"L\"", &format!("\"L{i}\""))
            }),
            &list(n, ", ", |i| format!("\"y{i}\"")),
        )
    }),
    ("iterators of a network", |n| {
        network(
            "",
            &(LIMIT.to_owned()
                + &list(n, ", ", |i| {
                    format!(
                        r#"{{"op": "iterator", "loop": "L", "name": "r{i}", "input": "x"}}, {{"op": "loop_output", "loop": "L", "name": "y{i}", "kind": "concatenate", "input": "r{i}", "length": "n"}}"#
                    )
                })),
            &list(n, ", ", |i| format!("\"y{i}\"")),
        )
    }),
];

fn layer(name: &str, input: &str) -> String {
    format!(r#"{{"op": "tanh", "name": "{name}", "inputs": ["{input}"]}}"#)
}

/// Quantizations of a tensor.
const QUANTIZATIONS: &[(&str, Make)] = &[
    ("quantizations of one tensor: E1223", |n| {
        list(n, "\n", |_| "\"x\": linear_quantize(min = 0.0, max = 1.0, bits = 8);".into())
    }),
    ("unknown algorithms", |n| {
        list(n, "\n", |i| format!("\"x{i}\": liner_quantize{i}(min = 0.0, max = 1.0, bits = 8);"))
    }),
    ("quantizations of unknown tensors", |n| {
        list(n, "\n", |i| format!("\"z{i}\": linear_quantize(min = 0.0, max = 1.0, bits = 8);"))
    }),
    ("arguments of a quantization: E1221", |n| {
        format!("\"x\": linear_quantize({});", list(n, ", ", |i| format!("a{i} = 1")))
    }),
];

/// Documents whose operations can be folded or merged.
const REWORKED: &[(&str, Make)] = &[
    ("operations on constants", |n| {
        let step = |i| format!("t{} = sub(mul(t{i}, 0.5), 0.1);", i + 1);
        document("", &format!("t0 = 1.5; {} y = add(x, t{n});", list(n, "\n", step)))
    }),
    ("operations on constants that nothing uses", |n| {
        document("", &(list(n, "\n", |i| format!("t{i} = exp({i}.5);")) + "y = copy(x);"))
    }),
    ("equal operations", |n| document("", &(list(n, "\n", |i| format!("t{i} = exp(x);")) + "y = copy(x);"))),
    ("equal operations on equal operations", |n| {
        let step = |i| format!("t{} = add(exp(t{i}), exp(t{i}));", i + 1);
        document("", &format!("t0 = exp(x); {} y = copy(t{n});", list(n, "\n", step)))
    }),
    ("fragments with constants", |n| {
        let call = |i| format!("t{i} = f{i}(x);");
        document(&list(n, "\n", |i| simple(i, "x * exp(1.5) + x * exp(1.5)")), &(list(n, "\n", call) + "y = copy(x);"))
    }),
    ("calls of a fragment with constants", |n| {
        let call = |i| format!("t{i} = f0(x);");
        document(&simple(0, "x * exp(1.5) + x * exp(1.5)"), &(list(n, "\n", call) + "y = copy(x);"))
    }),
];

/// The length of the first list.
const LENGTH: usize = 500;
/// How many times longer the second list is.
const LONGER: usize = 4;
/// The highest ratio of instructions that is taken for proportion: room for a logarithm, and far below the square.
const MOST: f64 = 4.8;
/// Of pictures: boxes stand in blocks, whose number grows in steps. From 4,000 boxes in a row to 16,000 it takes 5.1 times as
/// many instructions, and from 16,000 to 32,000 not twice as many.
const MOST_DRAWN: f64 = 5.6;

/// What a case is given to the command as.
#[derive(Clone, Copy)]
enum Input {
    /// A document, and the options before it.
    Document(&'static [&'static str]),
    Network,
    Quantization,
    /// A model of ONNX, and the subcommand and options before it.
    Onnx(&'static [&'static str]),
}

/// A document whose loops are unrolled.
const UNROLLED: Input = Input::Document(&["--unroll"]);

impl Input {
    /// A text without any list.
    fn without(self) -> String {
        match self {
            Self::Document(_) => document("", "y = relu(x);"),
            Self::Network => network("", &layer("y", "x"), "\"y\""),
            Self::Quantization => String::new(),
            Self::Onnx(_) => model("", "y = Neg (x)"),
        }
    }

    /// The arguments of a call of the command, whose files are written to a folder.
    fn call(self, folder: &Path, text: &str) -> Vec<OsString> {
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.into_os_string()
        };
        match self {
            Self::Document(options) => {
                let file = file("graph.nnef", text);
                options.iter().map(OsString::from).chain([file]).collect()
            }
            Self::Network => vec!["--unroll".into(), "--from".into(), "loops".into(), file("loops.json", text)],
            Self::Quantization => {
                file("graph.nnef", &document("", "y = relu(x);"));
                file("graph.quant", text);
                vec!["check".into(), folder.into()]
            }
            Self::Onnx(before) => {
                let file = file("model.onnxtxt", text);
                before.iter().map(OsString::from).chain([file]).collect()
            }
        }
    }

    /// The instructions of a run of the command, which ends as the name of the case says; none without valgrind.
    fn steps(self, case: &str, text: &str) -> Option<u64> {
        let folder = tempfile::tempdir().ok()?;
        let code = case.split_once(": ").map(|(_, code)| code);
        instructions(self.call(folder.path(), text).into_iter(), case, code)
    }
}

/// The instructions of a call of the command, which is accepted or refused with a code; none without valgrind.
fn instructions(call: impl Iterator<Item = OsString>, case: &str, code: Option<&str>) -> Option<u64> {
    let options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
    let mut command = Command::new("valgrind");
    command.args(options).arg(fast::program()).args(call);
    let output = command.output().ok()?;
    let told = messages(&output);
    // What is refused at its first line takes a constant number of steps.
    let is_wanted = match code {
        Some(code) => output.status.code() == Some(1) && told.contains(code),
        None => output.status.success(),
    };
    assert!(is_wanted, "{case}: {:?}\n{told:.2000}", output.status);
    counted(&output)
}

/// The instructions that valgrind tells.
fn counted(output: &Output) -> Option<u64> {
    let report = String::from_utf8_lossy(&output.stderr);
    let line = report.lines().find(|line| line.contains("refs:"))?;
    line.rsplit(':').next()?.replace(',', "").trim().parse().ok()
}

/// Compares lists of some length with lists of [`LONGER`] times that length. What the command does for a text without
/// any list counts for neither.
fn grow_in_proportion(input: Input, cases: &[(&'static str, Make)]) {
    grow_at_most(MOST, input, cases);
}

/// [`grow_in_proportion`] with a limit of the ratio.
fn grow_at_most(most: f64, input: Input, cases: &[(&'static str, Make)]) {
    let Some(none) = input.steps("no list", &input.without()) else {
        left_out("valgrind is not installed");
        return;
    };
    let ratio = |(name, make): &(&'static str, Make)| {
        let steps = |n| input.steps(name, &make(n)).unwrap();
        let [one, more] = [LENGTH, LONGER * LENGTH].map(steps);
        // What is refused does not take all the steps of a text without any list: those of a list between the two tell
        // what an item takes.
        let ratio = match name.contains(": ") {
            true => {
                let some = steps(LENGTH * 2);
                let [first, next] = [some.saturating_sub(one), more.saturating_sub(some)].map(|steps| steps as f64);
                // What ends at its first item takes a constant number, or nearly.
                LONGER as f64 * next / (LONGER - 2) as f64 / first.max(one as f64 / 100.0)
            }
            false => more.saturating_sub(none) as f64 / one.saturating_sub(none).max(1) as f64,
        };
        (*name, ratio)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let ratios: Vec<_> = std::thread::scope(|scope| {
        let mut parts = Vec::new();
        for part in cases.chunks(cases.len().div_ceil(threads)) {
            parts.push(scope.spawn(move || part.iter().map(ratio).collect::<Vec<_>>()));
        }
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let wrong: Vec<_> = ratios.iter().filter(|(_, ratio)| *ratio > most).collect();
    assert!(wrong.is_empty(), "{wrong:.2?} of {ratios:.2?}");
}

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn documents_take_steps_in_proportion() {
    grow_in_proportion(UNROLLED, DOCUMENTS);
}

/// Repeated structure for `--outline`, and graphs without it.
const REPEATED: &[(&str, Make)] = &[
    ("chain of equal operations", |n| {
        let step = |i| format!("t{} = tanh(t{i});", i + 1);
        document("", &format!("t0 = exp(x); {} y = copy(t{n});", list(8 * n, "\n", step)))
    }),
    ("equal operations beside each other", |n| {
        document("", &(list(8 * n, "\n", |i| format!("t{i} = exp(x);")) + "y = copy(x);"))
    }),
    ("equal layers", |n| {
        let step =
            |i| format!("a{i} = tanh(t{i}); b{i} = mul(a{i}, x); c{i} = add(b{i}, a{i}); t{} = max(c{i}, 0.5);", i + 1);
        document("", &format!("t0 = exp(x); {} y = copy(t{n});", list(2 * n, "\n", step)))
    }),
    ("layers that a result of each layer goes to", |n| {
        let step = |i| format!("a{i} = tanh(t{i}); b{i} = mul(a{i}, a{}); t{} = max(b{i}, 0.5);", i / 2, i + 1);
        document("", &format!("t0 = exp(x); {} y = copy(t{n});", list(2 * n, "\n", step)))
    }),
    ("operations that are all different", |n| {
        let step = |i: usize| format!("t{} = max(t{i}, {i}.5);", i + 1);
        document("", &format!("t0 = exp(x); {} y = copy(t{n});", list(8 * n, "\n", step)))
    }),
];

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn repeated_structure_takes_steps_in_proportion() {
    grow_in_proportion(Input::Document(&["--outline"]), REPEATED);
}

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn folding_and_merging_take_steps_in_proportion() {
    grow_in_proportion(Input::Document(&["--fold", "--share"]), REWORKED);
    grow_in_proportion(Input::Document(&["--fold", "--share", "--lower", "none"]), REWORKED);
}

/// Operations on extents that are sums of `n` symbols, each combined with all sums before it.
fn sums_of_symbols(n: usize, operations: usize) -> String {
    let extensions = list(n, "\n", |i| format!("extension tract_symbol S{i};"));
    let inputs = list(n, "\n", |i| format!("x{i} = external(shape = [S{i}]);"));
    let but = |j: usize| list(n, ", ", |i| format!("x{}", if i == j { (j + 1) % n } else { i }));
    let sums = list(n, "\n", |j| format!("c{j} = concat([{}], axis = 0);", but(j)));
    let adds = list(operations, "\n", |i| format!("a{} = add(a{i}, c{});", i + 1, i % n)).replace("(a0,", "(c0,");
    let last = if operations == 0 { "c0".to_owned() } else { format!("a{operations}") };
    let names = list(n, ", ", |i| format!("x{i}"));
    format!("version 1.0;\n{extensions}\ngraph G( {names} ) -> ( y ) {{ {inputs} {sums} {adds} y = copy({last}); }}")
}

/// The extents have up to `n` sums of `n` symbols.
#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn broadcast_extents_take_steps_in_proportion() {
    let steps = |n, operations| UNROLLED.steps("sums of symbols", &sums_of_symbols(n, operations));
    if steps(1, 0).is_none() {
        left_out("valgrind is not installed");
        return;
    }
    let [few, many] = [5, 15].map(|n| {
        let [none, all] = [0, 200].map(|operations| steps(n, operations).unwrap());
        all.saturating_sub(none)
    });
    let ratio = many as f64 / few.max(1) as f64;
    assert!(ratio < 9.0 * MOST / LONGER as f64, "{ratio:.2}");
}

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn networks_take_steps_in_proportion() {
    grow_in_proportion(Input::Network, NETWORKS);
}

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn quantizations_take_steps_in_proportion() {
    grow_in_proportion(Input::Quantization, QUANTIZATIONS);
}

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn onnx_models_take_steps_in_proportion() {
    grow_in_proportion(Input::Onnx(&["check", "--unroll"]), MODELS);
    grow_in_proportion(Input::Onnx(&["--lower", "none", "--to", "json"]), MODELS);
    grow_in_proportion(Input::Onnx(&["--simplify", "--to", "onnxtxt"]), SIMPLIFIED);
}

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn axes_and_operands_take_steps_in_proportion() {
    for options in [&["--to", "onnxtxt"][..], &["--drop-bitcasts", "--stats"], &["--fold", "--verify"]] {
        grow_in_proportion(Input::Document(options), RANKS);
        // The evaluator makes no tensors of so many axes.
        if !options.contains(&"--verify") {
            grow_in_proportion(Input::Document(options), MADE_RANKS);
        }
    }
    for options in [&["--to", "onnxtxt"][..], &["--verify"]] {
        grow_in_proportion(Input::Document(options), OPERANDS);
    }
}

/// Graphs whose lines are long or meet in one place.
const DRAWN: &[(&str, Make)] = &[
    ("chain that passes results on", |n| {
        let step = |i: usize| format!("t{} = add(t{i}, t{});", i + 1, i.saturating_sub(8));
        document("", &format!("t0 = exp(x); {} y = copy(t{n});", list(n, "\n", step)))
    }),
    ("many that read one", |n| {
        let operands = list(n, ", ", |i| format!("t{i}"));
        document("", &format!("{} y = add_n([{operands}]);", list(n, "\n", |i| format!("t{i} = max(x, {i}.5);"))))
    }),
    ("chain whose results all meet", |n| {
        let operands = list(n, ", ", |i| format!("t{i}"));
        let steps = list(n, "\n", |i| format!("t{} = exp(t{i});", i + 1));
        document("", &format!("t0 = exp(x); {steps} y = add_n([{operands}]);"))
    }),
];

#[test]
#[ignore = "takes minutes: cargo test --test growth -- --ignored"]
fn pictures_take_steps_in_proportion() {
    grow_at_most(MOST_DRAWN, Input::Document(&["--to", "svg"]), DRAWN);
    grow_at_most(MOST_DRAWN, Input::Document(&["--to", "svg"]), REPEATED);
}
