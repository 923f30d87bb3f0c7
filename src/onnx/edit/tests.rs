use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::eval::Limits;
use crate::onnx::Document;
use crate::source::Sources;
use crate::tensor::Tensor;

/// The model of a graph, and of functions of the domain `l`.
fn document(graph: &str) -> Document {
    let text = format!("<ir_version: 9, opset_import: [\"\" : 18, \"l\" : 1, \"other\" : 1]>\n{graph}");
    let (document, found) = Document::parse("test", &*text, &mut Sources::new(), &Options::default());
    document.unwrap_or_else(|| panic!("{graph}: {found}"))
}

/// The nodes of a model with how many names of results they have.
fn nodes(document: &Document) -> String {
    let text = document.to_text(false).unwrap().0;
    let lines = text.lines().map(str::trim).filter(|line| line.contains(" = ") && !line.contains("opset"));
    lines.collect::<Vec<_>>().join("; ")
}

fn shared(body: &str) -> String {
    let mut document = document(&format!("g (float[2] x, bool c) => (float[2] y) {{ {body} }}"));
    document.share();
    nodes(&document)
}

#[test]
fn equal_nodes_are_one() {
    let chain = "a = Exp (x) b = Exp (x) c = Neg (a) d = Neg (b) y = Add (c, d)";
    assert_eq!(shared(chain), "a = Exp (x); c = Neg (a); y = Add (c, c)");
    let several = "a, b = Split <num_outputs: int = 2> (x) e, f = Split <num_outputs: int = 2> (x) y = Concat <axis: int = 0> (a, f)";
    assert!(shared(several).ends_with("(a, b)"), "{}", shared(several));
    let constants = "a = Constant <value = float {2.0}> () b = Constant <value = float {2.0}> () y = Mul (a, b)";
    assert!(shared(constants).ends_with("y = Mul (a, a)"), "{}", shared(constants));
    assert_eq!(shared("a = Clip (x, , ) b = Clip (x) y = Add (a, b)").matches("Clip").count(), 1);
}

#[test]
fn attributes_are_compared_by_value() {
    let of = |a: &str, b: &str| shared(&format!("a = LeakyRelu {a} (x) b = LeakyRelu {b} (x) y = Add (a, b)"));
    for (a, b, count) in [
        ("", "<alpha: float = 0.01>", 1),
        ("<alpha: float = 0.1>", "<alpha: float = 0.2>", 2),
        ("<alpha: float = 0.0>", "<alpha: float = -0.0>", 2),
    ] {
        assert_eq!(of(a, b).matches("LeakyRelu").count(), count, "{a} {b}");
    }
}

#[test]
fn random_numbers_and_outputs_stay() {
    let given = "m = Constant <value = float[1,2] {0, 0}> () r = Constant <value = float {0.5}> () \
        t = Constant <value = bool {1}> ()";
    for (call, count) in [
        ("Bernoulli (x)", 2),
        ("Multinomial (m)", 2),
        ("RandomNormal <shape = [2]> ()", 2),
        ("RandomNormalLike (x)", 2),
        ("RandomUniform <shape = [2]> ()", 2),
        ("RandomUniformLike (x)", 2),
        ("Dropout (x, r, t)", 2),
        ("Dropout (x, r)", 1),
        ("Abs (x)", 1),
    ] {
        let operator = call.split(' ').next().unwrap();
        let found = shared(&format!("{given} a = {call} b = {call} y = Add (a, b)"));
        assert_eq!(found.matches(&format!("= {operator} ")).count(), count, "{call}: {found}");
    }
    let mut outputs = document("g (float[2] x) => (float[2] y, float[2] z) { y = Exp (x) z = Exp (x) }");
    assert_eq!(outputs.share(), 0);
    let mut foreign = document("g (float[2] x) => (float[2] y) { a = l.f (x) b = l.f (x) y = Add (a, b) }");
    assert_eq!(foreign.share(), 0);
}

