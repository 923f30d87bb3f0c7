use bytes::Bytes;

use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::eval::Limits;
use crate::onnx::Document;
use crate::onnx::model::{EncodedField, Wire};
use crate::onnx::protobuf::fields::{annotation as annotation_fields, entry, graph as graph_fields};
use crate::onnx::protobuf::payloads;
use crate::onnx::text::Production;
use crate::onnx::walk::{each_graph, each_graph_mut};
use crate::source::Sources;
use crate::tensor::{Data, Tensor};
use crate::{Lower, options};

mod partial;

const HEAD: &str = "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]>\n";
const LOCAL: &str = "<domain: \"l\", opset_import: [\"\" : 17, \"l\" : 1]>\n";

fn flatten(text: &str, options: &Options) -> Result<String, Diagnostics> {
    let mut sources = Sources::new();
    let file = sources.add("test", text.to_owned());
    let (document, found) = Document::parse_part(&sources, file, Production::Model, options);
    let mut document = document.unwrap_or_else(|| panic!("{text}: {found}"));
    document.flatten(options)?;
    let (text, _) = document.to_text(false).unwrap();
    let nodes = text.lines().filter(|line| line.contains(" = ") && line.starts_with("    ") && !line.contains("opset"));
    Ok(nodes.map(str::trim).collect::<Vec<_>>().join("; "))
}

fn flat(body: &str, functions: &str) -> String {
    let functions = functions.replace("fn ", LOCAL);
    let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ {body} }}\n{functions}");
    flatten(&text, &Options::default()).unwrap_or_else(|found| panic!("{found}"))
}

fn refused(body: &str, functions: &str) -> Vec<Code> {
    let functions = functions.replace("fn ", LOCAL);
    let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ {body} }}\n{functions}");
    let found = flatten(&text, &Options::default()).expect_err("a refusal");
    found.iter().map(|found| found.code).collect()
}

#[test]
fn calls_become_nodes_with_names_that_are_paths() {
    let twice = "fn twice (a) => (b) { t = Neg (a) b = Add (t, t) }";
    assert_eq!(flat("y = l.twice (x)", twice), "y_t = Neg (x); y = Add (y_t, y_t)");
    let nested =
        flat("y_t = Abs (x) y = l.f (y_t)", &format!("fn f (a) => (b) {{ t = l.twice (a) b = l.twice (t) }} {twice}"));
    assert_eq!(
        nested,
        "y_t = Abs (x); y_t_2_t = Neg (y_t); y_t_2 = Add (y_t_2_t, y_t_2_t); y_t_3 = Neg (y_t_2); y = Add (y_t_3, y_t_3)"
    );
}

#[test]
fn operands_are_bound_at_once() {
    assert_eq!(
        flat("a = Abs (x) y = l.f (x, a)", "fn f (a, x) => (b) { b = Sub (a, x) }"),
        "a = Abs (x); y = Sub (x, a)"
    );
    assert_eq!(flat("y = l.f (x)", "fn f (a, b) => (c) { c = Clip (a, , b) }"), "y = Clip (x, \"\", \"\")");
    assert_eq!(flat("y = l.f (x)", "fn f (a) => (a) { }"), "y = Identity (x)");
    assert_eq!(flat("y = l.f (x)", "fn f (a) => (b, c) { b = Abs (a) c = Neg (b) }"), "y = Abs (x); y_c = Neg (y)");
}

#[test]
fn attributes_come_from_the_call_or_from_the_default() {
    let f = "fn f <a, b: float = 0.5> (x) => (y) { y = Op <alpha: float = @b, beta: int = @a> (x) }";
    assert_eq!(flat("y = l.f (x)", f), "y = Op <alpha: float = 0.5> (x)");
    assert_eq!(flat("y = l.f <a = 2, b = 1.5> (x)", f), "y = Op <alpha: float = 1.5, beta: int = 2> (x)");
    let outer = format!("fn h <b: float = 2.5> (x) => (y) {{ y = l.f <b: float = @b> (x) }} {f}");
    assert_eq!(flat("y = l.h (x)", &outer), "y = Op <alpha: float = 2.5> (x)");
    assert_eq!(refused("y = l.f <b = 1> (x)", f), [Code::OnnxReference]);
}

#[test]
fn graphs_in_attributes_have_names_of_their_own() {
    let f = "fn f (c, a) => (b) { t = Neg (a) b = If <then_branch = p () => (o) { o = Abs (t) }, else_branch = q () => (t2) { t2 = l.g (a) }> (c) }
        fn g (a) => (b) { s = Exp (a) b = Log (s) }";
    let flat = flat("c = Not (x) y = l.f (c, x)", f);
    assert!(flat.contains("y_t = Neg (x)") && flat.contains("y_o = Abs (y_t)"), "{flat}");
    assert!(flat.contains("y_t2_s = Exp (x)") && flat.contains("y_t2 = Log (y_t2_s)"), "{flat}");
}

