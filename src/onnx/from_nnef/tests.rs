//! Translations of small documents.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{NnefElement, TranslatedData, Weight, Weights, names};
use crate::eval::Quantizations;
use crate::onnx::Document;
use crate::{Options, expand, parse};

/// Float data of variables by label.
#[derive(Default)]
struct Data(BTreeMap<&'static str, (Vec<i64>, Vec<f32>)>);

impl Weights for Data {
    fn load(&self, label: &str, _: &[usize], _: Option<NnefElement>) -> Result<Option<Weight>, String> {
        let found = self.0.get(label).map(|(dims, items)| Weight {
            dims: dims.clone(),
            element: NnefElement::Float,
            bytes: items.iter().flat_map(|item| item.to_le_bytes()).collect::<Vec<u8>>().into(),
        });
        Ok(found)
    }
}

/// The lines of the model's text between its header and its closing brace, or the codes and messages.
fn model_with(inputs: &str, outputs: &str, body: &str, data: &Data) -> Result<Vec<String>, Vec<String>> {
    let text = format!("version 1.0;\ngraph G({inputs}) -> ({outputs})\n{{\n{body}\n}}\n");
    let options = Options::default().with(|options| options.internal.compounds = Some(names().collect()));
    let parsed = parse("test", text, &options);
    let graph = expand(&parsed.document, &options).unwrap().graph;
    let told = |found: crate::Diagnostics| {
        found.iter().map(|found| format!("{}: {}", found.code.as_str(), found.message)).collect::<Vec<_>>()
    };
    let document = Document::translated(
        &graph,
        TranslatedData { weights: data, quantizations: &Quantizations::default() },
        false,
        options.max_memory,
    )
    .map_err(told)?;
    let found = document.check(&options);
    assert!(found.is_empty(), "{found:?}");
    let (text, _) = document.to_text(false).unwrap();
    let start = text.find("\nG ").unwrap() + 1;
    let end = text.rfind("\n}").unwrap();
    Ok(text[start..end].lines().map(str::trim).filter(|line| *line != "{").map(str::to_owned).collect())
}

fn model(inputs: &str, outputs: &str, body: &str) -> Vec<String> {
    model_with(inputs, outputs, body, &Data::default()).unwrap()
}

fn refused(body: &str) -> Vec<String> {
    model_with("x", "y", body, &Data::default()).unwrap_err()
}

#[test]
fn first_axes_are_aligned() {
    let body = "x = external(shape = [2, 3, 4]); k = external(shape = [2]); n = external(shape = []);
        a = add(x, k); b = mul(k, a); y = sub(b, n);";
    assert_eq!(
        model("x, k, n", "y", body),
        [
            "G (float[2, 3, 4] x, float[2] k, float n) => (float[2, 3, 4] y)",
            "<int64[2] axes = {1, 2}>",
            "[a_unsqueeze] a_unsqueeze = Unsqueeze (k, axes)",
            "[a] a = Add (x, a_unsqueeze)",
            "[b] b = Mul (a_unsqueeze, a)",
            "[y] y = Sub (b, n)",
        ]
    );
}

#[test]
fn data_have_the_names_of_labels() {
    let data = Data(BTreeMap::from([
        ("net/w.0", (vec![1, 3, 1, 1], vec![1.0, 2.0, 3.0])),
        ("x", (vec![3], vec![4.0, 5.0, 6.0])),
        ("b", (vec![1, 3], vec![0.0; 3])),
    ]));
    let body = "x = external(shape = [2, 3, 4, 5]); w = variable(shape = [1, 3, 1, 1], label = 'net/w.0');
        v = variable(shape = [1, 3, 1, 1], label = 'net/w.0'); b = variable(shape = [1, 3], label = 'b');
        u = variable(shape = [3], label = 'x');
        n = batch_normalization(x, b, v, b, w, epsilon = 0.5); y = add(x, w); z = copy(u);";
    assert_eq!(
        model_with("x", "n, y, z", body, &data).unwrap(),
        [
            "G (float[2, 3, 4, 5] x) => (float[2, 3, 4, 5] n, float[2, 3, 4, 5] y, float[3] z)",
            "<float[1, 3, 1, 1] \"net/w.0\" = {1.0, 2.0, 3.0}, float[3] x_2 = {4.0, 5.0, 6.0}, \
             float[3] \"net/w.0_2\" = {1.0, 2.0, 3.0}, float[3] b = {0.0, 0.0, 0.0}>",
            "[n] n = BatchNormalization <epsilon: float = 0.5> (x, \"net/w.0_2\", b, b, \"net/w.0_2\")",
            "[y] y = Add (x, \"net/w.0\")",
            "[z] z = Identity (x_2)",
        ]
    );
}

#[test]
fn open_extents_stay_open() {
    let body = "x = tract_core_external(shape = [N, 3, S], datum_type = 'f32');
        y = max_pool(x, size = [1, 1, 2], stride = [1, 1, 2], border = 'ignore');";
    let text =
        format!("version 1.0;\nextension tract_symbol N;\nextension tract_symbol S;\ngraph G(x) -> (y)\n{{ {body} }}");
    let options = Options::default().with(|options| options.internal.compounds = Some(names().collect()));
    let parsed = parse("test", text, &options);
    let graph = expand(&parsed.document, &options).unwrap().graph;
    let (text, _) = Document::translated(
        &graph,
        TranslatedData { weights: &Data::default(), quantizations: &Quantizations::default() },
        false,
        options.max_memory,
    )
    .unwrap()
    .to_text(false)
    .unwrap();
    assert!(text.contains("G (float[N, 3, S] x) => (float[?, 3, ?] y)"), "{text}");
    let pool = "MaxPool <kernel_shape: ints = [2], strides: ints = [2], auto_pad: string = \"SAME_UPPER\"> (x)";
    assert!(text.contains(pool), "{text}");
}

#[test]
fn borders_are_added_in_front() {
    let pool = |border: &str| {
        let body =
            format!("x = external(shape = [1, 1, 4, 4]); y = max_pool(x, size = [1, 1, 3, 3], border = '{border}');");
        let lines = model("x", "y", &body);
        lines[lines.iter().position(|line| line.starts_with('[')).unwrap()..].join("; ")
    };
    let whole = "[y] y = MaxPool <kernel_shape: ints = [3, 3], pads: ints = [1, 1, 1, 1]> (x)";
    assert_eq!(pool("ignore"), whole);
    let rest = "[y] y = MaxPool <kernel_shape: ints = [3, 3]> (y_pad)";
    assert_eq!(pool("constant"), format!("[y_pad] y_pad = Pad (x, pads); {rest}"));
    assert_eq!(pool("replicate"), format!("[y_pad] y_pad = Pad <mode: string = \"edge\"> (x, pads); {rest}"));
    let gathered = "[y_gather] y_gather = Gather <axis: int = 2> (x, places); \
        [y_gather_2] y_gather_2 = Gather <axis: int = 3> (y_gather, places); \
        [y] y = MaxPool <kernel_shape: ints = [3, 3]> (y_gather_2)";
    assert_eq!(pool("reflect-even"), gathered);
}

#[test]
fn constants_are_filled() {
    let body = "x = external(shape = [1]); c = constant(shape = [2, 2], value = [1.0, 2.0, 3.0, 4.0]);
        i = constant<integer>(shape = [3], value = [9223372036854775807]); f = constant(shape = [64, 64], value = [0.5]);
        y = copy(x); a = copy(c); b = copy(i); d = copy(f);";
    assert_eq!(
        model("x", "y, a, b, d", body),
        [
            "G (float[1] x) => (float[1] y, float[2, 2] a, int64[3] b, float[64, 64] d)",
            "<float[2, 2] c = {1.0, 2.0, 3.0, 4.0}, \
             int64[3] i = {9223372036854775807, 9223372036854775807, 9223372036854775807}, int64[2] shape = {64, 64}>",
            "[f] f = ConstantOfShape <value: tensor = float[1] {0.5}> (shape)",
            "[y] y = Identity (x)",
            "[a] a = Identity (c)",
            "[b] b = Identity (i)",
            "[d] d = Identity (f)",
        ]
    );
}

#[test]
fn what_has_no_meaning_is_told_once() {
    let body = "x = external(shape = [2, 3]); a = vendor_op(x); b = vendor_op(a); c = add(b, a); y = vendor_two(c);";
    assert_eq!(
        refused(body),
        [
            "E2090: `vendor_op` has no known counterpart in ONNX (2 operations)",
            "E2090: `vendor_two` has no known counterpart in ONNX",
        ]
    );
    let body = "x = external(shape = [2, 3]); v = variable(shape = [2, 3], label = 'v');
        w = variable(shape = [2], label = 'w'); u = update(v, x); y = add(w, u);";
    assert_eq!(
        refused(body),
        [
            "E2092: variable 'v' has no data (2 operations)",
            "E2090: `update` has no counterpart in ONNX: a model of ONNX has no state",
        ]
    );
}

#[test]
fn data_are_not_copied() {
    let bytes = Bytes::from(vec![0_u8; 12]);
    struct One(Bytes);
    impl Weights for One {
        fn load(&self, _: &str, _: &[usize], _: Option<NnefElement>) -> Result<Option<Weight>, String> {
            Ok(Some(Weight { dims: vec![3], element: NnefElement::Float, bytes: self.0.clone() }))
        }
    }
    let text = "version 1.0; graph G(x) -> (y) { x = external(shape = [3]); w = variable(shape = [3], label = 'w'); y = add(x, w); }";
    let options = Options::default();
    let graph = expand(&parse("test", text.to_owned(), &options).document, &options).unwrap().graph;
    let mut document = Document::translated(
        &graph,
        TranslatedData { weights: &One(bytes.clone()), quantizations: &Quantizations::default() },
        false,
        options.max_memory,
    )
    .unwrap();
    let graph = document.model().unwrap().graph.take().unwrap();
    let data = &graph.initializers[0].rest.as_ref().unwrap()[0].bytes;
    assert_eq!(data.held().unwrap().as_ptr(), bytes.as_ptr());
}

#[test]
fn compounds_are_expanded_or_stay() {
    let body = "x = external(shape = [2, 3]); a = relu(x); y = l1_normalization(a, axes = [1]);";
    let lines = model("x", "y", body);
    let operators: Vec<&str> =
        lines.iter().filter_map(|line| line.split(" = ").nth(1)?.split([' ', '(']).next()).skip(1).collect();
    assert_eq!(operators, ["Relu", "Abs", "ReduceSum", "Add", "Max", "Div"]);
}

#[test]
fn large_integers_keep_their_digits() {
    let lines = model("x", "y", "x = external<integer>(shape = [2]); y = max(x, 9007199254740993);");
    assert!(lines.iter().any(|line| line.contains("{9007199254740993}")), "{lines:?}");
    let lines = model("x", "y", "x = external(shape = [2]); y = max(x, 9007199254740993);");
    assert!(lines.iter().any(|line| line.contains("float number")), "{lines:?}");
}

/// The sum of a float and 0.5 may be rounded to another integer.
#[test]
fn numbers_are_rounded_without_a_sum() {
    let lines = model("x", "y", "x = external(shape = [2]); y = round(x);").join("\n");
    assert!(lines.contains("Where (") && lines.contains("Ceil (x)") && !lines.contains("Add ("), "{lines}");
}

/// Attributes of operations that are not declared: integers are floats in ONNX, and names may be missing.
#[test]
fn attributes_of_converters_are_floats() {
    let body = |call: &str| format!("x = external(shape = [2, 3]); e = external(shape = []); y = {call};");
    let made = |call: &str| model("x, e", "y", &body(call)).join(" ");
    let alone = |call: &str| model_with("x, e", "y", &body(call), &Data::default()).unwrap_err();
    assert!(made("HardSigmoid(x, alpha = 1, beta = 0.5)").contains("<alpha: float = 1.0, beta: float = 0.5>"));
    assert!(made("HardSigmoid(x, 0.0, 0.25)").contains("<alpha: float = 0.0, beta: float = 0.25>"));
    assert!(made("mean_variance_normalization(x, x, x, [1], 2)").contains("float number = {2.0}"));
    let unknown =
        "E2091: `epsilon` of `mean_variance_normalization` depends on tensors or symbols; ONNX requires numbers";
    assert_eq!(alone("mean_variance_normalization(x, x, x, axes = [1], epsilon = e)"), [unknown]);
    let integers = "x = external<integer>(shape = [2]); y = mean_variance_normalization(x, x, x, axes = [0]);";
    assert!(model("x", "y", integers).join(" ").contains("Cast <to: int = 1>"));
}

/// Operators of ONNX take one type each.
#[test]
fn operands_of_other_types_than_declared_are_cast() {
    let made = |operation: &str| {
        let inputs = "x = external<scalar>(shape = [2]); i = external<integer>(shape = [2]); b = external<logical>(shape = [2]);";
        model("x, i, b", "y", &format!("{inputs} y = {operation};")).join(" ")
    };
    for (operation, casts) in [
        ("and(b, b)", 0),
        ("and(x, b)", 1),
        ("not(i)", 1),
        ("any_reduce(x, axes = [0])", 1),
        ("select(x, i, i)", 1),
        ("select(b, i, b)", 2),
        ("add(b, i)", 2),
        ("add(i, i)", 0),
        ("eq(b, b)", 0),
        ("concat([x, b], axis = 0)", 1),
        ("argmax_reduce(b, axes = [0])", 1),
    ] {
        let text = made(operation);
        assert_eq!(text.matches("Cast").count(), casts, "{operation}: {text}");
    }
}

/// Extents and proportions that no sum of 64 bits holds.
#[test]
fn huge_numbers_are_refused() {
    let found = refused("x = external(shape = [2]); [y, z] = split(x, axis = 0, ratios = [9223372036854775807, 1]);");
    assert_eq!(found, ["E2090: an extent of 2 cannot be split as [9223372036854775807, 1]"]);
    let found = refused("x = external(shape = [1, 1, 9223372036854775807]); y = max_pool(x, size = [1, 1, 3]);");
    assert_eq!(found, ["E2090: `max_pool` has a window that does not fit its operand"]);
}

/// Two variables with a label share data, each in its own type.
#[test]
fn shared_data_have_the_type_of_each_variable() {
    let data = Data(BTreeMap::from([("w", (vec![2], vec![1.0, 2.0]))]));
    let body = "x = external(shape = [2]); v = variable(shape = [2], label = 'w');
        u = variable<integer>(shape = [2], label = 'w'); y = add(x, v); z = copy(u);";
    let lines = model_with("x", "y, z", body, &data).unwrap().join(" ");
    assert!(lines.contains("int64[2] z") && lines.contains("Cast <to: int = 7> (w)"), "{lines}");
}

/// Operators do not agree on means of no items, and have no index for their maximum.
#[test]
fn windows_that_cover_no_item_are_not_left_to_operators() {
    let body = |operation: &str, dilation: i64| {
        format!(
            "x = external(shape = [1, 1, 1]); y = {operation}(x, size = [1, 1, 2], padding = [(0, 0), (0, 0), (1, 1)], \
             dilation = [1, 1, {dilation}], border = 'ignore');"
        )
    };
    let made = |operation: &str, dilation: i64| model("x", "y", &body(operation, dilation)).join(" ");
    assert!(!made("avg_pool", 1).contains("Div"));
    // The items of the window are on both sides of the operand.
    assert!(made("avg_pool", 2).contains("Div"));
    assert!(made("max_pool", 2).contains("MaxPool"));
    assert!(made("argmax_pool", 1).contains("MaxPool"));
    let found = refused(&body("argmax_pool", 2));
    assert_eq!(found, ["E2090: `argmax_pool` has a window that covers no item, without an index"]);
}