#[test]
fn inner_graphs_see_what_is_around_them() {
    let text = shared(
        "a = Exp (x) y = If (c) <then_branch = p () => (float[2] r) { b = Exp (x) d = Neg (b) r = Add (d, a) }, \
         else_branch = q () => (float[2] r) { d = Neg (x) e = Neg (x) r = Add (d, e) }>",
    );
    assert!(text.contains("d = Neg (a)"), "{text}");
    assert!(text.contains("r = Add (d, d)"), "{text}");
    assert_eq!(text.matches("Exp").count(), 1, "{text}");
}

fn folded(graph: &str, options: &Options) -> String {
    let mut document = document(graph);
    document.fold(options, Limits::default()).unwrap_or_else(|found| panic!("{graph}: {found}"));
    nodes(&document)
}

fn set(symbol: &str, value: i64) -> Options {
    Options::default().with(|options| options.shapes.symbols.push((symbol.to_owned(), value.into())))
}

#[test]
fn what_follows_from_known_extents_is_computed() {
    let body = "s = Shape (x) k = Constant <value = int64 {1}> () n = Gather (s, k) c = Less (k, n) \
        y = If (c) <then_branch = p () => (float[M] r) { r = Neg (x) }, else_branch = q () => (float[M] t) { t = Abs (x) }>";
    let graph = format!("g (float[1, N] x) => (float[1, N] y) {{ {body} }}");
    assert_eq!(folded(&graph, &set("N", 4)), "y = Neg (x)");
    assert_eq!(folded(&graph, &set("N", 1)), "y = Abs (x)");
    assert!(folded(&graph, &Options::default()).contains("If"));
}

#[test]
fn loops_whose_trips_become_known_are_unrolled() {
    let graph = "g (float[T, 2] x) => (float[T, 2] y) { s = Shape (x) k = Constant <value = int64 {0}> () \
        n = Gather (s, k) c = Constant <value = bool {1}> () y = Loop (n, c, x) <body = b (int64 i, bool ci, float[T, 2] v) \
        => (bool co, float[T, 2] w) { w = Neg (v) co = Identity (ci) }> }";
    let unrolled = folded(graph, &set("T", 3).with(|options| options.unroll = true));
    assert_eq!(unrolled.matches("Neg").count(), 3, "{unrolled}");
    assert!(!unrolled.contains("Loop"), "{unrolled}");
    let refused = document(graph).fold(&set("T", 3).with(|options| options.flat = true), Limits::default());
    assert_eq!(refused.unwrap_err().iter().next().unwrap().code, Code::LoopNotFlat);
}

#[test]
fn random_numbers_and_growth_are_left_alone() {
    let graph = "g (float[2] x) => (float[2] y) { k = Constant <value = float[2] {0, 0}> () r = RandomNormalLike (k) y = Add (x, r) }";
    assert!(folded(graph, &Options::default()).contains("RandomNormalLike"));
    let graph = "g (float[2] x) => (float[N, M] y) { s = Constant <value = int64[2] {1000, 1000}> () \
        z = ConstantOfShape (s) y = Mul (z, z) }";
    assert!(folded(graph, &Options::default()).contains("ConstantOfShape"));
}

#[test]
fn values_of_inputs_are_constants() {
    let graph = "g (float[N, 2] x, int64 n, float[2] w) => (float[N, 2] y) { y = Mul (x, w) }";
    let bind = |name: &str, value: Tensor| {
        let mut document = document(graph);
        document.bind(&[(name.to_owned(), value)]).map(|()| document.to_text(false).unwrap().0)
    };
    let code = |result: Result<String, Diagnostics>| result.unwrap_err().iter().next().unwrap().code;
    let text = bind("w", Tensor::integers(&[2], vec![3, 4]).unwrap()).unwrap();
    assert!(text.contains("float[2] w = {3.0, 4.0}") && text.contains("(float[N, 2] x, int64 n)"), "{text}");
    assert_eq!(code(bind("w", Tensor::integers(&[3], vec![3, 4, 5]).unwrap())), Code::OptionValue);
    assert_eq!(code(bind("n", Tensor::scalars(&[], vec![1.5]).unwrap())), Code::OptionValue);
    assert_eq!(code(bind("m", Tensor::scalars(&[], vec![1.0]).unwrap())), Code::OptionInput);
}