#[test]
fn what_cannot_be_expanded_is_refused() {
    let f = "fn f (a) => (b) { b = Abs (a) }";
    assert_eq!(refused("y = l.f (x, x)", f), [Code::OnnxArguments]);
    assert_eq!(refused("y, z = l.f (x)", f), [Code::OnnxArguments]);
    assert_eq!(refused("y = l.f:v2 (x)", f), [Code::OnnxOverload]);
    assert_eq!(refused("y = l.f (x)", &format!("{f} {f}")), [Code::OnnxDuplicate]);
    assert_eq!(refused("y = l.f ()", "fn f (a) => (a) { }"), [Code::OnnxUndefined]);
    assert_eq!(refused("y = l.f ()", "fn f (a) => (b) { b = Add (a, a) }"), [Code::OnnxOperands]);
    assert_eq!(
        refused("y = l.f (x)", "fn f (a, b) => (c) { c = l.g (a, b) } fn g (a, b) => (c) { c = Sub (a, b) }"),
        [Code::OnnxOperands]
    );
    for f in [
        "(a) => (b) { a = Neg (a) b = Abs (a) }",
        "(a, a) => (b) { b = Abs (a) }",
        "(a) => (b) { t = Neg (a) u = Abs (t) t = Exp (a) b = Add (u, t) }",
    ] {
        assert_eq!(refused("y = l.f (x)", &format!("fn f {f}")), [Code::OnnxReassigned], "{f}");
    }
    assert_eq!(
        refused("y = l.f (x)", "fn f (a) => (b) { b = l.g (a) } fn g (a) => (b) { b = l.f (a) }"),
        [Code::OnnxRecursion]
    );
}

/// An operator that differs between the versions of function and caller is refused.
#[test]
fn operators_of_other_versions_are_taken_if_they_are_the_same() {
    let text = |version: u32, operator: &str| {
        let function =
            format!("<domain: \"l\", opset_import: [\"\" : {version}]> f (a) => (b) {{ b = {operator} (a) }}");
        format!("{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f (x) }}\n{function}")
    };
    assert_eq!(flatten(&text(13, "Neg"), &Options::default()).unwrap(), "y = Neg (x)");
    for (version, operator) in [(12, "Neg"), (18, "ReduceSumSquare"), (13, "NoSuchOperator")] {
        let found = flatten(&text(version, operator), &Options::default()).unwrap_err();
        assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::OnnxOpset], "{operator}");
    }
}

#[test]
fn doubling_ends_at_the_limit() {
    let doubling: String = (0..60)
        .map(|i| {
            let next = format!("l.f{}", i + 1);
            format!("fn f{i} (a) => (b) {{ t = {next} (a) b = {next} (t) }} ")
        })
        .collect();
    let options = Options::default().with(|options| options.max_ops = 10_000);
    let functions = format!("{doubling}fn f60 (a) => (b) {{ b = Neg (a) }}").replace("fn ", LOCAL);
    let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f0 (x) }}\n{functions}");
    let found = flatten(&text, &options).unwrap_err();
    assert!(matches!(found.iter().next().map(|found| found.code), Some(Code::OperationBudget | Code::StepBudget)));
}

#[test]
fn functions_can_be_kept() {
    let text = format!(
        "{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f (x) }}\n{LOCAL}f (a) => (b) {{ b = l.h (a) }}\n{LOCAL}h (a) => (b) {{ b = Abs (a) }}"
    );
    let options = Options::default().with(|options: &mut options::Options| options.keep = vec!["f".to_owned()]);
    assert_eq!(flatten(&text, &options).unwrap(), "y = l.f (x); b = Abs (a)");
    let options = Options::default().with(|options| options.lower = Lower::Names(vec!["l.f".to_owned()]));
    assert_eq!(flatten(&text, &options).unwrap(), "y = l.h (x); b = Abs (a)");
}

#[test]
fn too_many_nodes_are_refused_before_they_are_made() {
    let mut functions = String::from("fn f0 (a) => (b) { b = Neg (a) }");
    for i in 1..=60 {
        let called = i - 1;
        functions += &format!(" fn f{i} (a) => (b) {{ t = l.f{called} (a) b = l.f{called} (t) }}");
    }
    assert_eq!(refused("y = l.f60 (x)", &functions), [Code::OperationBudget]);
    let empty = functions.replacen("b = Neg (a)", "", 1).replacen("=> (b)", "=> (a)", 1);
    assert_eq!(refused("y = l.f60 (x)", &empty), [Code::StepBudget]);
    // Fewer nodes and calls than the limits, but with their names more than the memory.
    assert_eq!(refused("y = l.f22 (x)", &functions), [Code::MemoryBudget]);
}

