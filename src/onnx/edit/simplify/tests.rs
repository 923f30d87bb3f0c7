//! The laws of the rules: what each leaves computes the same numbers, bit by bit, on edge values and for batches of any size;
//! simplifying what was simplified changes nothing.

use super::{RULES, RuleId, UsedRules};
use crate::Options;
use crate::eval::Limits;
use crate::onnx::Document;
use crate::source::Sources;
use crate::tensor::{DType, Data, Tensor};
use crate::tests::{all_near, is_table_of};

/// A model for each rule: its name, inputs, outputs with constants, and nodes. Axis 0 of inputs whose names begin with `x` is
/// the batch.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("fold", "float[N, 2] x", "float[N, 2] y", "a = Constant <value = float {2}> () b = Exp (a) y = Mul (x, b)"),
    ("share", "float[N] x", "float[N] y", "a = Exp (x) b = Exp (x) y = Sub (a, b)"),
    ("constant", "float[N] x", "float[N] y", "a = Constant <value_float = 2.5> () y = Mul (x, a)"),
    ("identity", "float[N] x", "float[N] y", "a = Identity (x) b = Identity (a) y = Neg (b)"),
    ("dropout", "float[N] x", "float[N] y", "a, m = Dropout (x) y = Neg (a)"),
    ("cast", "float[N] x", "float[N] y", "a = Cast <to = 1> (x) y = Neg (a)"),
    ("casts", "float[N] x", "float16[N] y", "a = Cast <to = 11> (x) y = Cast <to = 10> (a)"),
    ("casts", "int32[N] x", "uint8[N] y", "a = Cast <to = 7> (x) y = Cast <to = 2> (a)"),
    ("casts", "bool[N] x", "float[N] y", "a = Cast <to = 3> (x) y = Cast <to = 1> (a)"),
    ("mul-1", "float[N, 2] x", "float[N, 2] y <float[1] one = {1}>", "a = Mul (one, x) y = Exp (a)"),
    ("mul-1", "int64[N, 2] x", "int64[N, 2] y <int64[2] one = {1, 1}>", "a = Mul (x, one) y = Neg (a)"),
    ("div-1", "float[N, 2] x", "float[N, 2] y <float one = {1}>", "a = Div (x, one) y = Neg (a)"),
    ("pow-1", "float[N, 2] x", "float[N, 2] y <int64 one = {1}>", "a = Pow (x, one) y = Neg (a)"),
    ("sub-0", "float[N, 2] x", "float[N, 2] y <float zero = {0}>", "a = Sub (x, zero) y = Neg (a)"),
    ("add-0", "float[N, 2] x", "float[N, 2] y <float zero = {-0.0}>", "a = Add (x, zero) y = Neg (a)"),
    ("add-0", "int32[N, 2] x", "int32[N, 2] y <int32 zero = {0}>", "a = Add (zero, x) y = Neg (a)"),
    (
        "add-0",
        "float[N, 2] x",
        "float[N, 2] y <float[2] bias = {1, 0}, float zero = {0}>",
        "a = Add (x, bias) b = Add (a, zero) y = Neg (b)",
    ),
    ("and-true", "bool[N, 2] x", "bool[N, 2] y <bool t = {1}>", "a = And (x, t) y = Not (a)"),
    ("or-false", "bool[N, 2] x", "bool[N, 2] y <bool f = {0}>", "a = Xor (x, f) b = Or (f, a) y = Not (b)"),
    ("same-operands", "float[N] x", "float[N] y", "a = Max (x, x) y = Neg (a)"),
    ("undone", "float[N] x", "float[N] y", "a = Neg (x) b = Neg (a) y = Abs (b)"),
    ("repeated", "float[N] x", "float[N] y", "a = Round (x) b = Round (a) c = Relu (b) d = Relu (c) y = Neg (d)"),
    ("single-operand", "float[N] x", "float[N] y", "a = Sum (x) b = Mean (a) c = Concat <axis = 0> (b) y = Neg (c)"),
    ("clip", "float[N] x", "float[N] y", "a = Clip (x) y = Neg (a)"),
    ("blocks-of-1", "float[N, 2, 1, 3] x", "float[N, 2, 1, 3] y", "a = DepthToSpace <blocksize = 1> (x) y = Neg (a)"),
    ("reduce-nothing", "float[N, 2] x", "float[N, 2] y", "a = ReduceSum <noop_with_empty_axes = 1> (x) y = Neg (a)"),
    (
        "where-known",
        "float[N, 2] x",
        "float[N, 2] y <bool[2] c = {0, 0}, float z = {3}>",
        "a = Where (c, z, x) y = Neg (a)",
    ),
    ("where-equal", "float[N, 2] x, bool[N, 2] xc", "float[N, 2] y", "a = Where (xc, x, x) y = Neg (a)"),
    (
        "slice-all",
        "float[N, 2] x",
        "float[N, 2] y <int64[1] s = {0}, int64[1] e = {9223372036854775807}>",
        "a = Slice (x, s, e) y = Neg (a)",
    ),
    (
        "slice-end",
        "float[N, 2] x",
        "float[M, 2] y <int64[1] s = {1}, int64[1] k = {0}>",
        "h = Shape (x) e = Gather (h, k) y = Slice (x, s, e, k)",
    ),
    ("pad-nothing", "float[N, 2] x", "float[N, 2] y <int64[4] p = {0, 0, 0, 0}>", "a = Pad (x, p) y = Neg (a)"),
    ("reshape", "float[N, 2] x", "float[N, 2] y <int64[2] s = {0, 2}>", "a = Reshape (x, s) y = Neg (a)"),
    (
        "reshapes",
        "float[N, 2, 3] x",
        "float[N, 6, 1] y <int64[3] s = {0, 3, 2}, int64[3] t = {0, 6, 1}>",
        "a = Reshape (x, s) y = Reshape (a, t)",
    ),
    ("reshapes", "float[N, 2, 3] x", "float[N, 6] y <int64[1] k = {3}>", "a = Unsqueeze (x, k) y = Flatten (a)"),
    (
        "reshape-shape",
        "float[N, 2, 3] x",
        "float[N, 3, 2] y <int64[1] three = {3}, int64[1] m = {-1}>",
        "h = Shape <start = 0, end = 1> (x) t = Concat <axis = 0> (h, three, m) y = Reshape (x, t)",
    ),
    ("expand", "float[N, 2] x", "float[N, 2] y <int64[2] s = {1, 2}>", "a = Expand (x, s) y = Neg (a)"),
    (
        "expand-shape",
        "float[N, 1] x",
        "float[N, 3] y <int64[1] three = {3}>",
        "h = Shape <start = 0, end = 1> (x) t = Concat <axis = 0> (h, three) y = Expand (x, t)",
    ),
    (
        "expand-operand",
        "float[N, 3] x, float[1, 3] w",
        "float[N, 3] y",
        "h = Shape (x) a = Expand (w, h) y = Sub (x, a)",
    ),
    ("tile", "float[N, 2] x", "float[N, 2] y <int64[2] s = {1, 1}>", "a = Tile (x, s) y = Neg (a)"),
    ("concat-empty", "float[N, 2] x, float[N, 0] xe", "float[N, 2] y", "a = Concat <axis = 1> (x, xe) y = Neg (a)"),
    (
        "concats",
        "float[N, 2] x",
        "float[N, 6] y",
        "e = Exp (x) a = Concat <axis = -1> (x, e) y = Concat <axis = 1> (a, x)",
    ),
    ("split", "float[N, 2] x", "float[N, 2] y", "a = Split <axis = 1, num_outputs = 1> (x) y = Neg (a)"),
    (
        "squeezes",
        "float[N, 2] x",
        "float[N, 2, 1] y <int64[2] u = {1, 3}, int64[1] k = {1}>",
        "a = Unsqueeze (x, u) y = Squeeze (a, k)",
    ),
    ("squeeze", "float[2, 3] w", "float[2, 3] y", "a = Squeeze (w) y = Neg (a)"),
    ("unsqueeze", "float[N, 2] x", "float[N, 2] y <int64[0] k = {}>", "a = Unsqueeze (x, k) y = Neg (a)"),
    ("flatten", "float[N, 2] x", "float[N, 2] y", "a = Flatten (x) y = Neg (a)"),
    ("transpose", "float[N, 1, 1, 2] x", "float[N, 1, 1, 2] y", "a = Transpose <perm = [0, 2, 1, 3]> (x) y = Neg (a)"),
    (
        "transposes",
        "float[N, 2, 3] x",
        "float[2, 3, N] y",
        "a = Transpose <perm = [1, 0, 2]> (x) b = Transpose <perm = [0, 2, 1]> (a) y = Neg (b)",
    ),
    ("transposes", "float[N, 2, 3] x", "float[N, 2, 3] y", "a = Transpose (x) b = Transpose (a) y = Neg (b)"),
    ("shape-operand", "float[N, 2] x", "int64[2] y", "a = Relu (x) y = Shape (a)"),
    (
        "equal-extents",
        "float[N, 2] x, float[N, 3] xz",
        "int64[1] y <int64[1] k = {0}>",
        "a = Shape (x) b = Gather (a, k) c = Shape (xz) d = Gather (c, k) y = Add (b, d)",
    ),
    (
        "sequence-item",
        "float[N, 2] x",
        "float[N, 2] y <int64 k = {-1}>",
        "e = Exp (x) s = SequenceConstruct (x, e) a = SequenceAt (s, k) y = Neg (a)",
    ),
    (
        "if-equal",
        "float[N] x, bool c",
        "float[N] y",
        "a = If (c) <then_branch = t () => (float[N] p) { p = Exp (x) }, else_branch = e () => (float[N] q) \
         { q = Exp (x) }> y = Neg (a)",
    ),
    (
        "loop-invariant",
        "float[N] x, bool c",
        "float[N] y <int64 n = {3}>",
        "f, a = Loop (n, c, x, x) <body = b (int64 i, bool ci, float[N] same, float[N] v) => (bool co, float[N] s, float[N] w) \
         { co = Identity (ci) s = Identity (same) w = Mul (same, v) }> y = Neg (a)",
    ),
    (
        "unused-results",
        "float[N] x, bool c",
        "float[N] y <int64 n = {3}>",
        "f, a = Loop (n, c, x, x) <body = b (int64 i, bool ci, float[N] u, float[N] v) => (bool co, float[N] s, float[N] w) \
         { co = Identity (ci) s = Exp (u) w = Neg (v) }> y = Abs (a)",
    ),
    ("unused", "float[N] x, float[N] xz", "float[N] y <float[2] w = {1, 2}>", "a = Exp (xz) y = Neg (x)"),
];

