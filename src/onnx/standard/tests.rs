use std::collections::BTreeSet;

use super::body_table::{self, BodyTable, TABLE};
use crate::diagnostics::{Code, Diagnostics};
use crate::onnx::Document;
use crate::onnx::schema::{SchemaLookup, Schemas};
use crate::source::Sources;
use crate::{Lower, Options};

mod microsoft;
mod samples;

fn model(version: i64, graph: &str, functions: &str) -> String {
    let head = format!("<ir_version: 13, opset_import: [\"\" : {version}, \"l\" : 1, \"ai.onnx.preview\" : 1]>");
    let local = format!("<domain: \"l\", opset_import: [\"\" : {version}, \"l\" : 1]>\n");
    format!("{head}\ng {graph}\n{}", functions.replace("fn ", &local))
}

fn lowering(lower: Lower) -> Options {
    Options::default().with(|options| options.lower = lower)
}

fn named(names: &[&str]) -> Lower {
    Lower::Names(names.iter().map(|name| (*name).to_owned()).collect())
}

/// The nodes of the flat model, and the warnings.
fn flatten(text: &str, options: &Options) -> Result<(String, Diagnostics), Diagnostics> {
    let mut sources = Sources::new();
    let (document, found) = Document::parse("test", text, &mut sources, options);
    let mut document = document.unwrap_or_else(|| panic!("{text}: {found}"));
    let warnings = document.flatten(options)?;
    let (flat, _) = document.to_text(false).unwrap();
    let nodes = flat.lines().filter(|line| line.contains(" = ") && line.starts_with("    ") && !line.contains("opset"));
    Ok((nodes.map(str::trim).collect::<Vec<_>>().join("; "), warnings))
}

fn lowered(version: i64, graph: &str, functions: &str, lower: Lower) -> String {
    flatten(&model(version, graph, functions), &lowering(lower)).unwrap_or_else(|found| panic!("{graph}: {found}")).0
}

fn codes(found: &Diagnostics) -> Vec<Code> {
    found.iter().map(|found| found.code).collect()
}

#[test]
fn versions_are_in_order_and_have_a_template() {
    for pair in TABLE.windows(2) {
        let ordered =
            (pair[0].domain, pair[0].name) != (pair[1].domain, pair[1].name) || pair[0].version < pair[1].version;
        assert!(ordered, "{} {}", pair[1].name, pair[1].version);
    }
    for row in TABLE {
        let body = BodyTable::Functions.body(row.domain, row.name, row.version).unwrap();
        let found = (body.row.domain, body.row.name, body.row.version);
        assert_eq!(found, (row.domain, row.name, row.version));
        assert!(body.template.is_some(), "{found:?}");
    }
}

#[test]
fn every_function_of_the_standard_has_a_body() {
    let schemas = Schemas::new();
    for (domain, name) in schemas.functions() {
        assert!(BodyTable::Functions.needs(domain, name).is_some(), "{domain} {name}");
        assert!(samples::SAMPLES.iter().any(|sample| sample.name == name), "{name} has no sample");
    }
    assert_eq!(schemas.functions().count(), body_table::names().count());
}

/// The versions of the operator set in which a body is a different one, or its operators are. Before version 7 other
/// attributes say how operands are broadcast.
fn versions(first: i64) -> impl Iterator<Item = i64> {
    [first.max(7), 13, 16, 17, 18, 20, 21, 24, 28].into_iter().filter(move |version| *version >= first)
}