/// Parts of copies that are not nodes count: operands, results, attributes, constants of graphs.
#[test]
fn all_parts_of_copies_count() {
    const COUNT: usize = 2_000;
    let repeated = |item: &dyn Fn(usize) -> String| (0..COUNT).map(item).collect::<Vec<_>>().join(", ");
    let calls: String = (0..COUNT).map(|i| format!("t{i} = l.k (x) ")).collect();
    let refused = |function: &str| {
        let functions = format!("fn k (a) => (b) {{ b = l.f (a) }} {function}").replace("fn ", LOCAL);
        let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ {calls} y = Neg (x) }}\n{functions}");
        let options = Options { max_memory: 8 << 20, ..Options::default() };
        let found = flatten(&text, &options).expect_err("a refusal");
        assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::MemoryBudget], "{function}");
    };
    // Types of values that the function does not have are not copied.
    let types = repeated(&|i| format!("float c{i}"));
    let functions = format!("fn k (a) => (b) {{ b = l.f (a) }} fn f (a) => (b) <{types}> {{ b = Neg (a) }}");
    let text =
        format!("{HEAD}g (float[2] x) => (float[2] y) {{ {calls} y = Neg (x) }}\n{}", functions.replace("fn ", LOCAL));
    assert!(flatten(&text, &Options { max_memory: 8 << 20, ..Options::default() }).is_ok());
    let operands = repeated(&|_| "a".to_owned());
    refused(&format!("fn f (a) => (b) {{ b = Sum ({operands}) }}"));
    let constants = repeated(&|i| format!("float[1] c{i} = {{1}}"));
    let branch = format!("t () => (u) <{constants}> {{ u = Neg (a) }}");
    refused(&format!("fn f (a) => (b) {{ b = If <then_branch = {branch}, else_branch = e () => (a) {{ }}> (a) }}"));
    let formals = repeated(&|i| format!("c{i}"));
    refused(&format!("fn f (a) => (b) {{ b = l.h () }} fn h ({formals}) => (b) {{ b = Neg (c0) }}"));
    refused(&format!("fn f (a) => (c0) {{ {formals} = Split (a) }}"));
    let numbers = repeated(&|_| "1000000".to_owned());
    refused(&format!("fn f (a) => (b) {{ b = Neg <k: ints = [{numbers}]> (a) }}"));
    // Copies share a text in memory, but each has its own in the file.
    refused(&format!("fn f (a) => (b) {{ b = Neg <k = \"{}\"> (a) }}", "a".repeat(4 * COUNT)));
}

#[test]
fn graphs_that_are_passed_on_count() {
    // Each level passes its graph to two nodes, inside of a graph that it also passes on.
    let mut functions =
        String::from("fn f0 <g> (c) => (b) { b = If <then_branch: graph = @g, else_branch: graph = @g> (c) }");
    for i in 1..=40 {
        let called = i - 1;
        functions += &format!(
            " fn f{i} <g> (c) => (b) {{ b = l.f{called} <g = h () => (o) {{ o = If <then_branch: graph = @g, else_branch: graph = @g> (c) }}> (c) }}"
        );
    }
    let body = "y = l.f40 <g = h () => (o) { o = Neg (x) }> (x)";
    let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ {body} }}\n{}", functions.replace("fn ", LOCAL));
    let options = Options { max_ops: 10_000, ..Options::default() };
    let found = flatten(&text, &options).expect_err("a refusal");
    let found: Vec<Code> = found.iter().map(|found| found.code).collect();
    assert!([Code::OperationBudget, Code::MemoryBudget, Code::TooDeep].contains(&found[0]), "{found:?}");
}

fn unrolled(inputs: &str, body: &str) -> String {
    let text = format!("{HEAD}g ({inputs}) => (float[2] y) {{ {body} }}");
    let options = Options { unroll: true, ..Options::default() };
    flatten(&text, &options).unwrap_or_else(|found| panic!("{found}"))
}

const BODY: &str = "body = b (int64 i, bool c, float[2] s) => (d, n, o) { d = Identity (c) n = Neg (s) o = Abs (s) }";

#[test]
fn the_branch_of_a_known_condition_is_chosen() {
    let branches = "then_branch = p () => (o) { t = Neg (x) o = Abs (t) }, else_branch = q () => (x) { }";
    let text = format!("c = Constant <value = bool {{1}}> () y = If <{branches}> (c)");
    assert_eq!(
        unrolled("float[2] x", &text),
        "c = Constant <value: tensor = bool {1}> (); y_t = Neg (x); y = Abs (y_t)"
    );
    let text = text.replace("bool {1}", "bool {0}");
    assert_eq!(unrolled("float[2] x", &text), "c = Constant <value: tensor = bool {0}> (); y = Identity (x)");
}

#[test]
fn loops_with_known_trips_are_unrolled() {
    let text = format!("m = Constant <value_int = 2> () y, z = Loop <{BODY}> (m, , x)");
    assert_eq!(
        unrolled("float[2] x", &text),
        "m = Constant <value_int: int = 2> (); y_c1 = Constant <value: tensor = bool {1}> (); y_d1 = Identity (y_c1); \
         y_n1 = Neg (x); y_o1 = Abs (x); y_c2 = Constant <value: tensor = bool {1}> (); y_d2 = Identity (y_c2); \
         y_n2 = Neg (y_n1); y_o2 = Abs (y_n1); y = Identity (y_n2); z_axes = Constant <value: tensor = int64[1] {0}> (); \
         z_item1 = Unsqueeze (y_o1, z_axes); z_item2 = Unsqueeze (y_o2, z_axes); z = Concat <axis: int = 0> (z_item1, z_item2)"
    );
    // A known condition ends the loop.
    let counted = "body = b (int64 i, bool c, int64 k) => (d, l) { l = Add (k, k) d = Less (l, m) }";
    let text = format!(
        "m = Constant <value_int = 6> () k = Constant <value_int = 1> () j = Loop <{counted}> (, , k) y = Cast <to = 1> (j)"
    );
    assert_eq!(unrolled("float[2] x", &text).matches("Add").count(), 3);
}

