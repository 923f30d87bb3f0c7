//! Documents as exporters write them: registries, symbols, types, warnings.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::Output;

use crate::common::command;

const HEAD: &str = "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol S;\n\
    extension tract_assert S >= 1;\n";

fn run(args: &[&str], text: &str) -> Output {
    command::feed(&[args, &["-"]].concat(), text)
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// The shapes and types of all tensors of a graph with this body, by name.
fn tensors(args: &[&str], body: &str) -> serde_json::Value {
    let text = format!("{HEAD}graph G( x ) -> ( y )\n{{\n{body}}}\n");
    let output = run(&[args, &["--to", "json"]].concat(), &text);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{body}");
    serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["tensors"].clone()
}

fn shape(tensors: &serde_json::Value, name: &str) -> String {
    tensors[name]["shape"].to_string()
}

const EXPORT: &str = "    x = tract_core_external(shape = [1, S, 4], datum_type = 'f32');
    shape = tract_core_shape_of(x);
    part = slice(shape, axes = [0], begin = [1], end = [2], stride = [1]);
    count = squeeze(part, axes = [0]);
    twice = add(mul(count, 2), 1);
    row = tract_core_range(0, twice, step = 1);
    mask = [[0.5]];
    masks = tile(mask, repeats = [count, twice]);
    flat = reshape(x, shape = [-1, 4]);
    half = tract_core_cast(flat, to = 'f16');
    few = slice(half, axes = [0], begin = [0], end = [div(count, 2)]);
    sums = tract_core_einsum([x, x], expr = 'bik,bjk->bij', acc = 'f32');
    hot = gt(sums, 0.0);
    y = concat([few, half], axis = 0);\n";

#[test]
fn extents_are_expressions_on_symbols() {
    let found = tensors(&["--keep-unused"], EXPORT);
    for (name, wanted, dtype) in [
        ("x", r#"[1,"S",4]"#, "scalar"),
        ("shape", "[3]", "integer"),
        ("count", "[]", "integer"),
        ("row", r#"["2*S+1"]"#, "integer"),
        ("masks", r#"["S","2*S+1"]"#, "scalar"),
        ("flat", r#"["S",4]"#, "scalar"),
        ("few", r#"["S/2",4]"#, "scalar"),
        ("sums", r#"[1,"S","S"]"#, "scalar"),
        ("hot", r#"[1,"S","S"]"#, "logical"),
        ("y", r#"["S+S/2",4]"#, "scalar"),
    ] {
        assert_eq!((shape(&found, name), &found[name]["dtype"]), (wanted.to_string(), &dtype.into()), "{name}");
    }
}

#[test]
fn symbols_and_inputs_get_values() {
    let found = tensors(&["--keep-unused", "--set", "S=5"], EXPORT);
    assert_eq!((shape(&found, "masks"), shape(&found, "y")), ("[5,11]".into(), "[7,4]".into()));
    let found = tensors(&["--keep-unused", "--input-shape", "x=2,3*S,4"], EXPORT);
    assert_eq!((shape(&found, "masks"), shape(&found, "flat")), (r#"["3*S","6*S+1"]"#.into(), r#"["6*S",4]"#.into()));
    let flat = run(&["--input-shape", "x=2,(T+3)/4+T,4"], &format!("{HEAD}graph G( x ) -> ( y )\n{{\n{EXPORT}}}\n"));
    let flat = String::from_utf8(flat.stdout).unwrap();
    assert_eq!(flat.matches("extension tract_symbol ").count(), 2, "{flat}");
    let again = run(&[], &flat);
    assert_eq!((stderr(&again), std::str::from_utf8(&again.stdout).unwrap()), ("", &*flat));
    let wrong = run(&["--set", "T=5"], &format!("{HEAD}graph G( x ) -> ( y )\n{{\n{EXPORT}}}\n"));
    assert!(wrong.status.code() == Some(1) && stderr(&wrong).contains("E1307"), "{}", stderr(&wrong));
    for (args, message) in [
        (&["--set", "S=-1"][..], "invalid value 'S=-1'"),
        (&["--set", "S"], "expected SYMBOL=N"),
        (&["--set", "S=1", "--set", "S=2"], "gives two values for `S`"),
        (&["--set", "S=T", "--set", "T=S+1"], "a value that depends on itself"),
        (&["--set", "S=T-5", "--set", "T=2"], "an extent that is negative or too long: -3"),
        (&["--input-shape", "x=S+"], "`S+` is not an extent"),
    ] {
        let output = run(args, HEAD);
        assert!(output.status.code() == Some(2) && stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn symbols_are_set_to_expressions_and_in_given_shapes() {
    let found = tensors(&["--keep-unused", "--set", "S=T+1", "--set", "T=4"], EXPORT);
    assert_eq!((shape(&found, "masks"), shape(&found, "y")), ("[5,11]".into(), "[7,4]".into()));
    let found = tensors(&["--keep-unused", "--input-shape", "x=2,3*n,4", "--set", "n=2"], EXPORT);
    assert_eq!(shape(&found, "masks"), "[6,13]");
    // The new symbol is declared, so that the flat graph is read again unchanged.
    let flat = run(&["--set", "S=2*P"], &format!("{HEAD}graph G( x ) -> ( y )\n{{\n{EXPORT}}}\n"));
    let flat = String::from_utf8(flat.stdout).unwrap();
    assert!(flat.contains("extension tract_symbol P;") && flat.contains("2 * P"), "{flat}");
    let again = run(&[], &flat);
    assert_eq!((stderr(&again), std::str::from_utf8(&again.stdout).unwrap()), ("", &*flat));
}

#[test]
fn known_extents_are_written_by_fold() {
    let body = "    x = tract_core_external(shape = [1, S, 8], datum_type = 'f32');
    d = tract_core_shape_of(x);
    n = squeeze(slice(d, axes = [0], begin = [1], end = [2]), axes = [0]);
    w = tract_core_cast(n, to = 'f32');
    z = mul(x, w);
    y = reshape(z, shape = [1, n, 2, 4]);
";
    let text = format!("{HEAD}graph G( x ) -> ( y )\n{{\n{body}}}\n");
    let folded = run(&["-q", "--fold", "--set", "S=7"], &text);
    let folded = String::from_utf8(folded.stdout).unwrap();
    assert!(folded.contains("z = mul(x, 7.0);") && folded.contains("reshape(z, shape = [1, 7, 2, 4])"), "{folded}");
    assert!(!folded.contains("shape_of") && !folded.contains("squeeze"), "{folded}");
    // Without a value, or without the option, the tensors stay.
    for args in [&["-q", "--fold"][..], &["-q", "--set", "S=7"]] {
        let flat = String::from_utf8(run(args, &text).stdout).unwrap();
        assert!(flat.contains("tract_core_shape_of(x)") && flat.contains("[1, n, 2, 4]"), "{flat}");
    }
}

/// The items of shapes that are sliced are those that the slice of any tensor takes.
#[test]
fn sliced_shapes_are_known() {
    for (slice, wanted) in [
        ("begin = [1], end = [3]", "[3,4]"),
        ("begin = [-2], end = [0]", "[4,5]"),
        ("begin = [0], end = [3], stride = [2]", "[2,4]"),
        ("begin = [-3], end = [-1]", "[3,4]"),
        ("begin = [1], end = [9]", "[3,4,5]"),
        ("begin = [-9], end = [2]", "[2,3]"),
    ] {
        let rank = wanted.split(',').count();
        let ones = vec!["1"; rank].join(", ");
        let body = format!(
            "    x = tract_core_external(shape = [2, 3, 4, 5], datum_type = 'f32');
    d = slice(tract_core_shape_of(x), axes = [0], {slice});
    y = tract_core_broadcast(constant(shape = [{ones}], value = [1.0]), shape = d);
"
        );
        assert_eq!(shape(&tensors(&["--keep-unused"], &body), "y"), wanted, "{slice}");
    }
}

/// An expression has the same value, whether a symbol is replaced before the expansion, or has its value from an input.
#[test]
fn quotients_of_symbols_are_those_of_integers() {
    let inputs = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&inputs, r#"{"x": [[1, 2]]}"#).unwrap();
    let run_with = |args: &[&str], text: &str| {
        let output = run(&[&["run", "--inputs", inputs.path().to_str().unwrap()], args].concat(), text);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{text}");
        String::from_utf8(output.stdout).unwrap()
    };
    for (expression, wanted) in [("(S - 7) / 2 + 4", 2), ("(1 - S * 4) / 3 + 4", 2), ("9 / (S - 4) + 6", 2)] {
        let body = format!(
            "    x = tract_core_external(shape = [1, S], datum_type = 'f32');\n    y = tile(x, repeats = [{expression}, 1]);\n"
        );
        let text = format!("{HEAD}graph G( x ) -> ( y )\n{{\n{body}}}\n");
        let of_input = run_with(&[], &text);
        assert!(of_input.contains(&format!("[{wanted}, 2]")), "{of_input}");
        assert_eq!(of_input, run_with(&["--set", "S=2"], &text));
        let shape = shape(&tensors(&["--set", "S=2"], &body), "y");
        assert_eq!(shape, format!("[{wanted},2]"));
    }
}

#[test]
fn unknown_extents_are_not_unknown_ranks() {
    let text = "version 1.0;\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    a = acme(x);\n    \
        b = slice(x, axes = [0], begin = [0], end = [a]);\n    y = mul(b, 2.0);\n}\n";
    let output = run(&["--to", "json"], text);
    let graph: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let shape = |name: &str| graph["tensors"][name]["shape"].to_string();
    assert_eq!([shape("a"), shape("b"), shape("y")], ["null", "[null]", "[null]"]);
}

#[test]
fn elements_follow_operands_in_documents_of_registries() {
    let body = "    x = tract_core_external(shape = [4], datum_type = 'i64');\n    y = mul(x, 2) + 1;\n";
    assert_eq!(tensors(&[], body)["y"]["dtype"], "integer");
    let inputs = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&inputs, r#"{"x": [1, 2, 3, 4]}"#).unwrap();
    let text = format!("{HEAD}graph G( x ) -> ( y )\n{{\n{body}}}\n").replace("+ 1", "/ 3");
    let output = run(&["run", "--inputs", inputs.path().to_str().unwrap()], &text);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["outputs"]["y"]["data"], serde_json::json!([0, 1, 2, 2]), "{}", stderr(&output));
}

fn document(head: &str, call: &str) -> String {
    format!("version 1.0;\n{head}\ngraph G( x ) -> ( y )\n{{\n    x = external(shape = [2]);\n    y = {call};\n}}\n")
}

#[test]
fn registries_are_declared_by_documents_and_options() {
    let call = document("", "tract_core_rms_norm(x, axis = 0)");
    let undeclared = run(&[], &call);
    assert!(stderr(&undeclared).contains("E0401"), "{}", stderr(&undeclared));
    let declared = run(&["--fragments", "tract_core", "--to", "json"], &call);
    assert_eq!((declared.status.code(), stderr(&declared)), (Some(0), ""));
    assert!(String::from_utf8_lossy(&declared.stdout).contains("\"eps\": 1e-6"));
    for head in
        ["extension tract_registry tract_core;", "extension tract_registry tract_core;\nextension tract_symbol N;"]
    {
        let output = run(&[], &document(head, "tract_core_rms_norm(x, axis = 0)"));
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{head}");
    }
    let unknown = run(&[], &document("extension tract_registry tract_cor;", "relu(x)"));
    assert!(stderr(&unknown).contains("E0219"), "{}", stderr(&unknown));
}

#[test]
fn misspelt_operations_are_errors() {
    for (name, refused) in [("rleu", true), ("Relu", true), ("relu6", false), ("acme_relu", false), ("erf_v1", false)] {
        let output = run(&[], &document("", &format!("{name}(x)")));
        assert_eq!(output.status.code(), Some(i32::from(refused)), "{name}: {}", stderr(&output));
        assert_eq!(stderr(&output).contains("E0412"), refused, "{name}");
    }
}

#[test]
fn arguments_without_a_parameter_are_left_out() {
    let registry = document("extension tract_registry tract_core;", "sigmoid(x, axes = [1])");
    let output = run(&[], &registry);
    assert_eq!((output.status.code(), stderr(&output).matches("E0413").count()), (Some(0), 1), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("sigmoid(x);"));
    for (args, text, code) in
        [(&[][..], document("", "sigmoid(x, axes = [1])"), "E0405"), (&["--strict"], registry, "E0405")]
    {
        let output = run(args, &text);
        assert!(output.status.code() == Some(1) && stderr(&output).contains(code), "{}", stderr(&output));
    }
}

#[test]
fn warnings_are_a_line_for_each_code() {
    let text = document("", "add(acme(x), acme(acme_too(x)))");
    let output = run(&[], &text);
    let lines: Vec<&str> = stderr(&output).lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("E0401") && lines[0].contains("(3 times)"), "{}", stderr(&output));
    assert!(lines[0].contains("<stdin>:6:13") && lines[1].ends_with("--warnings all"), "{}", stderr(&output));
    let all = run(&["--warnings", "all"], &text);
    // Each is drawn, and so is what is common practice.
    assert_eq!((stderr(&all).matches("E0401").count(), stderr(&all).matches("E0205").count()), (3, 1));
    let unknown = run(&["--warnings", "none"], &text);
    assert!(unknown.status.code() == Some(2) && stderr(&unknown).contains("'none'"), "{}", stderr(&unknown));
}

#[test]
fn the_last_level_of_a_code_decides() {
    let text = document("", "acme(x)");
    for (args, status) in [
        (&["--deny", "E0401"][..], 1),
        (&["--deny", "all"], 1),
        (&["--deny", "E0219"], 0),
        (&["--deny", "all", "--allow", "e0401"], 0),
        (&["--allow", "E0401", "--deny", "all"], 1),
        (&["--allow", "all"], 0),
        (&["--allow", "E9999"], 2),
    ] {
        for command in [&[][..], &["check"]] {
            let output = run(&[command, args].concat(), &text);
            assert_eq!(output.status.code(), Some(status), "{args:?} {}", stderr(&output));
            assert_eq!(command.is_empty() && output.stdout.is_empty(), command.is_empty() && status > 0, "{args:?}");
        }
    }
    assert_eq!(stderr(&run(&["--allow", "all"], &text)), "");
    // Warnings that are only counted are counted as errors, too.
    let many: String = (0..25).map(|i| format!("t{i} = acme{i}(x);\n")).collect();
    let output = run(&["--deny", "E0401"], &document("", "x").replace("y =", &format!("{many}y =")));
    assert!(stderr(&output).ends_with("20 errors (5 more not shown)\n"), "{}", stderr(&output));
}

/// Also what is told while the output is made: by writers, of expressions, and of networks with loops that run.
#[test]
fn what_is_denied_ends_without_output() {
    let open = format!(
        "{HEAD}graph G( x ) -> ( y )\n{{\n    x = tract_core_external(shape = [S, 2], datum_type = 'f32');\n    \
         y = relu(x);\n}}\n"
    );
    let network = r#"{"odd": 1, "inputs": {"x": {"dtype": "float32", "shape": [1]}},
        "layers": [{"op": "abs", "name": "y", "inputs": ["x"]}], "outputs": ["y"]}"#;
    let folder = tempfile::tempdir().unwrap();
    let values = folder.path().join("values.json");
    std::fs::write(&values, r#"{"x": [-2]}"#).unwrap();
    let values = format!("--inputs={}", values.display());
    for (args, text, code) in [
        (&["--to", "pnnx"][..], &*open, "E2229"),
        (&["expr", "--compat"], "mul(expm1,@0),log1p,@1", "E2209"),
        (&["run", "--from", "loops", &values], network, "E0921"),
    ] {
        let taken = run(args, text);
        let warned = stderr(&taken).contains(&format!("Warning[{code}"));
        assert!(taken.status.success() && !taken.stdout.is_empty() && warned, "{args:?} {}", stderr(&taken));
        for level in [code, "all"] {
            let denied = run(&[args, &["--deny", level]].concat(), text);
            assert_eq!((denied.status.code(), denied.stdout.len()), (Some(1), 0), "{args:?} {}", stderr(&denied));
            assert!(stderr(&denied).contains(&format!("Error[{code}")), "{args:?} {}", stderr(&denied));
        }
        assert!(run(&[args, &["--deny", "all", "--allow", code]].concat(), text).status.success(), "{args:?}");
    }
}

/// A misspelt directive is told and mended once, and not added a second time.
#[test]
fn misspelt_directives_are_mended_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("misspelt.nnef");
    let right = "version 1.0;\nextension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n\
        fragment f( a: tensor<scalar> ) -> ( b: tensor<scalar> )\n{\n    b = a + a * a;\n}\n\
        graph G( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    y = f(x + x);\n}\n";
    for (word, wrong) in [
        ("KHR_enable_fragment_definitions", "KHR_enable_fragment_definition"),
        ("KHR_enable_operator_expressions", "KHR_enable_operators_expressions"),
    ] {
        std::fs::write(&path, right.replace(word, wrong)).unwrap();
        let text = path.display().to_string();
        let told = command::run(&["check", "--strict", &text]);
        let codes = ["E0219", "E0204", "E0205"].map(|code| stderr(&told).contains(code));
        assert_eq!((told.status.code(), codes), (Some(1), [true, false, false]), "{}", stderr(&told));
        assert!(command::run(&["check", "--fix", &text]).status.success());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), right);
    }
}

/// A file for `--bind` that is no array is a fault of the file, with a code.
#[test]
fn arrays_to_bind_are_refused_with_a_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.npy");
    std::fs::write(&path, "not an array").unwrap();
    let bound = format!("x={}", path.display());
    let output = run(&["--bind", &bound], &document("", "x"));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{}", stderr(&output));
    assert!(stderr(&output).contains("Error[E0829]: --bind of `x`") && stderr(&output).contains("bad.npy:1:1"));
}

#[test]
fn arrays_stay_arrays_for_readers_of_registries() {
    let body = "    x = tract_core_external(shape = [3, 1, 2], datum_type = 'f32');\n    foo = [1, 2];\n    \
        y = reshape(x, shape = [1, foo, 3]);\n";
    assert_eq!(shape(&tensors(&[], body), "y"), "[1,1,2,3]");
    let table = "    x = tract_core_external(shape = [2], datum_type = 'f32');\n    w = [[1.0, 2.0], [3.0, 4.0]];\n    \
        y = mul(x, w);\n";
    let output = run(&[], &format!("{HEAD}graph G( x ) -> ( y )\n{{\n{table}}}\n"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("    w = [[1.0, 2.0], [3.0, 4.0]];\n"));
    // They also read documents without registries, in which the standard has no such arrays.
    let plain = "version 1.0;\nextension KHR_enable_operator_expressions;\ngraph G( x ) -> ( y )\n{\n    \
        x = external(shape = [2, 2]);\n    y = mul(x, [[1.0, 2.0], [3.0, 4.0]]);\n}\n";
    let output = run(&[], plain);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(" = [[1.0, 2.0], [3.0, 4.0]];\n") && !text.contains("constant("), "{text}");
}
