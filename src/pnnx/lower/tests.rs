use std::collections::BTreeMap;

use super::TABLE;
use crate::diagnostics::Code;
use crate::eval::Evaluator;
use crate::graph::Graph;
use crate::pnnx::model::Model;
use crate::source::FileId;
use crate::tensor::Tensor;
use crate::{Lower, Options};

#[test]
fn the_documentation_has_all_operators() {
    let page = include_str!("../../../docs/pnnx.md");
    for kind in TABLE.iter().flat_map(|(kinds, _)| *kinds) {
        assert!(page.contains(&format!("`{kind}`")), "docs/pnnx.md lacks {kind}");
    }
}

/// A file with inputs of the given shapes and types, and one operator with all of them as operands.
fn file(shapes: &[&str], kind: &str, params: &str) -> String {
    let count = shapes.len();
    let mut text = format!("7767517\n{} {}\n", count + 2, count + 1);
    for (i, shape) in shapes.iter().enumerate() {
        text += &format!("pnnx.Input in{i} 0 1 {i} #{i}={shape}\n");
    }
    let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    text + &format!("{kind} op {count} 1 {} {count} {params}\npnnx.Output out 1 0 {count}\n", names.join(" "))
}

/// The graph, and whether an operator is passed through.
fn lowered(text: &str) -> (Graph, bool) {
    let model = Model::read(text, FileId::default(), true).unwrap_or_else(|found| panic!("{text}{found}")).0;
    let options = Options::default().with(|options| options.lower = Lower::All);
    let (graph, _, found) = model.graph(FileId::default(), &options).unwrap_or_else(|found| panic!("{text}{found}"));
    let passed = found.iter().any(|found| found.code == Code::PnnxPassed);
    (graph, passed)
}

/// A tensor where a rule expects a number must not be replaced by a default.
#[test]
fn tensors_in_place_of_numbers_are_not_ignored() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("Tensor.slice", &["(4)f32", "()i64"], "dim=0 end=4 step=1 $input=0 $start=1"),
        ("Tensor.slice", &["(4)f32", "()i64"], "dim=0 start=0 step=1 $input=0 $end=1"),
        ("Tensor.slice", &["(3,4)f32", "(2)i64"], "dims=(0,1) ends=(2,3) steps=(1,1) $input=0 $starts=1"),
        ("torch.clamp", &["(4)f32", "(4)f32"], "max=1.0 $input=0 $min=1"),
        ("torch.sum", &["(2,3)f32", "()i64"], "$input=0 $dim=1 keepdim=False"),
        ("torch.max", &["(2,3)f32", "()i64"], "$input=0 $dim=1"),
        ("torch.cat", &["(2)f32", "(2)f32"], "$tensors=0 $dim=1"),
        ("F.pad", &["(2,3)f32", "()f32"], "$input=0 $value=1 pad=(1,1) mode=constant"),
        ("F.layer_norm", &["(2,3)f32", "()f32"], "$input=0 $eps=1 normalized_shape=(3)"),
        ("F.conv1d", &["(1,2,3)f32", "(2,1,1)f32", "()i64"], "$input=0 $weight=1 $groups=2"),
        ("F.selu", &["(4)f32", "()f32"], "$input=0 $alpha=1"),
        ("F.celu", &["(4)f32", "()f32"], "$input=0 $alpha=1"),
        ("F.leaky_relu", &["(4)f32", "()f32"], "$input=0 $negative_slope=1"),
        ("F.scaled_dot_product_attention", &["(1,1,1)f32"; 4], "$query=0 $key=1 $value=2 $scale=3"),
        ("F.instance_norm", &["(1,2,3)f32", "()bool"], "$input=0 $use_input_stats=1"),
    ];
    for (kind, shapes, params) in cases {
        let text = file(shapes, kind, params);
        let (graph, passed) = lowered(&text);
        assert!(passed, "{text}");
        // Nothing of the attempt is left.
        assert_eq!(graph.operations().len(), shapes.len() + 1, "{text}");
    }
}