#[test]
fn scans_of_known_extents_are_unrolled() {
    let body =
        "num_scan_inputs = 1, scan_input_directions = [1], body = b (s, e) => (t, o) { t = Add (s, e) o = Neg (t) }";
    let text = format!("y, z = Scan <{body}> (x, w)");
    assert_eq!(
        unrolled("float[2] x, float[1, 2] w", &text),
        "y_e1_index = Constant <value: tensor = int64 {0}> (); y_e1 = Gather <axis: int = 0> (w, y_e1_index); \
         y_t1 = Add (x, y_e1); y_o1 = Neg (y_t1); y = Identity (y_t1); \
         z_axes = Constant <value: tensor = int64[1] {0}> (); z = Unsqueeze (y_o1, z_axes)"
    );
}

/// Nodes that an expansion adds are those of the operator set of the function.
#[test]
fn expanded_loops_import_their_operator_set() {
    let text = |version: u32, more: &str| {
        format!(
            "<ir_version: 8, opset_import: [\"l\" : 1]> g (float[2] x) => (float[2] y) <int64 m = {{2}}> {{ y = l.f (x, m) }}
            <domain: \"l\", opset_import: [\"\" : {version}]> f (a, m) => (z) {{
            b, z = Loop <body = b (int64 i, bool c, float[2] s) => (c, s, s) {{ }}> (m, , a) {more} }}"
        )
    };
    let options = Options { unroll: true, ..Options::default() };
    let flat = |text: &str| {
        let (document, _) = Document::parse("m", text, &mut Sources::new(), &options);
        let mut document = document.unwrap();
        document.flatten(&options).unwrap();
        document.to_text(false).unwrap().0
    };
    let found = flat(&text(11, ""));
    assert!(found.contains("\"\": 11") && found.contains("Unsqueeze <axes: ints = [0]> (x)"), "{found}");
    let found = flat(&text(13, ""));
    assert!(found.contains("\"\": 13") && found.contains("Unsqueeze (x, y_axes)"), "{found}");
    // The function is written for scans with batches, whatever the graph imports.
    let scan = "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]> g (float[2] x, float[1, 2] w) => (float[2] y) { y = l.f (x, w) }
        <domain: \"l\", opset_import: [\"\" : 8]> f (x, w) => (y) {
        y, z = Scan <num_scan_inputs = 1, body = b (s, e) => (t, e) { t = Add (s, e) }> (x, w) }";
    let (document, _) = Document::parse("m", scan, &mut Sources::new(), &options);
    let found = document.unwrap().flatten(&options).unwrap_err();
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::OnnxOpset]);
}

#[test]
fn loops_that_stay_tell_why() {
    let text = |head: &str| {
        format!("{HEAD}g (float[2] x, int64 m) => (float[2] y) {{ {head} y, z = Loop <{BODY}> (m, c, x) }}")
    };
    let found = |text: &str, options: Options| {
        let mut sources = Sources::new();
        let file = sources.add("test", text.to_owned());
        let (document, _) = Document::parse_part(&sources, file, Production::Model, &options);
        let mut document = document.unwrap();
        let before = document.to_protobuf();
        match document.flatten(&options) {
            Ok(warnings) => {
                assert_eq!(document.to_protobuf(), before);
                (true, warnings.iter().map(|found| (found.code, found.message.clone())).collect::<Vec<_>>())
            }
            Err(errors) => (false, errors.iter().map(|found| (found.code, found.message.clone())).collect()),
        }
    };
    let unroll = Options { unroll: true, ..Options::default() };
    let message = "the `Loop` of `y` is not expanded: its trip count `m` is known only at run time".to_owned();
    let known = "c = Constant <value = bool {1}> ()";
    assert_eq!(found(&text(known), unroll.clone()), (true, vec![(Code::LoopKept, message.clone())]));
    assert_eq!(
        found(&text(known), Options { flat: true, ..unroll.clone() }),
        (false, vec![(Code::LoopNotFlat, message)])
    );
    assert_eq!(found(&text(known), Options::default()), (true, vec![]));
    let computed = text("m2 = Constant <value_int = 3> () c = Identity (x)").replace("(m, c, x)", "(m2, c, x)");
    let message = "the `Loop` of `y` is not expanded: its condition `c` is known only at run time".to_owned();
    assert_eq!(found(&computed, unroll), (true, vec![(Code::LoopKept, message)]));
}

