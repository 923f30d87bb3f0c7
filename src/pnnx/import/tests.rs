use std::collections::BTreeMap;

use crate::diagnostics::{Code, Diagnostics};
use crate::eval::Evaluator;
use crate::graph::{Graph, TensorId};
use crate::pnnx::model::PnnxModel;
use crate::source::FileId;
use crate::{Lower, Options};

fn model(text: &str) -> PnnxModel {
    PnnxModel::read(text, FileId::default(), true).unwrap_or_else(|found| panic!("{text}{found}")).0
}

/// Outputs that are numbers, also as items of a tuple, become constants of rank 0.
#[test]
fn numbers_are_outputs() {
    let text = "7767517\n5 4\npnnx.Expression a 0 1 0 expr=mul(2.0,1.5)\npnnx.Expression b 0 1 1 expr=-4\n\
        prim::TupleConstruct c 2 1 0 1 2\npnnx.Expression d 0 1 3 expr=7\npnnx.Output out 3 0 2 3 3\n";
    let (graph, _, _) = model(text).graph(FileId::default(), &Options::default()).unwrap();
    let input = graph.inputs().first().map(|input| graph.tensor_name(*input)).unwrap();
    let input = (input, crate::tensor::Tensor::scalars(&[1], vec![0.0]).unwrap());
    let found = Evaluator::default().run(&graph, &[input], &BTreeMap::new());
    let found = found.unwrap_or_else(|error| panic!("{}", error.message));
    let items: Vec<_> =
        found.outputs.iter().map(|(_, tensor)| (tensor.shape().len(), tensor.to_scalars().to_vec())).collect();
    assert_eq!(items, [3.0, -4.0, 7.0, 7.0].map(|item| (0, vec![item])));
    let names: std::collections::BTreeSet<&String> = found.outputs.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 4);
}

/// Names that are words stay as they are, and outputs have them whatever they are computed from.
#[test]
fn names_are_those_of_the_file() {
    let text = "7767517\n7 6\npnnx.Input in0 0 1 in0 #in0=(2,3)f32\npnnx.Input b 0 1 5 #5=(2,3)i64\n\
        nn.Dropout d 1 1 in0 same p=0.5\npnnx.Expression e 2 1 in0 same y expr=add(@0,@1)\n\
        pnnx.Expression f 1 1 5 6 expr=and(@0,6)\ntorch.relu op 1 1 y op_y $input=y\n\
        pnnx.Output out 4 0 same y 6 op_y\n";
    let options = Options::default().with(|options| options.lower = Lower::All);
    let (graph, _, _) = model(text).graph(FileId::default(), &options).unwrap();
    let names = |tensors: &[TensorId]| tensors.iter().map(|tensor| graph.tensor_name(*tensor)).collect::<Vec<_>>();
    assert_eq!(names(graph.inputs()), ["in0", "v_5"]);
    assert_eq!(names(graph.outputs()), ["same", "y", "v_6", "op_y"]);
    let none = "7767517\n1 1\npnnx.Input in0 0 1 in0 #in0=(2,3)f32\n";
    let found = model(none).graph(FileId::default(), &options).err();
    assert!(found.is_some_and(|found| found.iter().any(|found| found.code == Code::PnnxOperand)));
}

/// A module with two parents has its weights as operands, too.
#[test]
fn weights_that_are_operands_are_those_of_the_module() {
    let text = |own: &str| {
        format!(
            "7767517\n5 4\npnnx.Input in 0 1 0 #0=(1,2)f32\npnnx.Attribute w 0 1 1 @data=(2,2)f32\n\
             pnnx.Attribute b 0 1 2 @data=(2)f32\nnn.Linear l 3 1 1 2 0 3 bias=True in_features=2 out_features=2 {own}\n\
             pnnx.Output out 1 0 3\n"
        )
    };
    let options = Options::default().with(|options| options.lower = Lower::All);
    for (own, passed) in [("@weight=(2,2)f32 @bias=(2)f32", false), ("@weight=(2,2)f32 @bias=(1,2)f32", true)] {
        let (_, _, found) = model(&text(own)).graph(FileId::default(), &options).unwrap();
        assert_eq!(found.iter().any(|found| found.code == Code::PnnxPassed), passed, "{own}");
    }
}