#[test]
fn every_body_consists_of_operators_without_a_body_and_passes_the_checks() {
    let schemas = Schemas::new();
    let mut checked = BTreeSet::new();
    for sample in samples::SAMPLES {
        for row in TABLE.iter().filter(|row| row.name == sample.name) {
            let base = if row.domain.is_empty() { row.version } else { 26 };
            for version in versions(base) {
                let schema = match schemas.find("", row.name, version) {
                    SchemaLookup::Schema(schema) => Some(schema),
                    _ => None,
                };
                let exists = schema.is_some() || !row.domain.is_empty();
                let body = row
                    .domain
                    .is_empty()
                    .then(|| BodyTable::Functions.body("", row.name, version).map(|body| body.row.version));
                if !exists || body.is_some_and(|version| version != Some(row.version)) {
                    continue;
                }
                check(version, sample, schema.is_some_and(|schema| schema.deprecated));
                checked.insert((row.domain, row.name, row.version));
            }
        }
    }
    let left: Vec<_> = TABLE.iter().map(|row| (row.domain, row.name, row.version)).collect();
    let left: Vec<_> = left.into_iter().filter(|row| !checked.contains(row)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// `warns`: of a deprecated operator there are warnings.
fn check(version: i64, sample: &samples::Sample, warns: bool) {
    let text = model(version, sample.graph, "");
    let (mut sources, options) = (Sources::new(), lowering(Lower::All));
    let (document, found) = Document::parse("test", text, &mut sources, &options);
    let mut document = document.unwrap_or_else(|| panic!("{}: {found}", sample.graph));
    let warnings = document.flatten(&options).unwrap_or_else(|found| panic!("{version} {}: {found}", sample.graph));
    assert!(warns || codes(&warnings).is_empty(), "{version} {}: {warnings}", sample.graph);
    let found = document.check(&options);
    let flat = document.to_text(false).unwrap().0;
    assert!(!found.has_errors(), "{version} {}: {found}\n{flat}", sample.graph);
    for node in flat.lines().filter_map(|line| line.split_once(" = ")) {
        let operator = node.1.split([' ', '(']).next().unwrap_or("").trim_start_matches("ai.onnx.preview.");
        let domain = if node.1.starts_with("ai.onnx.preview.") { "ai.onnx.preview" } else { "" };
        assert!(
            BodyTable::Functions.body(domain, operator, version).is_none(),
            "{version} {}: {operator} in\n{flat}",
            sample.graph
        );
    }
}

/// Operators without a comparison: results are random.
#[cfg(feature = "input")]
const NOT_COMPARED: &[&str] = &["Bernoulli"];

/// Operands that are not random: sizes, and items for all cases of an operator. A part of the graph, the name of the input,
/// and the items.
#[cfg(feature = "input")]
const GIVEN: &[(&str, &str, &[i64])] = &[
    ("int64[4] s) => (float[2,5,6,2] y)", "s", &[2, 1, 5, 6]),
    ("int64[5] s) => (float[2,4,5,6,3] y)", "s", &[2, 1, 4, 5, 6]),
    ("int32[1] s) => (float[4,9] y)", "s", &[9]),
    ("int64[2] s) => (float[3,9] y)", "s", &[3, 9]),
    ("(int64 n)", "n", &[7]),
    ("(int32 n)", "n", &[7]),
    ("(int16 a, int16 b, int16 c)", "a", &[9]),
    ("(int16 a, int16 b, int16 c)", "b", &[-2]),
    ("(int16 a, int16 b, int16 c)", "c", &[-3]),
    ("(float a, float b, float c)", "a", &[-2]),
    ("(float a, float b, float c)", "b", &[7]),
    ("(float a, float b, float c)", "c", &[2]),
    ("Clip (x, a, b)", "x", &[-3, 1, 4]),
    ("Clip (x, a, b)", "a", &[-2]),
    ("Clip (x, a, b)", "b", &[2]),
    ("HardSigmoid (x)", "x", &[-4, 1, 4]),
    ("HardSwish (x)", "x", &[-4, 1, 4]),
    ("Shrink <lambd = 1.5> (x)", "x", &[-3, 1, 2]),
    ("ThresholdedRelu (x)", "x", &[-2, 1, 3]),
];

#[cfg(feature = "input")]
#[test]
fn bodies_compute_what_kernels_compute() {
    use crate::eval::compare;
    use crate::input::model_run::random_inputs;
    use crate::input::settings::Settings;
    use crate::tensor::Tensor;

    let (mut refused, mut wrong, settings) = (Vec::new(), Vec::new(), Settings::new(&Options::default()));
    for sample in samples::SAMPLES {
        let options = lowering(Lower::All);
        let (document, _) = Document::parse("test", model(28, sample.graph, ""), &mut Sources::new(), &options);
        let source = document.unwrap();
        let mut flat = source.copy();
        flat.flatten(&options).unwrap();
        let given = GIVEN.iter().filter(|(graph, ..)| sample.graph.contains(graph)).map(|(_, name, items)| {
            let shape: &[usize] =
                if items.len() == 1 && !sample.graph.contains(&format!("[1] {name}")) { &[] } else { &[items.len()] };
            ((*name).to_owned(), Tensor::integers(shape, items.to_vec()).unwrap().into())
        });
        let inputs = random_inputs(&source, &given.collect::<Vec<_>>(), 1, &settings).unwrap();
        let outputs = |of: &Document| of.run_tensors(&inputs, (settings.evaluation, &settings.options));
        let outputs = outputs(&source).and_then(|wanted| Ok((wanted, outputs(&flat)?)));
        match outputs {
            Ok((wanted, found)) => {
                // Results without items are equal, and so are those that are no numbers.
                let items: Vec<f64> = wanted.iter().flat_map(|(_, tensor)| tensor.to_scalars()).collect();
                assert!(!items.is_empty() && items.iter().all(|item| item.is_finite()), "{}: {items:?}", sample.graph);
                let difference = compare(&wanted, &found, |_| f64::INFINITY).unwrap().largest;
                // Types of 16 bits and fewer round after each step of a body.
                let narrow = ["float16", "bfloat16", "float8", "float4"].iter().any(|ty| sample.graph.contains(ty));
                let bound = if narrow { 0.05 } else { 1e-5 };
                if difference > bound {
                    wrong.push(format!("{}: {difference}", sample.graph));
                }
            }
            Err(found) => {
                println!("{}: {}", sample.name, found.message);
                refused.push(sample.name);
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(refused, NOT_COMPARED);
}

#[test]
fn constants_have_the_type_of_the_operand() {
    let elu =
        |ty: &str| lowered(18, &format!("({ty}[2] x) => ({ty}[2] y) {{ y = Elu <alpha = 0.5> (x) }}"), "", Lower::All);
    assert!(elu("float").contains("y_alpha = Constant <value_float: float = 0.5> (); y_is_negative"));
    assert!(elu("double").contains("y_one = Constant <value: tensor = double {1.0}> ()"));
    assert!(elu("float16").contains("y_alpha = Cast <to: int = 10> (y_alpha_float)"));
}

#[test]
fn the_options_select_operators() {
    let graph = "(float[2] x) => (float[2] y) { a = HardSwish (x) y = Mish (a) }";
    for (lower, kept) in [
        (Lower::None, ["HardSwish", "Mish"].as_slice()),
        (Lower::Custom, &["HardSwish", "Mish"]),
        (named(&["Mish"]), &["HardSwish", "Softplus"]),
        (named(&["ai.onnx.HardSwish", "Mish"]), &["HardSigmoid", "Softplus"]),
        (Lower::All, &[]),
    ] {
        let flat = lowered(18, graph, "", lower);
        for operator in ["HardSwish", "Mish", "HardSigmoid", "Softplus"] {
            assert_eq!(flat.contains(operator), kept.contains(&operator), "{operator}: {flat}");
        }
    }
    let keep = Options { keep: vec!["Softplus".to_owned()], ..lowering(Lower::All) };
    let flat = flatten(&model(18, graph, ""), &keep).unwrap().0;
    assert!(flat.contains("y_softplus = Softplus (a)") && !flat.contains("Mish"), "{flat}");
}

#[test]
fn names_must_have_something_to_expand() {
    let graph = "(float[2] x) => (float[2] y) { y = Mish (x) }";
    for (version, names, wrong) in [
        (18, ["Conv"].as_slice(), &[Code::OptionPrimitive][..]),
        (18, &["Gelu"], &[Code::OptionPrimitive]),
        (18, &["Gelo"], &[Code::OptionOperation]),
        (18, &["ai.onnx.Gelo"], &[Code::OptionOperation]),
        (18, &["Mish"], &[]),
        (18, &["Mish", "Softplus"], &[]),
        (18, &["ai.onnx.Mish"], &[]),
    ] {
        let found = flatten(&model(version, graph, ""), &lowering(named(names)));
        assert_eq!(found.err().map(|found| codes(&found)).unwrap_or_default(), wrong, "{names:?}");
    }
}

#[test]
fn inner_graphs_and_functions_are_expanded_with_names_that_are_paths() {
    let graph = "(float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = p () => (float[2] r) { r = Relu (x) }, else_branch = q () => (float[2] s) { s = l.f (x) }> }";
    let flat = lowered(18, graph, "fn f (u) => (v) { t = Relu (u) v = Neg (t) }", Lower::All);
    assert!(flat.contains("r_zero = Constant") && flat.contains("r = Max (x, r_zero)"), "{flat}");
    assert!(flat.contains("s_t = Max (x, s_t_zero)") && flat.contains("s = Neg (s_t)"), "{flat}");
}

#[test]
fn functions_that_stay_have_the_types_of_all_their_calls() {
    let functions = "fn f (u) => (v) { v = Relu (u) }";
    let of = |graph: &str| lowered(18, graph, functions, named(&["Relu"]));
    let one = of("(float[2] x) => (float[2] y) { a = l.f (x) y = l.f (a) }");
    assert!(one.contains("v_zero = Constant <value: tensor = float {0.0}> (); v = Max (u, v_zero)"), "{one}");
    let two = of("(float[2] x, double[2] z) => (float[2] y, double[2] w) { y = l.f (x) w = l.f (z) }");
    assert!(two.contains("v_zero = CastLike (v_zero_float, u)"), "{two}");
    let uncalled = of("(float[2] x) => (float[2] y) { y = Neg (x) }");
    assert!(uncalled.contains("v_zero = CastLike (v_zero_float, u)"), "{uncalled}");
}

#[test]
fn graphs_in_attributes_keep_what_they_see() {
    let graph = "(float[1,2,3,4] Q, float[1,2,3,4] K, float[1,2,3,4] V, float[1] zero) => (float[1,2,3,4] Y) { Y = ai.onnx.preview.FlexAttention <score_mod = m (float[1,2,3,3] s) => (float[1,2,3,3] o) { a = Add (s, zero) o = Relu (a) }> (Q, K, V) }";
    let flat = lowered(26, graph, "", Lower::All);
    assert!(flat.contains("Y_a = Add (Y_product, zero)"), "{flat}");
    assert!(flat.contains("Y_scores = Max (Y_a, Y_zero)"), "{flat}");
}

#[test]
fn what_is_not_known_stays_with_a_warning() {
    let graph = "(float[1,3,8] q) => (float[1,3,8] y) { y = l.f <axis = 1> (q) }";
    let text = model(23, graph, "fn f <axis> (q) => (y) { y = Softmax <axis: int = @axis> (q) }");
    let keep = Options { keep: vec!["f".to_owned()], ..lowering(Lower::All) };
    let (flat, warnings) = flatten(&text, &keep).unwrap();
    assert!(flat.contains("Softmax"), "{flat}");
    assert_eq!(codes(&warnings), [Code::OperatorStays]);
}

#[test]
fn bodies_count_against_the_limits() {
    let graph = "(float[2] x) => (float[2] y) { y = Elu (x) }";
    let few = Options { max_ops: 5, ..lowering(Lower::All) };
    assert_eq!(codes(&flatten(&model(18, graph, ""), &few).unwrap_err()), [Code::OperationBudget]);
    let many = Options { max_ops: 20, ..lowering(Lower::All) };
    assert!(flatten(&model(18, graph, ""), &many).is_ok());
}

#[test]
fn the_documentation_lists_the_bodies() {
    const PAGE: &str = include_str!("../../../docs/onnx-bodies.md");
    for (domain, name) in body_table::names() {
        let versions: Vec<String> = TABLE
            .iter()
            .filter(|row| (row.domain, row.name) == (domain, name))
            .map(|row| row.version.to_string())
            .collect();
        let point = if domain.is_empty() { "" } else { "." };
        let line = format!("| `{domain}{point}{name}` | {} |", versions.join(", "));
        assert!(PAGE.lines().any(|found| found.starts_with(&line)), "missing in docs/onnx-bodies.md: {line}");
    }
    let listed = PAGE.split("## Operators with a body").nth(1).and_then(|page| page.split("\n## ").next());
    let lines = listed.unwrap_or("").lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(lines, body_table::names().count());
}