const IF: &str = "<then_branch = a () => (u) { u = Neg (x) }, else_branch = b () => (w) { w = Abs (x) }>";

#[test]
fn graphs_do_not_share_what_is_known() {
    // Both branches use the name `c`.
    let branch = |c: &str| format!("tb () => (r) {{ c = {c} r = If {IF} (c) }}");
    let (known, unknown) = (branch("Constant <value = bool {1}> ()"), branch("Not (q)"));
    let text = format!("y = If <then_branch = {known}, else_branch = {unknown}> (p)");
    let found = unrolled("float[2] x, bool p, bool q", &text);
    assert_eq!(found.matches("If").count(), 2, "{found}");
    // The same in a function.
    let f = format!("fn f (p, q, x) => (y) {{ {text} }}");
    let found = flat("p = Not (x) q = Not (x) y = l.f (p, q, x)", &f);
    assert_eq!(found.matches("If").count(), 2, "{found}");
    // An input of a body hides a constant around it.
    let body = format!("b (i, d, t) => (d, t2, r) {{ t2 = Not (t) r = If {IF} (t) }}");
    let text = format!("t = Constant <value = bool {{1}}> () b, y = Loop <body = {body}> (n, , t)");
    let found = unrolled("float[2] x, int64 n", &text);
    assert_eq!(found.matches("If").count(), 1, "{found}");
    // Behind the body it is known again.
    let found = unrolled("float[2] x, int64 n", &format!("{} y = If {IF} (t)", text.replace("b, y =", "b, z =")));
    assert!(found.matches("If").count() == 1 && found.contains("y = Neg (x)"), "{found}");
}

#[test]
fn kept_functions_have_names_of_their_own() {
    let functions = format!("fn f (c, x) => (r) {{ r = If {IF} (c) }}").replace("fn ", LOCAL);
    let text = format!(
        "{HEAD}g (float[2] x) => (float[2] y) {{ c = Constant <value = bool {{1}}> () d = Not (c) \
         y = l.f (d, x) }}\n{functions}"
    );
    let options = Options::default().with(|options: &mut options::Options| options.keep = vec!["f".to_owned()]);
    let found = flatten(&text, &options).unwrap();
    assert_eq!(found.matches("If").count(), 1, "{found}");
}

#[test]
fn sums_of_32_bits_do_not_grow() {
    let text = |ty: &str| {
        format!(
            "a = Constant <value = {ty} {{2147483647}}> () b = Constant <value = {ty} {{1}}> () s = Add (a, b) \
             c = Greater (s, a) y = If {IF} (c)"
        )
    };
    assert!(flat(&text("int32"), "").contains("If"));
    assert!(!flat(&text("int64"), "").contains("If"));
    let cast = text("int64").replace("s = Add", "a2 = Cast <to = 6> (a) b2 = Cast <to = 6> (b) s2 = Add");
    let cast = cast.replace("(a, b)", "(a2, b2) s = Cast <to = 7> (s2)");
    assert!(flat(&cast, "").contains("If"));
    // Where folding decides, they wrap around, as they do when the model runs.
    assert!(unrolled("float[2] x", &text("int32")).ends_with("y = Abs (x)"));
    assert!(unrolled("float[2] x", &text("int64")).ends_with("y = Neg (x)"));
}

/// Loops within each other, whose conditions are not known after the first trip.
fn nested_loops(depth: usize) -> String {
    let open = |k: usize| format!("s{k} = Loop <body = b (i{k}, c{k}, t{k}) => (q, s{next}) {{ ", next = k + 1);
    let bodies: String = (0..depth).map(open).collect();
    let ends: String = (0..depth).rev().map(|k| format!("}}> (n, , {}) ", source(k))).collect();
    format!("n = Constant <value_int = 2> () {bodies} s{depth} = Neg (t{}) {ends} y = Abs (s0)", depth - 1)
}

fn source(level: usize) -> String {
    if level == 0 { "x".to_owned() } else { format!("t{}", level - 1) }
}

#[test]
fn loops_that_stay_are_tried_a_few_times() {
    let text = format!("{HEAD}g (float[2] x, bool q) => (float[2] y) {{ {} }}", nested_loops(18));
    let options = Options { unroll: true, ..Options::default() };
    let mut sources = Sources::new();
    let file = sources.add("test", text);
    let (document, _) = Document::parse_part(&sources, file, Production::Model, &options);
    let mut document = document.unwrap();
    let warnings = document.flatten(&options).unwrap();
    assert_eq!(warnings.iter().count(), 18);
}

