use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::Document;
use crate::onnx::text::Production;
use crate::source::Sources;
use crate::{Lower, options};

const HEAD: &str = "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]>\n";
const LOCAL: &str = "<domain: \"l\", opset_import: [\"\" : 17, \"l\" : 1]>\n";

fn flatten(text: &str, options: &Options) -> Result<String, Diagnostics> {
    let mut sources = Sources::new();
    let file = sources.add("test", text.to_owned());
    let (document, found) = Document::parse(&sources, file, Production::Model, options);
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
    assert_eq!(refused("y = l.f (x)", "fn f (a) => (b) { a = Neg (a) b = Abs (a) }"), [Code::OnnxReassigned]);
    assert_eq!(
        refused("y = l.f (x)", "fn f (a) => (b) { b = l.g (a) } fn g (a) => (b) { b = l.f (a) }"),
        [Code::OnnxRecursion]
    );
    let other = f.replace("fn ", "<domain: \"l\", opset_import: [\"\" : 13]>\n");
    let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f (x) }}\n{other}");
    let found = flatten(&text, &Options::default()).unwrap_err();
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::OnnxOpset]);
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
}

#[test]
fn graphs_that_are_passed_on_count() {
    // Each level hands its graph on to two nodes, inside of a graph that it hands on itself.
    let mut functions =
        String::from("fn f0 <g> (c) => (b) { b = If <then_branch: graph = @g, else_branch: graph = @g> (c) }");
    for i in 1..=40 {
        let called = i - 1;
        functions += &format!(
            " fn f{i} <g> (c) => (b) {{ b = l.f{called} <g = h () => (o) {{ o = If <then_branch: graph = @g, else_branch: graph = @g> (c) }}> (c) }}"
        );
    }
    let found = refused("y = l.f40 <g = h () => (o) { o = Neg (x) }> (x)", &functions);
    assert!([Code::OperationBudget, Code::MemoryBudget, Code::TooDeep].contains(&found[0]), "{found:?}");
}