/// The value of a file, for inputs that count from 1.
fn value(text: &str, shapes: &[&[usize]]) -> (Vec<usize>, Vec<f64>) {
    let (graph, passed) = lowered(text);
    assert!(!passed, "{text}");
    let input = |(i, shape): (usize, &&[usize])| {
        let items = (1..=shape.iter().product()).map(|item: usize| item as f64).collect();
        (format!("v_{i}"), Tensor::scalars(shape, items).unwrap())
    };
    let inputs: Vec<_> = shapes.iter().enumerate().map(input).collect();
    let found = Evaluator::default().run(&graph, &inputs, &BTreeMap::new());
    let found = found.unwrap_or_else(|error| panic!("{text}{}", error.message));
    let output = &found.outputs[0].1;
    (output.shape().to_vec(), output.to_scalars().to_vec())
}

#[test]
fn bounds_of_slices_may_be_left_out() {
    for (params, wanted) in [
        ("dims=(0,1) starts=(1,1) ends=(None,3) steps=(1,1)", vec![6.0, 7.0]),
        ("dims=(0,1) starts=(None,2) ends=(1,None) steps=(None,1)", vec![3.0, 4.0]),
        ("dims=(0,1) starts=(1,-1) ends=None", vec![8.0]),
        ("dims=(0,1) starts=(1,2) ends=(2,4) selects=(2147483647,2147483647)", vec![7.0, 8.0]),
        ("dim=1 start=None end=1 step=1", vec![1.0, 5.0]),
    ] {
        let text = file(&["(2,4)f32"], "Tensor.slice", &format!("$input=0 {params}"));
        assert_eq!(value(&text, &[&[2, 4]]).1, wanted, "{text}");
    }
    for params in [
        "dims=(0,1) starts=(0,0) ends=(2,2) steps=(1,1) selects=(2147483647,1)",
        "dims=(0,1) starts=(0,0) ends=(2,2) steps=(1,1) selects=(0,2147483647)",
        "dims=(0,1) starts=(0,0) ends=(2) steps=(1,1)",
        "dims=(0,1) starts=(0,x) ends=(2,2) steps=(1,1)",
    ] {
        let text = file(&["(2,4)f32"], "Tensor.slice", &format!("$input=0 {params}"));
        assert!(lowered(&text).1, "{text}");
    }
}

/// Stored statistics are used only if those of the input are not.
#[test]
fn instance_norms_use_the_statistics_that_they_say() {
    let kinds = |text: &str| -> Vec<String> {
        let (graph, passed) = lowered(text);
        assert!(!passed, "{text}");
        graph.operations().iter().map(|operation| graph.operation_name(operation).to_owned()).collect()
    };
    let batch = |text: &str| kinds(text).iter().any(|kind| kind == "batch_normalization");
    let operands = ["(1,2,3)f32", "(2)f32", "(2)f32"];
    for (stats, wanted) in [("use_input_stats=False", true), ("use_input_stats=True", false), ("", false)] {
        let params = format!("$input=0 $running_mean=1 $running_var=2 eps=0.0 {stats}");
        let text = file(&operands, "F.instance_norm", &params);
        assert_eq!(batch(&text), wanted, "{text}");
        let params = format!("$input=0 eps=0.0 @running_mean=(2)f32 @running_var=(2)f32 {stats}");
        let text = file(&operands[..1], "F.instance_norm", &params);
        assert_eq!(batch(&text), wanted, "{text}");
    }
    let data = "eps=0.0 @running_mean=(2)f32 @running_var=(2)f32";
    assert!(batch(&file(&operands[..1], "nn.InstanceNorm1d", &format!("{data} track_running_stats=True"))));
    assert!(!batch(&file(&operands[..1], "nn.InstanceNorm1d", "eps=0.0 track_running_stats=False")));
    let text = file(&operands, "F.instance_norm", "$input=0 $running_mean=1 $running_var=2 eps=0.0");
    let ((shape, items), third) = (value(&text, &[&[1, 2, 3], &[2], &[2]]), 1.5f64.sqrt());
    assert_eq!(shape, [1, 2, 3]);
    let wanted = [-third, 0.0, third, -third, 0.0, third];
    assert!(items.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{items:?}");
    // Without statistics, there is nothing to use.
    assert!(lowered(&file(&operands[..1], "F.instance_norm", "$input=0 use_input_stats=False")).1);
}