#[test]
fn copies_that_are_discarded_count() {
    let nodes = "v = Neg (s) w = Abs (v) r = Relu (w)";
    let body = format!("b (i, c, s) => (d, r) {{ d = Less (i, m) {nodes} }}");
    // The condition is not known after the third trip.
    let failing = "e1, e2, y2 = Loop <body = b (i, c, p, r, s) => (d, r, q, t) \
        { d = Identity (p) t = Abs (s) }> (n, , k, k, y1)";
    let inner = format!("b (i, c, y1) => (e, y2) {{ e = Less (i, m) {failing} }}");
    let text = |body: &str| {
        format!(
            "{HEAD}g (float[2] x, bool q) => (float[2] y) {{ k = Constant <value = bool {{1}}> () \
             n = Constant <value_int = 300> () m = Constant <value_int = 290> () y = Loop <body = {body}> (n, , x) }}"
        )
    };
    let options = |max_ops| Options { unroll: true, max_ops, ..Options::default() };
    assert!(flatten(&text(&body), &options(3_000)).is_ok());
    assert!(flatten(&text(&inner), &options(20_000)).is_ok());
    let found = flatten(&text(&inner), &options(2_000)).unwrap_err();
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::StepBudget]);
}

#[test]
fn graphs_are_not_nested_deeper_than_files_can_be() {
    let functions = |depth: usize| -> String {
        let level = |k: usize| {
            let called = k - 1;
            format!(
                "fn f{k} (c, x) => (r) {{ r = If <then_branch = t () => (u) {{ u = l.f{called} (c, x) }}, \
                 else_branch = b () => (w) {{ w = Neg (x) }}> (c) }} "
            )
        };
        (1..=depth).map(level).chain(["fn f0 (c, x) => (r) { r = Neg (x) }".to_owned()]).collect()
    };
    assert!(flat("c = Not (x) y = l.f31 (c, x)", &functions(31)).contains("Neg"));
    assert_eq!(refused("c = Not (x) y = l.f32 (c, x)", &functions(32)), [Code::TooDeep]);
    assert_eq!(refused("c = Not (x) y = l.f3000 (c, x)", &functions(3000)), [Code::TooDeep]);
    // The graph that is passed on grows at each level.
    let mut functions =
        String::from("fn f0 <g> (c) => (b) { b = If <then_branch: graph = @g, else_branch: graph = @g> (c) }");
    for i in 1..=40 {
        let called = i - 1;
        functions += &format!(
            " fn f{i} <g> (c) => (b) {{ b = l.f{called} <g = h () => (o) {{ o = Op <of: graph = @g> (c) }}> (c) }}"
        );
    }
    assert_eq!(refused("y = l.f40 <g = h () => (o) { o = Neg (x) }> (x)", &functions), [Code::TooDeep]);
}

#[test]
fn calls_in_defaults_are_expanded() {
    let f = "fn f <t: graph = tt () => (u) { o = Neg (x) u = l.h (o) }> (c, x) => (r) \
        { r = If <then_branch: graph = @t, else_branch = b () => (w) { w = Abs (x) }> (c) } \
        fn h (a) => (b) { b = Exp (a) }";
    let found = flat("a = Abs (x) c = Not (x) y = l.f (c, a)", f);
    assert!(found.contains("= Neg (a)") && found.contains("= Exp (y_o)") && !found.contains("l."), "{found}");
    let cycle = "fn f <t: graph = tt () => (u) { u = l.f (x) }> (x) => (r) { r = Op <of: graph = @t> (x) }";
    assert!(refused("y = l.f (x)", cycle).contains(&Code::OnnxRecursion));
    let own =
        "fn f <t: graph = tt () => (u) { u = Op <of: graph = @t> (x) }> (x) => (r) { r = Op <of: graph = @t> (x) }";
    assert_eq!(refused("y = l.f (x)", own), [Code::TooDeep]);
    // A kept function keeps its default, but the function that is called in it is expanded.
    let text =
        format!("{HEAD}g (float[2] x) => (float[2] y) {{ c = Not (x) y = l.f (c, x) }}\n{}", f.replace("fn ", LOCAL));
    let options = Options::default().with(|options: &mut options::Options| options.keep = vec!["f".to_owned()]);
    let mut sources = Sources::new();
    let file = sources.add("test", text);
    let (document, _) = Document::parse_part(&sources, file, Production::Model, &options);
    let mut document = document.unwrap();
    document.flatten(&options).unwrap();
    let text = document.to_text(false).unwrap().0;
    assert!(text.contains("Exp") && !text.contains("l.h"), "{text}");
}

