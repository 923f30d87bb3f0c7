//! What stays of functions: expansions of some of them, types, functions of training information; and what copies cost.

use super::*;

/// The text of a model in which only some functions are expanded.
fn partial(body: &str, functions: &str, lowered: &[&str]) -> String {
    let functions = functions.replace("fn ", LOCAL);
    let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ {body} }}\n{functions}");
    let lowered = lowered.iter().map(|name| (*name).to_owned()).collect();
    let options = Options { lower: Lower::Names(lowered), ..Options::default() };
    let (document, _) = Document::parse("m", text, &mut Sources::new(), &options);
    let mut document = document.unwrap();
    document.flatten(&options).unwrap_or_else(|found| panic!("{found}"));
    document.to_text(false).unwrap().0
}

#[test]
fn omitted_attributes_have_the_default_of_the_expanded_function() {
    let inner = "fn i <p: float = 0.5> (v) => (r) { r = LeakyRelu <alpha: float = @p> (v) }";
    // The attribute of the outer function gets the default.
    let outer = format!("fn o <a> (v) => (r) {{ r = l.i <p: float = @a> (v) }} {inner}");
    let found = partial("y = l.o (x)", &outer, &["i"]);
    assert!(found.contains("o <a: float = 0.5> (v)") && found.contains("alpha: float = @a"), "{found}");
    // It has one already.
    let own = outer.replace("<a>", "<a: float = 2.0>");
    assert!(partial("y = l.o (x)", &own, &["i"]).contains("o <a: float = 2.0> (v)"));
    // Without it, an operator has a default of its own: a new attribute, which calls give, too.
    let twice =
        outer.replace("r = l.i", "t = LeakyRelu <alpha: float = @a> (v) r = l.i").replace("(v) } fn", "(t) } fn");
    let found = partial("z = l.o <a = 3.0> (x) y = l.o (z)", &twice, &["i"]);
    assert!(found.contains("o <a, a_2: float = 0.5> (v)"), "{found}");
    assert!(
        found.contains("z = l.o <a: float = 3.0, a_2: float = 3.0> (x)") && found.contains("y = l.o (z)"),
        "{found}"
    );
    assert!(found.contains("alpha: float = @a> (v)") && found.contains("alpha: float = @a_2>"), "{found}");
    // Through a function without a default, and through one with another default.
    let middle = |attribute: &str| {
        format!(
            "fn o <a> (v) => (r) {{ r = l.m <b: float = @a> (v) }} fn m <{attribute}> (v) => (r) {{ r = l.i <p: float = @b> (v) }} {inner}"
        )
    };
    for (attribute, default) in [("b", "0.5"), ("b: float = 4.0", "4.0")] {
        let found = partial("y = l.o (x)", &middle(attribute), &["i", "m"]);
        assert!(found.contains(&format!("o <a: float = {default}>")), "{found}");
        assert_eq!(flat("y = l.o (x)", &middle(attribute)), format!("y = LeakyRelu <alpha: float = {default}> (x)"));
    }
    // Two functions with different defaults.
    let two = format!(
        "fn o <a> (v) => (r) {{ t = l.i <p: float = @a> (v) r = l.j <p: float = @a> (t) }} {inner} {}",
        inner.replace("fn i", "fn j").replace("0.5", "0.25")
    );
    let found = partial("y = l.o <a = 1.0> (x)", &two, &["i", "j"]);
    assert!(found.contains("a_2: float = 0.5, a_3: float = 0.25>"), "{found}");
    assert!(found.contains("l.o <a: float = 1.0, a_2: float = 1.0, a_3: float = 1.0> (x)"), "{found}");
}

