//! Tests of the statistics of graphs.

#![allow(clippy::indexing_slicing)]

use super::amount::grouped;
use super::*;
use crate::graph::dims::Dim;
use crate::graph::{Extent, ModulePath, Shape};
use crate::{Options, expand, parse};

fn stats(body: &str) -> Stats {
    let options = Options::default();
    let text = format!("version 1.0; graph G( x ) -> ( y ) {{ x = external(shape = [1,3,8,8]); {body} }}");
    let parsed = parse("test", text, &options);
    Stats::new(&expand(&parsed.document, &options).unwrap().graph, NO_DATA)
}

#[test]
fn products_are_counted() {
    let conv = stats("f = variable(shape = [4,3,3,3], label = 'f'); y = conv(x, f);");
    let counts = [&conv.counts.parameters, &conv.counts.bytes, &conv.counts.multiply_adds];
    assert_eq!(counts.map(Amount::known), [108, 432, 4 * 64 * 27].map(Some));
    let linear =
        stats("f = variable(shape = [5,192], label = 'f'); z = reshape(x, shape = [1,192]); y = linear(z, f, 0.0);");
    assert_eq!((linear.counts.multiply_adds.known(), linear.total()), (Some(5 * 192), 4));
    assert_eq!(stats("y = matmul(x, x);").counts.multiply_adds.known(), Some(3 * 8 * 8 * 8));
    assert_eq!(stats("y = matmul(x, x, transposeA = true);").counts.multiply_adds.known(), Some(3 * 8 * 8 * 8));
    let deconv = stats("f = variable(shape = [3,4,3,3], label = 'f'); y = deconv(x, f);");
    assert_eq!(deconv.counts.multiply_adds.known(), Some(3 * 64 * 36));
}

#[test]
fn tables_are_aligned() {
    let after = stats("y = relu(x);");
    let lines: Vec<String> = after.to_text(None).lines().map(str::to_owned).collect();
    assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()));
    assert_eq!(grouped(1_234_567), "1 234 567");
}

/// The multiply-adds of `y`, computed from variables of these shapes.
fn products(shapes: &[&str], call: &str) -> Option<u64> {
    let variables =
        shapes.iter().enumerate().map(|(i, shape)| format!("v{i} = variable(shape = {shape}, label = 'v{i}');"));
    let stats = stats(&format!("{} {call}", variables.collect::<String>()));
    let open: u64 = stats.uncounted.values().sum();
    stats.counts.multiply_adds.known().filter(|_| open == 0)
}

#[test]
fn products_with_batches_and_groups_are_counted() {
    let linear = "y = linear(v0, v1);";
    assert_eq!(products(&["[16,64]", "[32,64]"], linear), Some(16 * 32 * 64));
    assert_eq!(products(&["[1,16,64]", "[1,32,64]"], linear), Some(16 * 32 * 64));
    assert_eq!(products(&["[2,16,64]", "[1,32,64]"], linear), Some(2 * 16 * 32 * 64));
    assert_eq!(products(&["[1,16,64]", "[1,32,64]", "[1,1,32]"], "y = linear(v0, v1, v2);"), Some(16 * 32 * 64));
    assert_eq!(products(&["[2,3,4,5]", "[2,3,5,6]"], "y = matmul(v0, v1);"), Some(6 * 4 * 5 * 6));
    assert_eq!(products(&["[2,3,4,5]", "[1,3,6,5]"], "y = matmul(v0, v1, transposeB = true);"), Some(6 * 4 * 5 * 6));
    assert_eq!(
        products(&["[6,1,3,3]"], "t = concat([x, x], axis = 1); y = conv(t, v0, groups = 6);"),
        Some(6 * 64 * 9)
    );
    assert_eq!(products(&["[4,3,3,3]"], "y = conv(x, v0, stride = [2,2]);"), Some(4 * 16 * 27));
    assert_eq!(products(&["[3,2,3,3]"], "y = deconv(x, v0, groups = 3);"), Some(3 * 64 * 18));
    let separable = "y = separable_conv(x, v0, v1);";
    assert_eq!(products(&["[3,1,3,3]", "[5,3,1,1]"], separable), Some(64 * (27 + 15)));
}