/// An array of NNEF has items of one type.
#[test]
fn lists_of_several_types_are_texts() {
    let text = "7767517\n4 3\npnnx.Input in0 0 1 0 #0=(2,3)f32\nprim::ListConstruct l 2 1 0 0 1\n\
        vendor.op v 2 1 0 1 2 s=(1,a,1) t=(1,2.5) u=(a,b)\npnnx.Output out0 1 0 2\n";
    let (graph, _, _) = model(text).graph(FileId::default(), &Options::default()).unwrap();
    let mut written = Vec::new();
    graph.write_nnef(&mut written).unwrap();
    let written = String::from_utf8(written).unwrap();
    assert!(written.contains("s = '(1,a,1)', t = [1.0, 2.5], u = ['a', 'b']"), "{written}");
}

#[test]
fn literals_that_are_no_finite_numbers_are_no_outputs() {
    for literal in ["inf", "2j", "None", "nan"] {
        let text = format!("7767517\n2 1\npnnx.Expression a 0 1 0 expr={literal}\npnnx.Output out 1 0 0\n");
        let found = model(&text).graph(FileId::default(), &Options::default()).unwrap_err();
        let codes: Vec<Code> = found.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::ExpressionCounterpart], "{literal}");
    }
}

fn graph(text: &str) -> Result<(Graph, Diagnostics), Diagnostics> {
    let options = Options::default().with(|options| options.lower = Lower::All);
    model(text).graph(FileId::default(), &options).map(|(graph, _, found)| (graph, found))
}

fn codes(text: &str) -> Vec<Code> {
    match graph(text) {
        Ok((_, found)) | Err(found) => found.iter().map(|found| found.code).collect(),
    }
}

/// A file with operators between an input of shape `[2, 3]` and an output.
fn file(operators: &[String], output: &str) -> String {
    let results: usize = operators
        .iter()
        .map(|line| line.split_ascii_whitespace().nth(3).and_then(|count| count.parse::<usize>().ok()).unwrap_or(0))
        .sum();
    let (count, lines) = (operators.len() + 2, operators.join("\n"));
    let input = "pnnx.Input in 0 1 0 #0=(2,3)f32";
    format!("7767517\n{count} {}\n{input}\n{lines}\npnnx.Output out 1 0 {output}\n", results + 1)
}

/// A list that is the whole expression stays what it is, and is not a `None`, which would be replaced by defaults.
#[test]
fn lists_are_operands_and_results_of_expressions() {
    let with = |expression: &str, dim: &str| {
        let lines = [
            "pnnx.Expression e 0 1 1 expr=1".to_owned(),
            "prim::ListConstruct l 1 1 1 2".to_owned(),
            format!("pnnx.Expression f 1 1 2 3 expr={expression}"),
            format!("torch.sum s 2 1 0 {dim} 4 $input=0 $dim={dim}"),
        ];
        file(&lines, "4")
    };
    for text in [with("@0", "3"), with("@0", "2"), with("[1]", "3")] {
        let (graph, found) = graph(&text).unwrap();
        assert!(found.is_empty(), "{text}");
        let sum = graph.shape(graph.outputs[0]).map(|shape| format!("{shape:?}"));
        assert_eq!(sum.as_deref(), Some("[2]"), "{text}");
    }
    for expression in ["neg(@0)", "[@0]"] {
        assert_eq!(codes(&with(expression, "3")), [Code::PnnxPassed, Code::PnnxPassed], "{expression}");
    }
}