#[test]
fn symbols_and_shapes_are_written_into_types() {
    let graph = "g (float[N, 6] x, float[P, Q] z) => (float[N, M] y) { y = Abs (x) }";
    let given = |symbols: &[(&str, i64)], input: &str, shape: &str| {
        let options = Options::default().with(|options| {
            options.shapes.symbols =
                symbols.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            if !input.is_empty() {
                options.shapes.inputs =
                    vec![(input.to_owned(), shape.split(',').map(|extent| extent.parse().unwrap()).collect())];
            }
        });
        let mut document = document(graph);
        document.flatten(&options).map(|_| document.to_text(false).unwrap().0)
    };
    let code = |result: Result<String, Diagnostics>| result.unwrap_err().iter().next().unwrap().code;
    let text = given(&[("N", 3)], "z", "5,6").unwrap();
    assert!(text.contains("(float[3, 6] x, float[5, 6] z) => (float[3, M] y)"), "{text}");
    assert_eq!(code(given(&[("K", 3)], "", "")), Code::OptionSymbol);
    assert_eq!(code(given(&[], "w", "1")), Code::OptionInput);
    assert_eq!(code(given(&[], "x", "1")), Code::OptionShape);
    assert_eq!(code(given(&[("N", 3)], "x", "4,6")), Code::OptionSymbol);
    // Symbols of a given shape have values, too.
    assert_eq!(given(&[("K", 3)], "x", "K,6").unwrap(), given(&[], "x", "3,6").unwrap());
    // A shape says what a symbol is, as a value does.
    assert_eq!(given(&[], "x", "3,6").unwrap(), given(&[("N", 3)], "x", "3,6").unwrap());
    assert!(given(&[], "x", "3,6").unwrap().contains("float[3, M] y"));
}

/// The text of a model with the types of all values.
fn annotated(graph: &str) -> String {
    let mut document = document(graph);
    document.annotate(&Options::default());
    let text = document.to_text(false).unwrap().0;
    let mut again = document.copy();
    again.annotate(&Options::default());
    assert_eq!(again.to_text(false).unwrap().0, text, "once is enough");
    text
}

