use crate::Options;
use crate::onnx::Document;
use crate::source::Sources;

/// The model of a graph, and of functions of the domain `l`.
fn document(graph: &str) -> Document {
    let text = format!("<ir_version: 9, opset_import: [\"\" : 18, \"l\" : 1]>\n{graph}");
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
    let random = shared("a = RandomNormalLike (x) b = RandomNormalLike (x) y = Add (a, b)");
    assert_eq!(random.matches("RandomNormalLike").count(), 2);
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