/// Deep lists end in an error, and so do lists with too many items, although the file is short.
#[test]
fn lists_are_limited() {
    let deep = |count: usize| {
        let lines: Vec<String> = (0..count).map(|i| format!("prim::ListConstruct l{i} 1 1 {i} {}", i + 1)).collect();
        file(&lines, &count.to_string())
    };
    assert!(graph(&deep(64)).is_ok());
    for count in [65, 50_000] {
        assert_eq!(codes(&deep(count)), [Code::TooDeep]);
    }
    let text = format!("{}@0{}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(codes(&file(&[format!("pnnx.Expression e 1 1 0 1 expr={text}")], "1")), [Code::TooDeep]);
    let doubled: Vec<String> = (0..40).map(|i| format!("prim::ListConstruct l{i} 2 1 {i} {i} {}", i + 1)).collect();
    assert_eq!(codes(&file(&doubled, "40")), [Code::LengthBudget]);
    let operator = "foo.Bar r 1 1 40 41".to_owned();
    assert_eq!(codes(&file(&[doubled, vec![operator]].concat(), "41")), [Code::LengthBudget]);
}

#[test]
fn types_without_a_counterpart_are_refused() {
    let input = |element: &str| {
        format!("7767517\n3 2\npnnx.Input in 0 1 0 #0=(2){element}\nF.relu r 1 1 0 1\npnnx.Output out 1 0 1\n")
    };
    for element in ["f32", "f64", "f16", "bf16", "i64", "u8", "bool", "null"] {
        assert_eq!(codes(&input(element)), [], "{element}");
    }
    // Complex numbers are pairs.
    assert_eq!(codes(&input("c64")), [Code::PnnxComplex, Code::PnnxPassed]);
    for element in ["i128", "f8"] {
        assert_eq!(codes(&input(element)), [Code::PnnxShape], "{element}");
        assert!(graph(&input(element)).is_err(), "{element}");
        let data = format!("7767517\n2 1\npnnx.Attribute a 0 1 0 @data=(2){element}\npnnx.Output out 1 0 0\n");
        assert_eq!(codes(&data), [Code::PnnxData], "{element}");
    }
    for data in ["", "@data=(2)f32 @more=(2)f32"] {
        let data = format!("7767517\n2 1\npnnx.Attribute a 0 1 0 {data}\npnnx.Output out 1 0 0\n");
        assert_eq!(codes(&data), [Code::PnnxData], "{data}");
    }
}

/// Inputs with extents that are not integers are refused.
#[test]
fn inputs_have_known_extents() {
    let text = "7767517\n3 2\npnnx.Input in 0 1 0 #0=(?,3)f32\nF.relu r 1 1 0 1\npnnx.Output out 1 0 1\n";
    let with = |shape: &[&str]| {
        let shape = shape.iter().map(|extent| extent.parse().unwrap()).collect();
        let options = Options::default().with(|options| options.shapes.inputs = vec![("v_0".to_owned(), shape)]);
        let found = model(text).graph(FileId::default(), &options).map(drop);
        found.err().map(|found| found.iter().map(|found| found.code).collect::<Vec<_>>())
    };
    assert_eq!(with(&["2", "3"]), None);
    assert_eq!(with(&["S", "3"]), Some(vec![Code::OpenExtent]));
    assert_eq!(codes(text), [Code::OpenExtent]);
}

/// Names that become equal stay distinct: those of data, of arguments, and of tensors.
#[test]
fn nothing_is_lost_by_equal_names() {
    let text = file(
        &[
            "pnnx.Attribute a:b 0 1 1 @data=(2,3)f32".to_owned(),
            "pnnx.Attribute A_b 0 1 2 @data=(2,3)f32".to_owned(),
            "foo.Bar r 2 1 1 2 3 $input=2 a.b=7 a_b=8 w=True flag=False @w=(1)f32".to_owned(),
        ],
        "3",
    );
    let (graph, members, _) = model(&text).graph(FileId::default(), &Options::default()).unwrap();
    let mut labels: Vec<(&str, &str)> = members.iter().map(|(label, (member, _))| (&label[..], &member[..])).collect();
    labels.sort_unstable();
    assert_eq!(labels, [("A_b.data_2", "A_b.data"), ("a_b.data", "a:b.data"), ("r.w", "r.w")]);
    let operation = graph.operations.last().unwrap();
    let keys: Vec<String> = graph.named_arguments(operation).filter_map(|(key, _)| key.map(str::to_owned)).collect();
    assert_eq!(keys, ["input", "input_2", "w", "a_b", "a_b_2", "flag"]);
}

/// Many equal names, and many names of operands, take time in proportion.
#[test]
fn many_names_are_read_at_once() {
    let signs = |i: usize| (0..15).map(|bit| if i >> bit & 1 == 0 { '~' } else { '!' }).collect::<String>();
    let count = 20_000;
    let lines: Vec<String> = (0..count).map(|i| format!("pnnx.Attribute a{i} 0 1 {} @data=(1)f32", signs(i))).collect();
    assert!(graph(&file(&lines, "0")).is_ok());
    let list = |item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(" ");
    let operands = list(&|i| signs(i));
    let arguments = list(&|i| format!("$k{i}={}", signs(count - 1 - i)));
    let operator = format!("foo.Bar r {count} 1 {operands} 1 {arguments}");
    let text = file(&[lines, vec![operator]].concat(), "1");
    let (_, members, _) = model(&text).graph(FileId::default(), &Options::default()).unwrap();
    assert_eq!(members.len(), count);
}