#[test]
fn products_of_other_notations_are_counted() {
    assert_eq!(products(&["[3,8]", "[5,8]"], "y = nn_Linear(input = v0, weight = v1);"), Some(3 * 5 * 8));
    assert_eq!(products(&["[4,3]", "[4,5]"], "y = Gemm(A = v0, B = v1, transA = 1);"), Some(4 * 3 * 5));
    assert_eq!(products(&["[7]", "[2,7,5]"], "y = torch_matmul(input = v0, other = v1);"), Some(2 * 7 * 5));
    assert_eq!(products(&["[2,4,7]", "[7]"], "y = torch_matmul(input = v0, other = v1);"), Some(2 * 4 * 7));
    assert_eq!(products(&["[3,4,3,3]"], "y = nn_ConvTranspose2d(input = x, weight = v0);"), Some(3 * 64 * 36));
    assert_eq!(
        products(&["[9,2,6]", "[1,20,6]", "[1,20,5]"], "y = LSTM(X = v0, W = v1, R = v2);"),
        Some(18 * (120 + 100))
    );
    let attention = "y = F_scaled_dot_product_attention(query = v0, key = v1, value = v2);";
    assert_eq!(products(&["[2,4,8]", "[2,6,8]", "[2,6,3]"], attention), Some(2 * 4 * 6 * (8 + 3)));
    assert_eq!(products(&["[3,4]", "[4,5]"], "y = Einsum(v0, v1, equation = 'ij,jk->ik');"), Some(3 * 4 * 5));
    assert_eq!(products(&["[3,4]", "[3,4]"], "y = Einsum(v0, v1, equation = 'ij,ij->ij');"), Some(0));
    for equation in ["...ij,...jk->...ik", "... i j , ...jk -> ... ik", "...ij,...jk", "bij,bjk->bik"] {
        let call = format!("y = Einsum(v0, v1, equation = '{equation}');");
        assert_eq!(products(&["[2,3,4]", "[2,4,5]"], &call), Some(120), "{equation}");
    }
    // The axes of an ellipsis are aligned at the last one, and broadcast.
    let call = "y = Einsum(v0, v1, equation = '...ij,...jk->...ik');";
    assert_eq!(products(&["[6,2,3,4]", "[1,4,5]"], call), Some(6 * 120));
    // The shape of the result is not known.
    assert_eq!(products(&["[4,3,3,3]"], "y = F_conv2d(input = x, weight = v0);"), None);
}

#[test]
fn what_is_not_counted_is_listed() {
    let stats = stats(
        "a = vendor(x); b = vendor(a); c = nn_ReLU(b); f = variable(shape = [4,3,3,3], label = 'f'); y = conv(c, f);",
    );
    assert_eq!(stats.uncounted, BTreeMap::from([("conv".to_owned(), 1), ("vendor".to_owned(), 2)]));
    assert!(stats.to_text(None).ends_with("not counted: conv (1), vendor (2)\n"), "{}", stats.to_text(None));
    assert_eq!(stats.to_json(None)["not_counted"], json!({ "conv": 1, "vendor": 2 }));
    assert_eq!(stats.to_json(None)["unknown"], 3);
}

#[test]
fn names_may_be_longer_than_any_table() {
    let name = "o".repeat(100_000);
    let text = stats(&format!("y = {name}(x);")).to_text(None);
    assert!(text.lines().any(|line| line.starts_with(name.as_str())));
    assert!(text.lines().all(|line| line.len() < 200 || line.contains(&name)));
    assert!(text.contains("total "));
}

/// The rows of the table of modules: name, operations, parameters, multiply-adds and activations.
fn modules(stats: &Stats) -> Vec<(String, [u64; 4])> {
    let row = |of: &ModuleStats| {
        let Counts { operations, parameters, multiply_adds, activations, .. } = &of.counts;
        let [parameters, products, items] = [parameters, multiply_adds, activations].map(|sum| sum.known().unwrap());
        (of.name.clone(), [*operations, parameters, products, items])
    };
    stats.modules.iter().skip(1).map(row).collect()
}

fn stats_of(text: &str) -> Stats {
    let options = Options::default();
    let parsed = parse("test", text.to_owned(), &options);
    Stats::new(&expand(&parsed.document, &options).unwrap().graph, NO_DATA)
}

#[test]
fn calls_are_modules() {
    let stats = stats_of(
        "version 1.0; extension KHR_enable_fragment_definitions;
        fragment project( x: tensor<scalar>, w: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = matmul(x, w); }
        fragment layer( x: tensor<scalar>, w: tensor<scalar>, v: tensor<scalar> ) -> ( y: tensor<scalar> )
        { y = relu(project(project(x, w), v)); }
        graph G( x ) -> ( y ) {
            x = external(shape = [2,4]); w = variable(shape = [4,4], label = 'w'); v = variable(shape = [4,4], label = 'v');
            h = layer(x, w, v); u = layer(h, w, w); y = relu(u); }",
    );
    // Both weights belong to the innermost module around all their users.
    let wanted = [("layer", [8, 32, 128, 48]), ("project", [6, 32, 128, 32])];
    assert_eq!(modules(&stats), wanted.map(|(name, counts)| (name.to_owned(), counts)));
    assert_eq!((stats.modules[1].calls, stats.modules[2].calls), (2, 4));
    assert_eq!((stats.counts.operations, stats.counts.activations.known()), (10, Some(64)));
    let json = stats.to_json(None);
    assert_eq!(json["modules"][0]["modules"][0]["calls"], 4);
    assert_eq!(json["modules"][0]["parameters"], 32);
    let text = stats.to_text(None);
    assert!(text.contains("\nlayer (2 calls)  ") && text.contains("\n  project (4 calls)  "), "{text}");
}

