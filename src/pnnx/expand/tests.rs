use std::sync::Arc;

use super::*;
use crate::pnnx::evaluate::ExpressionValue as Found;
use crate::pnnx::number::keeps_integer_part;
use crate::pnnx::parse::{Reading, parse};
use crate::tensor::Tensor;
use crate::tensor::usage::Usage;
use crate::tests::near;

fn number(expression: &Expression, operands: &[f64]) -> f64 {
    let operands: Vec<Arc<Tensor>> =
        operands.iter().map(|x| Arc::new(Tensor::scalars(&[1], vec![*x]).unwrap())).collect();
    match expression.evaluate(&operands, &Usage::new(1 << 20, 1 << 20, 8)) {
        Ok(Found::Tensor(tensor)) => tensor.to_scalars()[0],
        other => panic!("{other:?}"),
    }
}

fn expression(text: &str) -> Expression {
    parse(text, FileId::default(), 0, Reading::default()).unwrap().0.expression
}

/// Every template is read, and agrees with its operation near 0 and for large operands.
#[test]
fn templates_mean_their_operations() {
    let samples = [1e-12, -1e-9, 0.0, 0.25, -0.5, 0.75, 1.0, -1.5, 2.0, -3.0, 7.5, 20.0, -20.0, 700.0, 1e6];
    for op in Op::all().filter(|op| matches!(op.row().nnef, Counterpart::Template(_))) {
        let name = op.row().name;
        let template = &template::of(op).unwrap_or_else(|| panic!("{name} has a malformed template")).expression;
        let two = op.row().arity.0 == 2;
        let own = expression(&format!("{name}({})", if two { "@0,@1" } else { "@0" }));
        for x in samples {
            for y in if two { &samples[..] } else { &samples[..1] } {
                let (wanted, found) = (number(&own, &[x, *y]), number(template, &[x, *y]));
                let close = near(found, wanted, 1e-9 * wanted.abs().max(x.abs()).max(1e-9) + op.bound());
                // A quotient may be rounded to the next integer.
                let next = two && !keeps_integer_part(x, *y) && near(found, wanted, y.abs().max(1.0));
                assert!(close || next, "{name}({x}, {y}) = {wanted}, its template gives {found}");
            }
        }
    }
}

/// Templates whose operations have only literals as operands.
#[test]
fn literals_in_templates_are_folded() {
    use crate::pnnx::graph::ConversionOptions;
    let kinds = |text: &str| -> Vec<String> {
        let (parsed, _) = parse(text, FileId::default(), 0, Reading::default()).unwrap();
        let form = ConversionOptions { max_ops: 100, ..ConversionOptions::default() };
        let graph = crate::graph::Graph::of_expression(&parsed.expression, FileId::default(), &form);
        let graph = graph.unwrap_or_else(|found| panic!("{text}: {found}"));
        assert_eq!(graph.tensor_name(graph.outputs()[0]), "y", "{text}");
        for operation in graph.operations.iter().skip(1) {
            let mut is_of_tensors = false;
            graph.each_operand_tensor(operation, |_| is_of_tensors = true);
            assert!(is_of_tensors, "{text}: `{}` of literals", graph.operation_name(operation));
        }
        graph.operations.iter().map(|operation| graph.operation_name(operation).to_owned()).collect()
    };
    // What is not chosen is not added.
    assert_eq!(kinds("atan2(@0,1)"), ["external", "div", "atan"]);
    assert_eq!(kinds("atan2(@0,0)"), ["external", "div", "ne", "sign", "mul", "select", "atan"]);
    assert_eq!(kinds("atan2(@0,-1.5)"), ["external", "rcp", "add", "lt", "select", "div", "atan", "sub"]);
    for text in ["atan2(1,@0)", "atan2(-0.5,@0)", "logaddexp(1,@0)", "logaddexp(@0,1)", "remainder(5,@0)"] {
        assert!(kinds(text).len() > 2, "{text}");
    }
}

#[test]
fn literals_in_templates_keep_the_value() {
    use crate::pnnx::graph::ConversionOptions;
    for text in ["atan2(@0,1)", "atan2(@0,0)", "atan2(@0,-2)", "atan2(1,@0)", "logaddexp(1,@0)", "logaddexp(@0,1)"] {
        let expression = parse(text, FileId::default(), 0, Reading::default()).unwrap().0.expression;
        let form = ConversionOptions { max_ops: 100, ..ConversionOptions::default() };
        let graph = crate::graph::Graph::of_expression(&expression, FileId::default(), &form).unwrap();
        for x in [-2.5, -1.0, 0.5, 1.0, 3.0] {
            let input = ("x0".to_owned(), Tensor::scalars(&[1], vec![x]).unwrap());
            let run = crate::eval::Evaluator::default().run(&graph, &[input], &std::collections::BTreeMap::new());
            let found = run.unwrap_or_else(|error| panic!("{text}: {}", error.message)).outputs[0].1.to_scalars()[0];
            let wanted = number(&expression, &[x]);
            assert!((found - wanted).abs() < 1e-12, "{text} at {x} is {wanted}, its graph computes {found}");
        }
    }
}

#[test]
fn a_negative_power_of_zero_is_kept() {
    for (text, wanted) in [("pow(0,-1)", "pow(0,-1)"), ("add(@0,pow(0,-2))", "add(@0,pow(0,-2))"), ("pow(2,-1)", "0.5")]
    {
        let expression = parse(text, FileId::default(), 0, Reading::default()).unwrap().0.expression;
        assert_eq!(expression.folded(&crate::pnnx::fold::no_extents).canonical(), wanted);
    }
}