#[test]
fn types_of_functions_are_copied_where_they_hold() {
    let function = "f (a) => (b) <float[2] t> { t = Neg (a) b = Abs (t) }";
    let text = |inputs: &str, body: &str, function: &str| {
        format!("{HEAD}g ({inputs}) => (float[2] y, float[3] z) {{ {body} }}\n{LOCAL}{function}")
    };
    let flat = |text: String| {
        let (document, _) = Document::parse("m", text, &mut Sources::new(), &Options::default());
        let mut document = document.unwrap();
        document.flatten(&Options::default()).unwrap();
        document.to_text(false).unwrap().0
    };
    // One call, and two calls.
    assert!(flat(text("float[2] x", "y = l.f (x) z = Op (x)", function)).contains("float[2] y_t"));
    assert!(!flat(text("float[2] x, float[3] w", "y = l.f (x) z = l.f (w)", function)).contains("_t>"));
    assert!(!flat(text("float[2] x, double[3] w", "y = l.f (x) z = l.f (w)", function)).contains("float[2] y_t"));
    // The noted types of inputs decide.
    let noted = function.replace("<float[2] t>", "<float[2] a, float[2] t>");
    let found = flat(text("float[2] x, float[3] w", "y = l.f (x) z = l.f (w)", &noted));
    assert!(found.contains("float[2] y_t") && !found.contains("float[2] z_t"), "{found}");
    assert!(!flat(text("float[3] x", "y = l.f (x) z = Op (x)", &noted)).contains("float[2] y_t"));
    // Extents of graphs in nodes are dropped, too.
    let branch = "f (c, a) => (b) { b = If <then_branch = p () => (float[2] o) { o = Abs (a) }, else_branch = q () => (float[2] u) { u = Neg (a) }> (c) }";
    let found = flat(text("bool c, float[2] x, float[3] w", "y = l.f (c, x) z = l.f (c, w)", branch));
    assert!(!found.contains("float[2] z_o") && found.contains("float[] z_o"), "{found}");
}

#[test]
fn functions_of_the_model_have_no_versions() {
    let text = "<ir_version: 10, opset_import: [\"\" : 17, \"a\" : 1, \"b\" : 1]> g (float[2] x) => (float[2] y) { y = a.f (x) }
        <domain: \"a\", opset_import: [\"\" : 17, \"b\" : 21]> f (v) => (r) { t = b.h (v) r = Neg (t) }
        <domain: \"b\", opset_import: [\"\" : 17]> h (v) => (r) { r = Exp (v) }";
    let options = Options::default().with(|options: &mut options::Options| options.keep = vec!["h".to_owned()]);
    assert_eq!(flatten(text, &options).unwrap(), "y_t = b.h (x); y = Neg (y_t); r = Exp (v)");
}

#[test]
fn copies_are_charged_by_what_is_written() {
    let doubling: String =
        (0..20).map(|i| format!("fn f{i} (a) => (b) {{ t = l.f{0} (a) b = l.f{0} (t) }} ", i + 1)).collect();
    let big = "a".repeat(1 << 16);
    let leaf = format!("fn f20 (a) => (b) {{ q = Constant <value_string = \"{big}\"> () b = Relu (a) }}");
    assert_eq!(refused("y = l.f0 (x)", &(doubling.clone() + &leaf)), [Code::MemoryBudget]);
    let leaf = format!("fn f20 (a) => (b) {{ {big} = Neg (a) b = Relu ({big}) }}");
    assert_eq!(refused("y = l.f0 (x)", &(doubling + &leaf)), [Code::MemoryBudget]);
    // What was read once is not charged when it is written once.
    let once =
        format!("fn f (a) => (b) {{ q = Constant <value_string = \"{big}\"> () b = Relu (a) }}").replace("fn ", LOCAL);
    let text = format!("{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f (x) }}\n{once}");
    assert!(flatten(&text, &Options::default().with(|options| options.max_memory = 10_000)).is_ok());
}

/// Training information stays encoded, and keeps the functions that it calls.
#[test]
fn functions_of_training_information_stay() {
    use crate::onnx::model::{EncodedField, Wire};
    let text = format!(
        "{HEAD}g (float[2] x) => (float[2] y) {{ y = l.f (x) }}\n{LOCAL}f (a) => (b) {{ b = l.h (a) }}\n{LOCAL}h (a) => (b) {{ b = Abs (a) }}"
    );
    let (document, _) = Document::parse("m", text, &mut Sources::new(), &Options::default());
    let mut document = document.unwrap();
    // algorithm { node { output: "y" op_type: "f" domain: "l" } }
    let bytes = bytes::Bytes::from_static(b"\x12\x0b\x0a\x09\x12\x01y\x22\x01f\x3a\x01l");
    document.model().unwrap().rest =
        Some(Box::new(vec![EncodedField { number: 20, wire: Wire::Bytes, bytes: bytes.into() }]));
    document.flatten(&Options::default()).unwrap();
    let text = document.to_text(false).unwrap().0;
    assert!(text.contains("y = Abs (x)") && text.contains("f (a) => (b)") && text.contains("b = Abs (a)"), "{text}");
    assert!(!text.contains("h (a)"), "{text}");
}