#[test]
fn types_of_all_values_are_written() {
    let body = "a = Concat <axis = 0> (x, x) b = Shape (a) c = l.f (a) y = Neg (c)";
    let function = "<domain: \"l\", opset_import: [\"\" : 18]> f (a) => (c) { c = Exp (a) }";
    let text = annotated(&format!("g (float16[N, 3] x) => (y) {{ {body} }}\n{function}"));
    for wanted in [r#"float16["2*N", 3] a"#, "int64[2] b", r#"float16["2*N", 3] c"#, r#"=> (float16["2*N", 3] y)"#] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    // Types in functions differ from call to call.
    assert_eq!(text.matches("float16").count(), 4, "{text}");
}

#[test]
fn what_is_declared_stays() {
    let model =
        |declared: &str| format!("g (float[2, N] x) => (float[M, K] y) <{declared}> {{ t = Exp (x) y = Neg (t) }}");
    // A symbol that is a number becomes the number; other symbols stay.
    let text = annotated(&model("float[A, B] t"));
    assert!(text.contains("float[2, B] t") && text.contains("(float[2, K] y)"), "{text}");
    // Inference does not contradict what is declared.
    let text = annotated(&model("double[5, 7] t"));
    assert!(text.contains("double[5, 7] t"), "{text}");
}

#[test]
fn values_in_graphs_of_nodes_have_types_too() {
    let branches = "then_branch = a () => (o) { t = Neg (x) o = Abs (t) }, else_branch = b () => (o) { o = Exp (x) }";
    let text = annotated(&format!("g (float[2] x, bool p) => (y) {{ y = If <{branches}> (p) }}"));
    assert_eq!(text.matches("=> (float[2] o)").count(), 2, "{text}");
    assert!(text.contains("<float[2] t>") && text.contains("bool p) => (float[2] y)"), "{text}");
    let sequence =
        annotated("g (float[2] x) => (float[2] y) { s = SequenceConstruct (x) y = ConcatFromSequence <axis = 0> (s) }");
    assert!(sequence.contains("seq(float[2]) s"), "{sequence}");
    let foreign = annotated("g (float[2] x) => (float[2] y) { t = other.f (x) y = Exp (t) }");
    assert!(!foreign.contains(" t>"), "{foreign}");
}

/// Models with branches, loops and functions in each other, of which folding finds out what is taken.
const NESTS: &[&str] = &[
    "g (float[2, 3] x) => (float[2, 3] y) { s = Shape (x) i = Constant <value_int = 0> () d = Gather (s, i) \
     k = Constant <value_int = 2> () e = Equal (d, k) \
     y = If (e) <then_branch = t () => (float[2, 3] q) { p = l.f (x) q = l.f (p) }, \
     else_branch = u () => (float[2, 3] m) { m = Neg (x) }> } \
     <domain: \"l\", opset_import: [\"\" : 18]> f (v) => (w) { c = Constant <value_float = 3.0> () w = Mul (v, c) }",
    "g (float[2] x) => (float[2] y) <int64 m = {3}, int64 two = {2}, int64 zero = {0}> { \
     y = Loop (m, , x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] o) { \
     d = Identity (c) p = Mod (i, two) e = Equal (p, zero) \
     o = If (e) <then_branch = t () => (float[2] a) { a = l.f (s) }, else_branch = u () => (float[2] a) { a = Neg (s) }> }> } \
     <domain: \"l\", opset_import: [\"\" : 18]> f (v) => (w) { n = Shape (v) o = Constant <value_ints = [2]> () \
     h = Equal (n, o) h0 = Squeeze (h) w = If (h0) <then_branch = t () => (r) { q = Exp (v) r = Abs (q) }, \
     else_branch = u () => (r) { r = Neg (v) }> }",
    // Extents decide how often loops and scans run, also in a branch, in a trip, and with the names of another branch.
    "g (float[2, 3] x, bool c) => (float[2, 3] y) <int64 zero = {0}, int64 two = {2}, bool on = {1}> { \
     y = If (c) <then_branch = t () => (float[2, 3] r) { s = Shape (x) n = Gather (s, zero) \
     r = Loop (n, on, x) <body = b (int64 i, bool k, float[2, 3] v) => (bool d, float[2, 3] o) { \
     d = Identity (k) m = Shape (v) e = Gather (m, zero) l = Less (i, e) f = Mod (e, two) h = Equal (f, i) a = And (l, h) \
     o = If (a) <then_branch = p () => (float[2, 3] w) { w = Exp (v) }, else_branch = q () => (w) { w = Neg (v) }> }> }, \
     else_branch = u () => (float[2, 3] r) { n = Add (x, x) j = Abs (n) k, s = Scan (x, j) <num_scan_inputs = 1, \
     body = b (float[2, 3] z, float[3] i) => (float[2, 3] d, float[3] o) { d = Add (z, i) o = Neg (i) }> \
     r = Add (k, s) }> }",
    // What is computed, and no type says, decides an extent, which decides how often a loop runs.
    "g (float[12] x) => (float[?] y) <float[2] h = {1.1, 1.4}, bool on = {1}, int64 zero = {0}> { \
     f = Exp (h) a = Cast <to = 7> (f) d = Reshape (x, a) s = Shape (d) n = Gather (s, zero) \
     y = Loop (n, on, x) <body = b (int64 i, bool k, float[12] v) => (bool kk, float[12] o) \
     { kk = Identity (k) o = Neg (v) }> }",
    // The same in a branch that may run.
    "g (float[12] x, bool c) => (float[12] y) <float[2] h = {1.1, 1.4}, bool on = {1}, int64 zero = {0}> { \
     y = If (c) <then_branch = t () => (float[12] r) { f = Exp (h) a = Cast <to = 7> (f) d = Reshape (x, a) \
     s = Shape (d) n = Gather (s, zero) r = Loop (n, on, x) <body = b (int64 i, bool k, float[12] v) => \
     (bool kk, float[12] o) { kk = Identity (k) o = Neg (v) }> }, else_branch = u () => (float[12] r) { r = Abs (x) }> }",
    // A graph for items of a sequence, whose types are not declared, with a branch that is decided, and one that is not.
    "g (float[2, 3] x, bool c) => (float[2, 3] y) <int64 zero = {0}> { s = SequenceConstruct (x, x) \
     m, n = SequenceMap (s) <body = b (v) => (w, u) { r = Shape (v) k = Size (r) e = Equal (k, zero) \
     w = If (e) <then_branch = p () => (q) { q = Neg (v) }, else_branch = q () => (q) { q = Exp (v) }> \
     u = If (c) <then_branch = p () => (q) { q = Shape (v) }, else_branch = q () => (q) { q = Shape (r) }> }> \
     y = SequenceAt (m, zero) z = SequenceAt (n, zero) }",
    // A scan over a value around its graph.
    "g (float[3, 2] v, float[2] s, bool c) => (float[2] y) { x = Abs (v) \
     y = If (c) <then_branch = a () => (float[2] p) { p, q = Scan (s, x) <num_scan_inputs = 1, body = b (float[2] z, \
     float[2] i) => (float[2] d, float[2] o) { d = Add (z, i) o = Neg (i) }> }, else_branch = e () => (float[2] r) \
     { r = Neg (s) }> }",
];

/// A chain of conditions of which each one is decided by what the chosen branch of the one before it computes, beside a
/// chain of larger tensors.
fn decisions(count: usize) -> String {
    let mut body = "w0 = ConstantOfShape (n) w1 = Neg (w0) w = Neg (w1) ".to_owned();
    let mut last = "h".to_owned();
    for i in 0..count {
        body += &format!(
            "s{i} = ReduceMax <keepdims = 0> ({last}) c{i} = Greater (s{i}, z) t{i} = If (c{i}) \
             <then_branch = a () => (p) {{ p = Mul ({last}, {last}) }}, else_branch = b () => (q) {{ q = Neg ({last}) }}> \
             r{i} = Sqrt (t{i}) "
        );
        last = format!("r{i}");
    }
    let constants = "float[2] h = {1.5, 2.5}, float z = {0.0}, int64[1] n = {1000}";
    format!("g (float[2] x) => (float[2] y, float[?] w) <{constants}> {{ {body} y = Add (x, {last}) }}")
}

#[test]
fn what_is_known_is_computed_once_and_kept() {
    let unrolling = Options::default().with(|options| options.unroll = true);
    let graph = decisions(12);
    let mut least = 0;
    // The least limits with which folding decides all.
    for limit in [2_000, 4_000, 8_000, 12_000, 16_000] {
        for limits in
            [Limits { max_items: limit, ..Limits::default() }, Limits { max_work: limit, ..Limits::default() }]
        {
            let (mut folded, mut unrolled) = (document(&graph), document(&graph));
            folded.fold(&unrolling, limits).unwrap();
            unrolled.flatten_within(&unrolling, limits).unwrap();
            if !operators(&folded).contains("If") {
                least += 1;
                assert!(
                    !operators(&unrolled).contains("If"),
                    "{limits:?}: {unrolled}",
                    unrolled = operators(&unrolled)
                );
            }
        }
    }
    assert!(least >= 4, "the limits allow folding");
    let mut limited = document(&graph);
    limited.flatten_within(&unrolling, Limits { max_work: 3, ..Limits::default() }).unwrap();
    assert!(operators(&limited).contains("If"), "limits hold");
}

/// The operators of the nodes of a model.
fn operators(document: &Document) -> String {
    let operator =
        |node: &str| node.split(" = ").nth(1).and_then(|call| call.split([' ', '(']).next()).map(str::to_owned);
    nodes(document).split("; ").filter_map(operator).collect::<Vec<_>>().join(" ")
}

#[test]
fn programs_learn_the_element_types_of_what_sequences_are_mapped_to() {
    let bodies = [
        // Decided without folding.
        "k = Constant <value = bool {1}> () w = If (k) <then_branch = p () => (q) { q = Neg (v) }, \
         else_branch = q () => (q) { q = Exp (v) }>",
        "r = Shape (v) k = Size (r) e = Equal (k, zero) w = If (e) <then_branch = p () => (q) { q = Neg (v) }, \
         else_branch = q () => (q) { q = Exp (v) }>",
        "w = Neg (v)",
    ];
    let wraps = [
        ("s = SequenceConstruct (x) m = SequenceMap (s) <body = b (v) => (w) { B }> y = SequenceAt (m, zero)", ""),
        ("s = SequenceConstruct (x) m = l.f (s) y = SequenceAt (m, zero)", "M"),
        (
            "y = If (c) <then_branch = t () => (float[2] y0) { s = SequenceConstruct (x) \
             m = SequenceMap (s) <body = b (v) => (w) { B }> y0 = SequenceAt (m, zero) }, \
             else_branch = e () => (float[2] y1) { y1 = Abs (x) }>",
            "",
        ),
    ];
    let limits = Limits::default();
    let unrolling = Options::default().with(|options| options.unroll = true);
    for (wrap, function) in wraps {
        for body in bodies {
            let inside = if function.is_empty() { "" } else { "zero = Constant <value_int = 0> () " };
            let map = format!("m = SequenceMap (s) <body = b (v) => (w) {{ {body} }}>");
            let function = match function {
                "" => String::new(),
                _ => format!("\n<domain: \"l\", opset_import: [\"\" : 18]> f (s) => (m) {{ {inside}{map} }}"),
            };
            let nodes = wrap.replace('B', body);
            let graph = format!("g (float[2] x, bool c) => (float[2] y) <int64 zero = {{0}}> {{ {nodes} }}{function}");
            for pass in 0..4 {
                let mut made = document(&graph);
                match pass {
                    0 => drop(made.flatten(&Options::default()).unwrap()),
                    1 => drop(made.flatten(&unrolling).unwrap()),
                    2 => drop(made.fold(&Options::default(), limits).unwrap()),
                    _ => drop(made.simplify(&Options::default(), limits, super::UsedRules::ALL).unwrap()),
                }
                let text = made.to_text(false).unwrap().0;
                let declared = text.split("SequenceMap").skip(1).all(|map| {
                    let outputs = map.split("=> (").nth(1).and_then(|outputs| outputs.split(')').next());
                    outputs.is_some_and(|outputs| outputs.trim_start().starts_with("float"))
                });
                assert!(declared && text.contains("SequenceMap"), "{pass}: {graph}\n{text}");
            }
        }
    }
}

#[test]
fn two_passes_in_one_are_two_passes() {
    let read = |document: &Document| {
        let bytes = document.to_protobuf();
        Document::decode("again", bytes, &mut Sources::new(), &Options::default()).0.unwrap()
    };
    let limits = Limits::default();
    let unrolling = Options::default().with(|options| options.unroll = true);
    for graph in NESTS {
        // What decides how often a loop runs is known without constants in its place.
        let mut together = document(graph);
        together.fold(&unrolling, limits).unwrap();
        let mut one = document(graph);
        one.flatten(&unrolling).unwrap();
        let mut two = read(&one);
        two.fold(&Options::default(), limits).unwrap();
        assert_eq!(operators(&two), operators(&together), "{graph}");
        assert!(!operators(&one).contains("Loop") && !operators(&one).contains("Scan"), "{graph}");
    }
    for graph in NESTS {
        let mut together = document(graph);
        together.fold(&unrolling, limits).unwrap();
        together.share();
        for first in [Options::default(), unrolling.clone()] {
            let mut one = document(graph);
            one.flatten(&first).unwrap();
            let mut two = read(&one);
            two.fold(&unrolling, limits).unwrap();
            let mut three = read(&two);
            three.share();
            assert_eq!(operators(&three), operators(&together), "{graph}");
            assert!(three.check(&Options::default()).is_empty(), "{graph}");
        }
    }
}