#[test]
fn graphs_that_calls_give_see_what_is_before_them() {
    let branch = "else_branch = e () => (m) { m = Neg (x) }";
    let function = |names: &str| {
        let take = format!("t = If (c) <then_branch: graph = @g, {branch}>");
        format!("fn f <g> (c, x) => (b) {{ {names} }} ").replace("TAKE", &take)
    };
    let call = "c = Not (x) v = Abs (x) y = l.f <g = h () => (o) { o = Exp (v) }> (c, x)";
    // A value of the function hides the one around the call, but only where it is defined before.
    let before = flat(call, &function("v = Neg (x) TAKE b = Add (t, v)"));
    assert!(before.contains("= Exp (y_v)"), "{before}");
    let after = flat(call, &function("TAKE v = Neg (x) b = Add (t, v)"));
    assert!(after.contains("= Exp (v)"), "{after}");
    // So does an output, the result of the node itself, and a value of a graph in the function.
    let call = |name: &str| call.replace('v', name);
    let output = flat(&call("b"), &function("TAKE b = Neg (t)"));
    assert!(output.contains("= Exp (b)"), "{output}");
    let defined = flat(&call("b"), &function("b = Neg (x) TAKE s = Neg (t)"));
    assert!(defined.contains("= Exp (y)"), "{defined}");
    let own = flat(&call("t"), &function("TAKE b = Neg (t)"));
    assert!(own.contains("= Exp (t)"), "{own}");
    for (body, seen) in [("TAKE v = Neg (t)", "v"), ("v = Neg (x) TAKE w = Add (t, v)", "y_v")] {
        let result = if seen == "v" { "v" } else { "w" };
        let inner = format!(
            "b = If (c) <then_branch = i () => ({result}) {{ {body} }}, else_branch = j () => (k) {{ k = Neg (x) }}>"
        );
        let found = flat(&call("v"), &function(&inner));
        assert!(found.contains(&format!("= Exp ({})", seen)), "{found}");
    }
}

/// Values of a function that only a graph of the call uses are there when the graph runs.
#[test]
fn calls_that_give_graphs_compute_what_their_copies_do() {
    const ELSE: &str = "else_branch = e () => (m) { m = Neg (x) }";
    let take = format!("t = If (c) <then_branch: graph = @g, {ELSE}>");
    let within = format!("t = If (c) <then_branch = i () => (n) {{ {take} n = Neg (t) }}, {ELSE}>");
    for place in [&take, &within] {
        for names in [
            "v = Exp (x) TAKE b = Abs (t)",
            "v = Exp (x) w = Neg (v) TAKE b = Add (t, w)",
            "v = Exp (x) w = Abs (x) TAKE u = Neg (w) b = Mul (t, u)",
            "TAKE v = Exp (x) b = Add (t, v)",
            "w = Exp (x) v = Neg (w) s = Abs (w) TAKE b = Add (t, s)",
        ] {
            compute_alike(&format!("fn f <g> (c, x) => (b) {{ {} }}", names.replace("TAKE", place)));
        }
    }
    // What functions hand on means the values of the first one that has them.
    for outer in ["v = Neg (x) HAND", "HAND", "HAND v = Neg (x)", "u = Neg (x) v = Abs (u) HAND"] {
        for inner in ["v = Exp (x) TAKE b = Identity (t)", "TAKE v = Exp (x) b = Add (t, v)", "TAKE b = Neg (t)"] {
            for place in [&take, &within] {
                let inner = inner.replace("TAKE", place);
                let hand = outer.replace("HAND", "b = l.h <g: graph = @g> (c, x)");
                compute_alike(&format!("fn f <g> (c, x) => (b) {{ {hand} }} fn h <g> (c, x) => (b) {{ {inner} }}"));
                let branch = "p = l.h <g: graph = @g> (c, x)";
                let hand =
                    outer.replace("HAND", &format!("b = If (c) <then_branch = k () => (p) {{ {branch} }}, {ELSE}>"));
                compute_alike(&format!("fn f <g> (c, x) => (b) {{ {hand} }} fn h <g> (c, x) => (b) {{ {inner} }}"));
                let middle = outer.replace("HAND", "b = l.h <g: graph = @g> (c, x)").replace("Neg", "Sqrt");
                let hand = outer.replace("HAND", "b = l.i <g: graph = @g> (c, x)");
                compute_alike(&format!(
                    "fn f <g> (c, x) => (b) {{ {hand} }} fn i <g> (c, x) => (b) {{ {middle} }} \
                     fn h <g> (c, x) => (b) {{ {inner} }}"
                ));
            }
        }
    }
}

/// A graph that a call gives to a function `f` has the same results in the function and in its copy.
fn compute_alike(functions: &str) {
    let functions = functions.replace("fn ", LOCAL);
    let text = format!(
        "{HEAD}g (float[2] x, bool c) => (float[2] y) {{ v = Abs (x) y = l.f <g = k () => (o) {{ o = Exp (v) }}> (c, x) }}\n\
         {functions}"
    );
    let (document, found) = Document::parse("m", &*text, &mut Sources::new(), &Options::default());
    let document = document.unwrap_or_else(|| panic!("{text}: {found}"));
    let mut flat = document.copy();
    flat.flatten(&Options::default()).unwrap();
    for c in [true, false] {
        let x = Tensor::new(&[2], Data::Float32(vec![0.5, 2.0])).unwrap();
        let c = Tensor::new(&[], Data::Bool(vec![c])).unwrap();
        let inputs = [("x".to_owned(), x), ("c".to_owned(), c)];
        let run = |of: &Document| {
            let results = of.run_tensors(&inputs, (Limits::default(), &Options::default())).unwrap();
            results.into_iter().map(|(name, tensor)| (name, format!("{tensor:?}"))).collect::<Vec<_>>()
        };
        assert_eq!(run(&document), run(&flat), "{text}");
    }
}

