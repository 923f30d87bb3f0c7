use std::collections::BTreeMap;

use crate::Options;
use crate::diagnostics::Code;
use crate::eval::Evaluator;
use crate::pnnx::model::Model;
use crate::source::FileId;

fn model(text: &str) -> Model {
    Model::read(text, FileId::default(), true).unwrap_or_else(|found| panic!("{text}{found}")).0
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

#[test]
fn literals_that_are_no_finite_numbers_are_no_outputs() {
    for literal in ["inf", "2j", "None", "nan"] {
        let text = format!("7767517\n2 1\npnnx.Expression a 0 1 0 expr={literal}\npnnx.Output out 1 0 0\n");
        let found = model(&text).graph(FileId::default(), &Options::default()).unwrap_err();
        let codes: Vec<Code> = found.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::ExpressionCounterpart], "{literal}");
    }
}