/// A model; constants stand behind the outputs, in `<>`.
fn document(inputs: &str, outputs: &str, body: &str) -> Document {
    let (outputs, constants) = outputs.split_once(" <").unwrap_or((outputs, ">"));
    let constants = if constants == ">" { String::new() } else { format!("<{constants}") };
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : 21, \"l\" : 1]> g ({inputs}) => ({outputs}) {constants} {{ {body} }}"
    );
    let (document, found) = Document::parse("test", &*text, &mut Sources::new(), &Options::default());
    document.unwrap_or_else(|| panic!("{text}: {found}"))
}

/// A tensor of edge values.
fn edge(dtype: DType, shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product();
    let at = |i: usize| i * 7 + seed;
    let floats = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.5, -2.5, f32::MAX, 1e-45, -1e-45, 0.5];
    let whole = [0i64, 1, -1, i64::MAX, i64::MIN, 300, -300, 7];
    let data = match dtype {
        DType::Bool => Data::Bool((0..count).map(|i| at(i) % 3 == 0).collect()),
        DType::Int64 => Data::Int64((0..count).map(|i| whole[at(i) % whole.len()]).collect()),
        DType::Int32 => Data::Int32((0..count).map(|i| whole[at(i) % whole.len()] as i32).collect()),
        _ => Data::Float32((0..count).map(|i| floats[at(i) % floats.len()]).collect()),
    };
    Tensor::new(shape, data).unwrap()
}