#[test]
fn recursive_calls_are_one_module() {
    let stats = stats_of(
        "version 1.0; extension KHR_enable_fragment_definitions; extension KHR_enable_operator_expressions;
        fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = g(exp(x), n) if n > 0 else x; }
        fragment g( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = f(sin(x), n - 1); }
        graph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(f(x, 100)); }",
    );
    assert_eq!(
        modules(&stats).iter().map(|(name, counts)| (&**name, counts[0])).collect::<Vec<_>>(),
        [("f", 200), ("g", 100)]
    );
    assert_eq!((stats.modules[1].calls, stats.modules[2].calls), (100, 100));
}

#[test]
fn modules_are_those_that_a_model_tells() {
    let options = Options::default();
    let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2,4]);
        w = variable(shape = [4,4], label = 'w'); h = matmul(x, w); y = relu(h); }";
    let mut graph = expand(&parse("test", text.to_owned(), &options).document, &options).unwrap().graph;
    for (operation, module) in [(2, "a.0.b".to_owned()), (3, "a.1".to_owned() + &".c".repeat(100_000))] {
        let note = crate::graph::Note {
            node: None,
            module: Some(std::sync::Arc::new(ModulePath::of_text(module))),
            source: None,
        };
        graph.add_note(crate::graph::OperationId::at(operation), note);
    }
    let stats = Stats::new(&graph, NO_DATA);
    let found = modules(&stats);
    assert_eq!(found[0], ("a".to_owned(), [3, 16, 32, 16]));
    assert_eq!(found[2], ("b".to_owned(), [2, 16, 32, 8]));
    assert_eq!(found.len(), 3 + 63);
    let text = stats.to_text(None);
    assert!(text.lines().count() < 60 && text.contains("more modules"), "{text}");
}

#[test]
fn the_peak_is_that_of_tensors_that_are_needed_together() {
    // Inputs and results of 24 numbers; at most three are needed at once.
    let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [24]); a = exp(x); b = sin(x); c = add(a, b);
        d = relu(c); y = relu(d); }";
    let stats = stats_of(text);
    assert_eq!((stats.peak.bytes.known(), stats.peak.unknown), (Some(3 * 24 * 4), 0));
    assert_eq!(stats.peak_at.as_deref(), Some("b"));
    let stats =
        stats_of("version 1.0; graph G( x ) -> ( y ) { x = external(shape = [24]); a = vendor(x); y = relu(a); }");
    assert_eq!((stats.peak.bytes.text(), stats.peak.unknown), ("at least 96".to_owned(), 2));
}

/// The sums of a graph whose input has a symbol, as texts.
fn open_sums(body: &str) -> (Vec<String>, String) {
    let text = format!(
        "version 1.0; extension KHR_enable_fragment_definitions; extension tract_symbol batch;
        graph G( x ) -> ( y ) {{ x = external(shape = [batch,3,32,32]); {body} }}"
    );
    let stats = stats_of(&text);
    (stats.amounts().iter().map(|sum| sum.text()).collect(), stats.to_text(None))
}

#[test]
fn sizes_are_sums_on_symbols() {
    let (sums, text) = open_sums("f = variable(shape = [1,3,3,3], label = 'f'); z = conv(x, f); y = relu(z);");
    assert_eq!(sums[2], "27648*batch");
    assert_eq!(sums, ["27", "108", "27648*batch", "5120*batch", "16384*batch"]);
    assert!(text.contains("sizes depend on batch, unknown here: --set batch=1 gives it a number\n"), "{text}");
}

#[test]
fn symbols_that_are_named_by_expressions_are_these() {
    let options = Options::default();
    let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2,3]); y = relu(x); }";
    let told = |extents: &[&str]| {
        let mut graph = expand(&parse("test", text.to_owned(), &options).document, &options).unwrap().graph;
        for tensor in [graph.inputs()[0], graph.outputs()[0]] {
            let extents: Vec<Extent> = extents.iter().map(|text| Extent::from(Dim::symbol(text))).collect();
            graph.set_shape(tensor, Some(Shape::new(&extents)));
        }
        let stats = Stats::new(&graph, NO_DATA);
        (stats.counts.activations.text(), stats.to_text(None))
    };
    let (sum, text) = told(&["2*M+1", "M"]);
    assert_eq!(sum, "4*M*M+2*M");
    assert!(text.contains("sizes depend on M, unknown here: --set M=1 gives it a number\n"), "{text}");
    let (sum, text) = told(&["the batch", "M"]);
    assert_eq!(sum, "2*(the batch)*M");
    assert!(text.contains("depend on M, the batch, unknown here: --set M=1 gives each symbol"), "{text}");
}

#[test]
fn what_is_known_is_the_least_of_unknown_sizes() {
    let (sums, text) = open_sums("z = relu(x); y = vendor(z);");
    assert_eq!(sums, ["0", "0", "unknown", "at least 6144*batch", "at least 24576*batch"]);
    assert!(text.contains("1 tensor is of unknown size"), "{text}");
    let stats = stats("y = vendor(x);");
    let json = stats.to_json(None);
    assert_eq!(json["at_least"], json!(["multiply_adds", "activations", "peak"]));
    assert_eq!((&json["multiply_adds"], &json["activations"]), (&json!(null), &json!(192)));
}