/// A function that is kept has attributes, also in graphs that are expanded in it.
#[test]
fn kept_functions_keep_references_to_their_attributes() {
    let function = "fn f <a> (x) => (b) { n = Neg (x) k = Constant <value = bool {1}> () \
        b = If (k) <then_branch = p () => (m) { m = LeakyRelu <alpha: float = @a> (n) }, \
        else_branch = q () => (r) { r = Abs (n) }> }";
    let text =
        format!("{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f <a = 0.5> (x) }}\n{}", function.replace("fn ", LOCAL));
    let options = Options::default().with(|options: &mut options::Options| options.keep = vec!["f".to_owned()]);
    let (document, found) = Document::parse("m", &*text, &mut Sources::new(), &options);
    let mut document = document.unwrap_or_else(|| panic!("{found}"));
    document.fold(&options, Limits::default()).unwrap();
    let text = document.to_text(false).unwrap().0;
    assert!(text.contains("LeakyRelu <alpha: float = @a> (n)") && !text.contains("If"), "{text}");
}

/// A result that is an operand is copied by an operator of the standard, which the model may not import.
#[test]
fn copies_of_operands_import_the_standard() {
    let text = "<ir_version: 8, opset_import: [\"l\" : 1, \"com.microsoft\" : 1]> g (float[2] x) => (float[2] y, float[2] u) \
        { y, u = l.f (x) } <domain: \"l\", opset_import: [\"com.microsoft\" : 1]> \
        f (a) => (b, a) { b = com.microsoft.Gelu (a) }";
    let (document, found) = Document::parse("m", text, &mut Sources::new(), &Options::default());
    let mut document = document.unwrap_or_else(|| panic!("{found}"));
    document.flatten(&Options::default()).unwrap();
    let text = document.to_text(false).unwrap().0;
    assert!(text.contains("u = Identity (x)") && !document.check(&Options::default()).has_errors(), "{text}");
}

#[test]
fn names_of_graphs_that_calls_give_are_bound_once() {
    // In the function `a`, `u` is a name of its own; the graph names the `u` around it, which is the operand.
    let functions = "fn a (c, v) => (u) { w = Neg (v) u = l.f <g = h () => (o) { o = Exp (v) }> (c, w) } \
        fn f <g> (c, x) => (b) { b = If (c) <then_branch: graph = @g, else_branch = e () => (m) { m = Neg (x) }> }";
    let found = flat("c = Not (x) u = Abs (x) y = l.a (c, u)", functions);
    assert!(found.contains("= Exp (u)"), "{found}");
}

#[test]
fn annotations_of_copies_name_values_of_copies() {
    let text = format!(
        "{HEAD}g (float[2] x, bool c) => (float[2] y) {{ t = l.f (x, c) y = l.f (t, c) }}\n{LOCAL}\
         f (v, c) => (w) {{ w = If (c) <then_branch = t () => (q) {{ s = Exp (v) q = Neg (s) }}, \
         else_branch = u () => (r) {{ r = Abs (v) }}> }}"
    );
    let (document, found) = Document::parse("m", text, &mut Sources::new(), &Options::default());
    let mut document = document.unwrap_or_else(|| panic!("{found}"));
    let field = |number: u8, payload: &[u8]| [&[(number << 3) | 2, payload.len() as u8], payload].concat();
    let scale = [field(1, b"SCALE_TENSOR"), field(2, b"s")].concat();
    let bytes = Bytes::from([field(1, b"q"), field(2, &scale)].concat());
    let annotation =
        EncodedField { number: graph_fields::QUANTIZATION_ANNOTATION, wire: Wire::Bytes, bytes: bytes.into() };
    let function = &mut document.model().unwrap().functions[0];
    each_graph_mut(&mut function.nodes[0].attributes[0].value, &mut |graph| {
        graph.rest = Some(Box::new(vec![annotation.clone()]));
    });
    document.flatten(&Options::default()).unwrap();
    let model = document.model().unwrap();
    let mut tensors = Vec::new();
    for node in &model.graph.as_ref().unwrap().nodes {
        each_graph(&node.attributes[0].value, &mut |graph| {
            let text = graph.rest.as_ref().unwrap()[0].bytes.load().unwrap();
            let of_node = |i: usize| model.names.spelled(graph.nodes[i].outputs[0]);
            let parameter = &payloads(&text, annotation_fields::PARAMETERS)[0];
            assert_eq!(payloads(parameter, entry::VALUE)[0], of_node(0));
            tensors.push(payloads(&text, annotation_fields::TENSOR)[0].clone());
            assert_eq!(tensors.last().unwrap(), &of_node(1));
        });
    }
    assert!(tensors.len() == 2 && tensors[0] != tensors[1], "{tensors:?}");
}

#[test]
fn operands_replace_the_constants_of_inputs() {
    let body = "b (i, c, s) => (c, r) <float[2] s = {5, 6}> { r = Neg (s) }";
    let text = format!("n = Constant <value_int = 1> () y = Loop <body = {body}> (n, , x)");
    let found = unrolled("float[2] x", &text);
    assert!(found.contains("= Neg (x)"), "{found}");
}