/// The outputs for a batch, as text: numbers with their signs, floats that are not numbers as such.
fn outputs(document: &Document, batch: usize, seed: usize) -> Vec<String> {
    let inputs: Vec<(String, Tensor)> = (document.inputs().into_iter().enumerate())
        .map(|(i, input)| {
            let mut shape = input.shape.unwrap_or_default();
            if let Some(first) = shape.first_mut().filter(|_| input.name.starts_with('x')) {
                *first = batch;
            }
            (input.name, edge(input.form.unwrap().dtype().unwrap(), &shape, seed + i))
        })
        .collect();
    let outputs = document.run_tensors(&inputs, (Limits::default(), &Options::default()));
    outputs
        .unwrap_or_else(|failed| panic!("{failed:?}"))
        .iter()
        .map(|(name, tensor)| format!("{name} {tensor:?}"))
        .collect()
}

fn all() -> UsedRules {
    UsedRules::ALL
}

/// A simplified document, and how often a rule was applied.
fn simplified(document: &Document, rules: UsedRules) -> (Document, Vec<(&'static str, u64)>) {
    let mut simple = document.copy();
    let (_, counts) = simple.simplify(&Options::default(), Limits::default(), rules).unwrap();
    (simple, counts.applied().collect())
}

#[test]
fn every_rule_keeps_numbers_bit_by_bit() {
    for (rule, inputs, named, body) in CASES {
        let source = document(inputs, named, body);
        let (simple, applied) = simplified(&source, all());
        let is_applied = applied.iter().any(|(name, _)| name == rule);
        let text = simple.to_text(false).unwrap().0;
        assert!(is_applied, "{rule}: {applied:?}\n{text}");
        for (batch, seed) in [(0, 0), (1, 1), (1, 4), (3, 0), (3, 5)] {
            assert_eq!(outputs(&simple, batch, seed), outputs(&source, batch, seed), "{rule}, batch {batch}:\n{text}");
        }
        let (again, applied) = simplified(&simple, all());
        assert_eq!(applied, [], "{rule}: {text}");
        assert_eq!(again.to_text(false).unwrap().0, text, "{rule}");
    }
}

#[test]
fn every_rule_has_a_case_and_can_be_left_out() {
    for id in RuleId::all(false) {
        let rule = &RULES[id.index()];
        assert!(CASES.iter().any(|case| case.0 == rule.name), "{} has no case", rule.name);
        for (_, inputs, named, body) in CASES.iter().filter(|case| case.0 == rule.name) {
            let (_, applied) = simplified(&document(inputs, named, body), UsedRules::of(&[], &[id]));
            assert!(applied.iter().all(|(name, _)| *name != rule.name), "{} was left out", rule.name);
        }
    }
}

#[test]
fn only_what_is_exact_is_done() {
    for (rule, inputs, named, body) in [
        ("add-0", "float[N] x", "float[N] y <float zero = {0}>", "a = Add (x, zero) y = Neg (a)"),
        ("sub-0", "float[N] x", "float[N] y <float zero = {-0.0}>", "a = Sub (x, zero) y = Neg (a)"),
        ("casts", "float[N] x", "float[N] y", "a = Cast <to = 10> (x) y = Cast <to = 1> (a)"),
        ("casts", "float[N] x", "int32[N] y", "a = Cast <to = 11> (x) y = Cast <to = 6> (a)"),
        ("mul-1", "float[N] x", "float[N, N] y <float[1, 1] one = {1}>", "a = Mul (x, one) y = Neg (a)"),
        ("dropout", "float[N] x, bool c, float r", "float[N] y", "a = Dropout (x, r, c) y = Neg (a)"),
        (
            "where-known",
            "float[1] w",
            "float[2] y <bool[2] c = {0, 0}, float z = {3}>",
            "a = Where (c, z, w) y = Neg (a)",
        ),
        // With an extent of 0 no -1 can be found.
        (
            "reshape-shape",
            "float[N, M, 2] x",
            "float[K, L, 2] y <int64[1] two = {2}>",
            "h = Shape <start = 0, end = 1> (x) m = Shape <start = 1, end = 2> (x) p = Mul (h, m) t = Concat <axis = 0> (p, two) \
             r = Reshape (x, t) k = Shape <start = 0, end = 1> (r) u = Concat <axis = 0> (m, h, two) y = Reshape (x, u)",
        ),
    ] {
        let source = document(inputs, named, body);
        let (simple, applied) = simplified(&source, all());
        let times = applied.iter().find(|(name, _)| *name == rule).map_or(0, |applied| applied.1);
        assert!(times < 1 || rule == "reshape-shape" && times < 2, "{rule}: {}", simple.to_text(false).unwrap().0);
    }
}

/// A loop whose body does not give the states that it takes is nothing to simplify.
#[test]
fn loops_of_another_form_are_left() {
    let loops = |results: &str, formals: &str, returned: &str| {
        let body = format!("b (int64 i, bool ci{formals}) => (bool co{returned}) {{ co = Identity (ci) w = Neg (x) }}");
        format!("{results} = Loop (n, c, x, x) <body = {body}> y = Abs (a)")
    };
    for (results, formals, returned) in [
        // Fewer results than states, fewer formals than operands, and more results than the body has.
        ("a", ", float[N] u, float[N] v", ", float[N] w"),
        ("f, a", ", float[N] u", ", float[N] w, float[N] w"),
        ("f, a, g", ", float[N] u, float[N] v", ", float[N] w, float[N] w"),
    ] {
        let text = loops(results, formals, returned);
        let source = document("float[N] x, bool c", "float[N] y <int64 n = {3}>", &text);
        let mut simple = source.copy();
        if simple.simplify(&Options::default(), Limits::default(), all()).is_ok() {
            let after = simple.to_text(false).unwrap().0;
            assert!(after.contains(&format!("{results} = Loop")), "{text}:\n{after}");
        }
    }
}

#[test]
fn names_of_ends_and_of_what_stays_are_kept() {
    let source = document(
        "float[N] x",
        "float[N] y, float[N] z, float[N] w",
        "a = Exp (x) y = Identity (a) z = Identity (a) w = Identity (x) ",
    );
    let text = simplified(&source, all()).0.to_text(false).unwrap().0;
    for line in ["y = Exp (x)", "z = Identity (y)", "w = Identity (x)"] {
        assert!(text.contains(line), "{text}");
    }
}

/// Folding before, and simplifying without it, leaves the same nodes.
#[test]
fn folding_is_a_part_of_simplifying() {
    for (rule, inputs, named, body) in CASES {
        let source = document(inputs, named, body);
        let nodes = |document: &Document| {
            let text = document.to_text(false).unwrap().0;
            text.lines().filter(|line| line.contains(" = ")).count()
        };
        let together = nodes(&simplified(&source, all()).0);
        let mut folded = source.copy();
        folded.fold(&Options::default(), Limits::default()).unwrap();
        assert_eq!(nodes(&simplified(&folded, all()).0), together, "{rule}");
        let mut after = simplified(&source, all()).0;
        after.fold(&Options::default(), Limits::default()).unwrap();
        assert_eq!(nodes(&after), together, "{rule}");
    }
}

/// The nodes of a case in the body of a loop of two trips, which collects the result.
fn in_loop((_, inputs, named, body): (&str, &str, &str, &str)) -> Option<Document> {
    let (output, constants) = named.split_once(" <").unwrap_or((named, ""));
    let (ty, _) = output.rsplit_once(' ').filter(|(_, name)| *name == "y")?;
    let collected = match ty.split_once('[') {
        Some((element, extents)) => format!("{element}[K, {extents}"),
        None => return None,
    };
    let constants = if constants.is_empty() { ">" } else { &format!(", {constants}") };
    let text = format!("{collected} r <int64 trips = {{2}}, bool on = {{1}}{constants}");
    let nodes = format!(
        "r = Loop (trips, on) <body = inner (int64 trip, bool goes) => (bool going, {output}) {{ going = Identity (goes) {body} }}>"
    );
    Some(document(inputs, &text, &nodes))
}

#[test]
fn rules_reach_bodies_of_loops() {
    let mut reached = 0;
    for case in CASES {
        let Some(source) = in_loop(*case) else { continue };
        let (simple, applied) = simplified(&source, all());
        let text = simple.to_text(false).unwrap().0;
        reached += usize::from(applied.iter().any(|(name, _)| *name == case.0));
        for (batch, seed) in [(0, 0), (1, 4), (3, 5)] {
            assert_eq!(outputs(&simple, batch, seed), outputs(&source, batch, seed), "{}:\n{text}", case.0);
        }
        let (again, applied) = simplified(&simple, all());
        assert_eq!(applied, [], "{}: {text}", case.0);
        assert_eq!(again.to_text(false).unwrap().0, text, "{}", case.0);
    }
    assert!(reached > 40, "{reached} of {}", CASES.len());
}

#[test]
fn rules_reach_functions() {
    let text = "<ir_version: 10, opset_import: [\"\" : 21, \"l\" : 1]> g (float[N, 2] x) => (float[N, 2] y) \
        { a = l.f (x) y = l.f (a) } <domain: \"l\", opset_import: [\"\" : 21]> f (v) => (w) \
        { a = Identity (v) b = Neg (a) c = Neg (b) d = Transpose <perm = [1, 0]> (c) e = Transpose <perm = [1, 0]> (d) \
        u = Sqrt (e) w = Exp (e) } <domain: \"l\", opset_import: [\"\" : 21]> unused (v) => (w) { w = Exp (v) }";
    let (document, _) = Document::parse("test", text, &mut Sources::new(), &Options::default());
    let source = document.unwrap();
    let mut simple = source.copy();
    let options = Options::default().with(|options| options.lower = crate::Lower::None);
    simple.simplify(&options, Limits::default(), all()).unwrap();
    let text = simple.to_text(false).unwrap().0;
    assert!(text.contains("w = Exp (v)") && !text.contains("Sqrt") && !text.contains("unused"), "{text}");
    assert_eq!(outputs(&simple, 3, 1), outputs(&source, 3, 1));
}

/// What is known of a value is not known of one with the same name in a function.
#[test]
fn functions_have_names_of_their_own() {
    for (rule, inputs, named, body) in CASES {
        let results = body.split(" = ").filter_map(|before| before.split_whitespace().last());
        let names: Vec<&str> = results.filter(|name| name.chars().all(char::is_alphanumeric)).collect();
        let list = |item: &dyn Fn(usize) -> String| (0..names.len()).map(item).collect::<Vec<_>>().join(", ");
        let (given, told) = (list(&|i| format!("p{i}")), list(&|i| format!("q{i}")));
        let shapes: String = names.iter().enumerate().map(|(i, name)| format!("r{i} = Shape ({name}) ")).collect();
        let source = document(
            &format!("{inputs}, {}", list(&|i| format!("float[P{i}] p{i}"))),
            &format!("{}, {named}", list(&|i| format!("int64[Q{i}] q{i}"))),
            &format!(
                "{body} {told} = l.f ({given}) }} <domain: \"l\", opset_import: [\"\" : 21]> f ({}) => ({}) {{ {shapes}",
                names.join(", "),
                list(&|i| format!("r{i}"))
            ),
        );
        let mut simple = source.copy();
        let options = Options::default().with(|options| options.lower = crate::Lower::None);
        simple.simplify(&options, Limits::default(), all()).unwrap();
        let text = simple.to_text(false).unwrap().0;
        for (i, name) in names.iter().enumerate() {
            assert!(text.contains(&format!("r{i} = Shape ({name})")), "{rule}: {text}");
        }
    }
}

/// What is written once and expanded again computes the same.
#[test]
fn outlined_models_flatten_to_the_same() {
    let part = "SQ = Mul (IN, IN) SR = Exp (SQ) ST = Transpose <perm = [1, 0]> (SR) SU = Neg (ST) SV = Neg (SU) \
        SW = Transpose <perm = [1, 0]> (SV) SX = Abs (SW) SY = Add (SX, IN) ";
    let parts: String = (0..4)
        .map(|i| part.replace("IN", &if i == 0 { "x".to_owned() } else { format!("SY{}", i - 1) }))
        .enumerate()
        .map(|(i, part)| {
            ["SQ", "SR", "ST", "SU", "SV", "SW", "SX"]
                .iter()
                .fold(part, |text, name| text.replace(name, &format!("{name}{i}")))
                .replace("SY =", &format!("SY{i} ="))
        })
        .collect();
    let source = document("float[N, 3] x", "float[N, 3] y", &format!("{parts} y = Neg (SY3)"));
    let (mut simple, _) = simplified(&source, all());
    let flat = simple.to_text(false).unwrap().0;
    simple.outline();
    simple.flatten(&Options::default()).unwrap();
    let again = simple.to_text(false).unwrap().0;
    assert_eq!(again.matches(" = ").count(), flat.matches(" = ").count(), "{again}");
    assert_eq!(outputs(&simple, 3, 1), outputs(&source, 3, 1));
}

/// The bytes of a quantized model do not grow, and its weights stay codes.
#[test]
fn quantized_models_stay_quantized() {
    let codes: Vec<String> = (0..600).map(|i| (i % 120).to_string()).collect();
    let codes = codes.join(", ");
    for (element, nodes) in [
        ("int8", "f = DequantizeLinear (w, s) y = MatMul (x, f)"),
        ("int8", "f = Cast <to = 1> (w) g = Mul (f, s) y = MatMul (x, g)"),
        (
            "uint8",
            "f = Cast <to = 11> (w) g = Cast <to = 1> (f) t = Transpose (g) u = Transpose (t) h = DequantizeLinear (w, s) \
          i = Add (u, h) y = MatMul (x, i)",
        ),
    ] {
        let constants = format!("float[N, 20] y <{element}[30, 20] w = {{{codes}}}, float s = {{0.5}}>");
        let source = document("float[N, 30] x", &constants, nodes);
        let before = source.to_protobuf().len();
        let mut folded = source.copy();
        folded.fold(&Options::default(), Limits::default()).unwrap();
        let (simple, _) = simplified(&source, all());
        for document in [&folded, &simple] {
            let text = document.to_text(false).unwrap().0;
            assert!(document.to_protobuf().len() <= before && text.contains(&format!("{element}[30, 20] w")), "{text}");
            assert_eq!(outputs(document, 3, 2), outputs(&source, 3, 2), "{text}");
        }
        let grown = Options::default().with(|options| options.internal.fold_growth = Some(1 << 20));
        let mut folded = source.copy();
        folded.fold(&grown, Limits::default()).unwrap();
        let has_casts = folded.to_text(false).unwrap().0.contains("Cast");
        assert!(!has_casts, "--fold-growth lets casts be computed");
    }
}

/// What constants stand for in a quantized model takes at least as many bytes, for all lengths of names, and where their
/// operands have other uses, or are outputs.
#[test]
fn constants_of_quantized_models_take_no_more_than_what_they_replace() {
    let (mut replaced, mut left) = (0, 0);
    for len in (1..40).chain([120, 127, 128, 300]) {
        for name in ["c", "a_name_of_some_length", "quantized"] {
            for nodes in [
                "@ = ConstantOfShape <value = float[1] {2}> (n)",
                "r = ConstantOfShape <value = int64[1] {3}> (n) @ = Cast <to = 1> (r)",
                "r = Neg (n) s = Abs (r) @ = ConstantOfShape (s)",
                "r = Concat <axis = 0> (n, n) s = ReduceMax <keepdims = 0> (r) t = Unsqueeze (s, z) @ = ConstantOfShape (t)",
                "@ = ConstantOfShape (n) k = Neg (n)",
                "@ = ConstantOfShape (n) e = Neg (@)",
            ] {
                let nodes = nodes.replace('@', name);
                let outputs = if nodes.contains("k = Neg") { ", int64[1] k" } else { "" };
                let outputs = if nodes.contains("e = Neg") { ", float[E] e" } else { outputs };
                let constants = format!("float[{len}] y{outputs} <int64[1] n = {{{len}}}, int64[1] z = {{0}}>");
                let quantized = "q, u, v = DynamicQuantizeLinear (x) d = DequantizeLinear (q, u, v)";
                let body = format!("{nodes} {quantized} y = Mul (d, {name})");
                let source = document(&format!("float[{len}] x"), &constants, &body);
                let before = source.to_protobuf().len();
                let mut folded = source.copy();
                folded.fold(&Options::default(), Limits::default()).unwrap();
                let text = folded.to_text(false).unwrap().0;
                assert!(
                    folded.to_protobuf().len() <= before,
                    "{before} bytes became {}: {text}",
                    folded.to_protobuf().len()
                );
                *if text.contains("ConstantOfShape") { &mut left } else { &mut replaced } += 1;
            }
        }
    }
    assert!(replaced > 150 && left > 150, "{replaced} {left}");
}

/// Constants that several nodes share go only if all of them do, and a model stays quantized whatever is computed of it.
#[test]
fn folded_quantized_models_do_not_grow() {
    let wide = (1..21).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let quantized = "q, u, v = DynamicQuantizeLinear (x) d = DequantizeLinear (q, u, v)";
    let shares = |count: usize| {
        let each = |i: usize| format!("a{i} = Add (w, c{i}) y{i} = Add (a{i}, z)");
        let nodes = (0..count).map(each).collect::<Vec<_>>().join(" ");
        let outputs = (0..count).map(|i| format!("int64[20] y{i}")).collect::<Vec<_>>().join(", ");
        let constants = (0..count).map(|i| format!("int64 c{i} = {{{i}}}")).collect::<Vec<_>>().join(", ");
        let outputs = format!("{outputs}, float[4] d <int64[20] w = {{{wide}}}, {constants}>");
        ("float[4] x, int64[20] z".to_owned(), outputs, format!("{quantized} {nodes}"))
    };
    let given = |inputs: &str, outputs: &str, nodes: &str| (inputs.to_owned(), outputs.to_owned(), nodes.to_owned());
    let mut models: Vec<_> = [1, 2, 3, 5, 10].map(shares).into();
    models.push(given(
        "float[4] x, int64[20] z, int64[60] s",
        &format!("int64[20] y, int64[60] t, float[4] d <int64[20] w = {{{wide}}}>"),
        &format!("{quantized} n = Neg (w) y = Add (n, z) m = Concat <axis = 0> (w, w, w) t = Add (m, s)"),
    ));
    // The only quantized node is computed itself.
    models.push(given(
        "float[100] x",
        "uint8[2] q, float[100] o <float[2] a = {1, 2}, float s = {0.5}, uint8 p = {0}, int64[1] n = {100}>",
        "q = QuantizeLinear (a, s, p) b = ConstantOfShape (n) o = Add (b, x)",
    ));
    // Weights of codes alone make a model quantized.
    models.push(given(
        "float[2, 3] x, float[100] z",
        "float[2, 2] y, float[100] o <int8[3, 2] w = {1, 2, 3, 4, 5, 6}, float s = {0.5}, int64[1] n = {100}>",
        "d = DequantizeLinear (w, s) y = MatMul (x, d) b = ConstantOfShape (n) o = Add (b, z)",
    ));
    models.push(given(
        "float[4] x, int64[20] z",
        &format!("int64[20] y, float[4] d <int64[20] w = {{{wide}}}>"),
        &format!("{quantized} n = Neg (w) y = Add (n, z)"),
    ));
    let named = |name: &str| RuleId::all(false).find(|id| RULES[id.index()].name == name).unwrap();
    for (inputs, outputs, nodes) in &models {
        let source = document(inputs, outputs, nodes);
        let before = source.to_protobuf().len();
        for used in [None, Some(UsedRules::of(&[named("fold")], &[])), Some(UsedRules::of(&[], &[named("unused")]))] {
            let mut folded = source.copy();
            match used {
                None => drop(folded.fold(&Options::default(), Limits::default()).unwrap()),
                Some(rules) => drop(folded.simplify(&Options::default(), Limits::default(), rules).unwrap()),
            }
            let after = folded.to_protobuf().len();
            assert!(after <= before, "{before} bytes became {after}: {}", folded.to_text(false).unwrap().0);
        }
    }
}

/// `Constant` is an operator of the standard: it does not stand for an output of a model that does not import its set.
#[test]
fn outputs_of_models_without_the_standard_stay_nodes() {
    let text = "<ir_version: 10, opset_import: [\"com.microsoft\" : 1]> g (float[2] x) => (float[2] a, float[2] y) \
        <float[2] c = {1, 2}> { a = com.microsoft.Gelu (c) b = com.microsoft.QuickGelu (c) d = com.microsoft.Gelu (b) \
        y = com.microsoft.BiasGelu (x, d) }";
    let (source, found) = Document::parse("test", text, &mut Sources::new(), &Options::default());
    let source = source.unwrap_or_else(|| panic!("{found}"));
    for simple in [false, true] {
        let mut document = source.copy();
        if simple {
            document.simplify(&Options::default(), Limits::default(), all()).unwrap();
        } else {
            document.fold(&Options::default(), Limits::default()).unwrap();
        }
        let text = document.to_text(false).unwrap().0;
        assert!(text.contains("a = com.microsoft.Gelu (c)") && !text.contains("Constant"), "{text}");
        assert!(!text.contains("QuickGelu"), "{text}");
        assert!(!document.check(&Options::default()).has_errors(), "{text}");
    }
}

/// A model for each merge; weights are between -2 and 2.
const MERGES: &[(&str, &str, &str, &str, &str)] = &[
    ("zero", "float[N, 3] x", "float[N, 3] y <Z(3) c>", "a = Add (x, c) y = Exp (a)", "Exp"),
    (
        "batch-norm",
        "float[N, 2, 4, 4] x",
        "float[N, 3, L, M] y <W(3,2,3,3) w, W(3) b, W(3) s, W(3) o, W(3) m, V(3) v>",
        "a = Conv <pads = [1, 1, 1, 1]> (x, w, b) y = BatchNormalization <epsilon = 0.01> (a, s, o, m, v)",
        "Conv",
    ),
    (
        "batch-norm",
        "float[N, 4, 4, 4] x",
        "float[N, 6, L, M] y <W(4,3,2,2) w, W(6) s, W(6) o, W(6) m, V(6) v>",
        "a = ConvTranspose <group = 2, strides = [2, 2]> (x, w) y = BatchNormalization (a, s, o, m, v)",
        "ConvTranspose",
    ),
    (
        "batch-norm",
        "float[N, 3] x",
        "float[N, 2] y <W(3,2) w, W(2) s, W(2) o, W(2) m, V(2) v>",
        "a = MatMul (x, w) y = BatchNormalization (a, s, o, m, v)",
        "Gemm",
    ),
    (
        "scale",
        "float[N, 2, 4] x",
        "float[N, 4, M] y <W(4,1,3) w, W(4) b, W(4,1) c, V() d>",
        "a = Conv <group = 2> (x, w, b) e = Mul (c, a) y = Div (e, d)",
        "Conv",
    ),
    (
        "scale",
        "float[N, 3] x",
        "float[N, 2] y <W(2,3) w, W(2) b, W(1,2) c>",
        "a = Gemm <alpha = 0.5, beta = 2.0, transB = 1> (x, w, b) y = Mul (a, c)",
        "Gemm",
    ),
    (
        "scale",
        "float[2, N, 3] x",
        "float[2, N, 2] y <W(2,3,2) w, W(2) c>",
        "a = MatMul (x, w) y = Mul (a, c)",
        "MatMul",
    ),
    (
        "bias",
        "float[N, 2, 4, 4] x",
        "float[N, 3, L, M] y <W(3,2,2,2) w, W(1,3,1,1) c, W() d>",
        "a = Conv (x, w) b = Add (c, a) y = Sub (d, b)",
        "Conv",
    ),
    ("bias", "float[N, 3] x", "float[N, 2] y <W(3,2) w, W(2) c, W(2) d>", "a = Gemm (x, w, c) y = Sub (a, d)", "Gemm"),
    (
        "gemm",
        "float[N, 3] x",
        "float[N, 2] y <W(3,2) w, W(2) c>",
        "a = MatMul (x, w) b = Identity (c) y = Add (b, a)",
        "Gemm",
    ),
    (
        "gemm",
        "float[N, 3] x, float[3, 2] w, float[1, 2] c",
        "float[N, 2] y",
        "a = MatMul (x, w) y = Add (c, a)",
        "Gemm",
    ),
    (
        "scale-operand",
        "float[N, 2, 5] x",
        "float[N, 3, M] y <W(3,2,2) w, W(2,1) c, V(1) d>",
        "a = Mul (x, c) b = Div (a, d) y = Conv <pads = [1, 0]> (b, w)",
        "Conv",
    ),
    (
        "scale-operand",
        "float[N, 4, 5] x",
        "float[N, 6, M] y <W(4,3,2) w, W(4,1) c>",
        "a = Mul (x, c) y = ConvTranspose <group = 2> (a, w)",
        "ConvTranspose",
    ),
    (
        "scale-operand",
        "float[N, 3] x",
        "float[N, 2] y <W(3,2) w, W(3) c>",
        "a = Mul (x, c) y = MatMul (a, w)",
        "MatMul",
    ),
    (
        "scale-operand",
        "float[N, 3] x",
        "float[N, 2] y <W(2,3) w, W(1,3) c>",
        "a = Mul (x, c) y = Gemm <transB = 1> (a, w)",
        "Gemm",
    ),
    ("constants", "float[N, 3] x", "float[N, 3] y <W(3) c, W(1) d>", "a = Mul (c, x) y = Mul (a, d)", "Mul"),
    ("constants", "float[N, 3] x", "float[N, 3] y <W(1) c, W(1,3) d>", "a = Add (x, c) y = Add (d, a)", "Add"),
];

/// The document of a merge: `W(2,3) w` is a constant of numbers between -2 and 2, `V` one of numbers between 1 and 2.
fn merge_case(inputs: &str, named: &str, body: &str) -> Document {
    let (outputs, listed) = named.split_once(" <").unwrap_or((named, ">"));
    let mut constants = Vec::new();
    for (i, constant) in listed.trim_end_matches('>').split(", ").filter(|constant| !constant.is_empty()).enumerate() {
        let (kind, rest) = constant.split_at(1);
        let (shape, name) = rest.trim_start_matches('(').split_once(") ").unwrap();
        let count: usize = shape.split(',').filter_map(|extent| extent.parse::<usize>().ok()).product();
        let number = |item: usize| {
            let number = ((item * 37 + i * 11 + 5) % 41) as f64 / 10.25 - 2.0;
            match kind {
                "V" => (number.abs() / 2.0 + 1.0).to_string(),
                "Z" => "0".to_owned(),
                _ => number.to_string(),
            }
        };
        let items: Vec<String> = (0..count).map(number).collect();
        let extents = if shape.is_empty() { String::new() } else { format!("[{shape}]") };
        constants.push(format!("float{extents} {name} = {{{}}}", items.join(", ")));
    }
    let named = if constants.is_empty() { outputs.to_owned() } else { format!("{outputs} <{}>", constants.join(", ")) };
    document(inputs, &named, body)
}

/// The numbers of the outputs on numbers between -2 and 2.
fn numbers(document: &Document, batch: usize) -> Vec<f64> {
    let inputs: Vec<(String, Tensor)> = (document.inputs().into_iter().enumerate())
        .map(|(i, input)| {
            let mut shape = input.shape.unwrap();
            shape.iter_mut().filter(|extent| **extent == 1 && input.name == "x").for_each(|extent| *extent = batch);
            let count = shape.iter().product();
            let items = (0..count).map(|item| ((item * 29 + i * 7) % 31) as f32 / 7.75 - 2.0).collect();
            (input.name, Tensor::new(&shape, Data::Float32(items)).unwrap())
        })
        .collect();
    let outputs = document.run_tensors(&inputs, (Limits::default(), &Options::default())).unwrap();
    outputs.iter().flat_map(|(_, tensor)| tensor.to_scalars()).collect()
}

fn merged(document: &Document, rules: UsedRules) -> (Document, Vec<(&'static str, u64)>) {
    let mut merged = document.copy();
    merged.flatten(&Options::default()).unwrap();
    let counts = merged.merge(&Options::default(), rules);
    (merged, counts.applied().collect())
}

#[test]
fn merges_leave_one_node_and_keep_numbers_within_rounding() {
    for (rule, inputs, named, body, left) in MERGES {
        let source = merge_case(inputs, named, body);
        let before = source.to_text(false).unwrap().0;
        for only in [true, false] {
            let id = RuleId::all(true).find(|id| RULES[id.index()].name == *rule).unwrap();
            let (simple, applied) =
                merged(&source, UsedRules::merging(if only { std::slice::from_ref(&id) } else { &[] }));
            let text = simple.to_text(false).unwrap().0;
            assert!(applied.iter().any(|(name, _)| name == rule), "{rule}: {applied:?}\n{before}\n{text}");
            if !only {
                let nodes = text
                    .lines()
                    .filter(|line| line.trim_start().contains(" = ") && line.contains('(') && !line.contains("=>"))
                    .count();
                assert!(
                    nodes <= 1 + body.matches("Identity").count() && text.contains(&format!("= {left}")),
                    "{rule}:\n{text}"
                );
                let (again, applied) = merged(&simple, UsedRules::merging(&[]));
                assert_eq!((applied, again.to_text(false).unwrap().0), (Vec::new(), text.clone()), "{rule}");
            }
            for batch in [1, 3] {
                let (wanted, found) = (numbers(&source, batch), numbers(&simple, batch));
                assert!(all_near(&found, &wanted, 1e-5), "{rule}: {wanted:?}, {found:?}\n{text}");
            }
        }
    }
    let is_listed = |id: &RuleId| MERGES.iter().any(|case| case.0 == RULES[id.index()].name);
    assert!(RuleId::all(true).all(|id| is_listed(&id)));
}

#[test]
fn merges_that_change_more_than_rounding_are_left() {
    for (inputs, named, body) in [
        // Another node uses the product, or it is an output.
        ("float[N, 3] x", "float[N, 2] y <W(3,2) w, W(2) c>", "a = MatMul (x, w) b = Mul (a, c) y = Sub (b, a)"),
        ("float[N, 3] x", "float[N, 2] y, float[N, 2] a <W(3,2) w, W(2) c>", "a = MatMul (x, w) y = Mul (a, c)"),
        // The result is larger, or the numbers are those of another axis.
        ("float[N, 3] x", "float[N, 2] y <W(3,1) w, W(2) c>", "a = MatMul (x, w) y = Mul (a, c)"),
        ("float[2, 3] x", "float[2, 2] y <W(3,2) w, W(2,1) c>", "a = MatMul (x, w) y = Mul (a, c)"),
        ("float[N, 2, 4, 3] x", "float[N, 3, 4, 3] y <W(3,2,1,1) w, W(3) c>", "a = Conv (x, w) y = Mul (a, c)"),
        // A weight would be infinite.
        (
            "float[N, 3] x",
            "float[N, 2] y <W(3,2) w, W(1) c>",
            "z = Sub (c, c) d = Exp (x) a = MatMul (d, w) y = Div (a, z)",
        ),
        // Padding stands before the product.
        ("float[N, 3] x", "float[N, 2] y <W(3,2) w, W(3) c>", "a = Add (x, c) y = MatMul (a, w)"),
        // The product is outside the loop.
        (
            "float[N, 3] x",
            "float[N, 2] y <W(3,2) w, W(2) c, W() on>",
            "a = MatMul (x, w) n = Constant <value_int = 3> () t = Constant <value = bool {1}> () y = Loop (n, t, x) <body = \
             inner (int64 i, bool g, float[N, K] s) => (bool h, float[N, L] r) { h = Identity (g) r = Mul (a, c) }>",
        ),
    ] {
        let source = merge_case(inputs, named, body);
        let (simple, applied) = merged(&source, UsedRules::merging(&[]));
        assert_eq!(applied, [], "{}", simple.to_text(false).unwrap().0);
    }
}

/// The page has the tables of rules.
#[test]
fn the_page_lists_the_rules() {
    for (merges, last) in [(false, "exact because"), (true, "rounded otherwise")] {
        let mut table = format!("| rule | what | if | becomes | {last} |\n|---|---|---|---|---|\n");
        for rule in RULES.iter().filter(|rule| rule.merges == merges) {
            let cells = [rule.pattern, rule.condition, rule.left, rule.exact].join(" | ");
            table.push_str(&format!("| `{}` | {cells} |\n", rule.name));
        }
        is_table_of("simplify.md", &table);
    }
}
