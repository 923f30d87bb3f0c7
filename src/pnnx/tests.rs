//! Property tests on generated expressions.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::evaluate::Value;
use super::fold::no_extents;
use super::graph::Form;
use super::model::Model;
use super::number::{Meaning, Number};
use super::parse::{Reading, parse};
use super::table::{Counterpart, Op};
use super::tree::Expression;
use crate::Options;
use crate::eval::Evaluator;
use crate::graph::Graph;
use crate::source::FileId;
use crate::tensor::Tensor;
use crate::tensor::usage::Usage;

fn read(text: &str) -> Expression {
    let parsed = parse(text, (FileId::default(), 0), Reading::default());
    parsed.unwrap_or_else(|found| panic!("{text}: {found}")).0.expression
}

/// Expressions of the selected operations, with operands, integers and floats.
fn expressions(passes: fn(Op) -> bool) -> impl Strategy<Value = String> {
    let ops: Vec<Op> = Op::all().filter(|op| passes(*op)).collect();
    let leaf = prop_oneof![
        4 => (0u32..3).prop_map(|k| format!("@{k}")),
        1 => (-4i32..5).prop_map(|k| k.to_string()),
        1 => (-16i32..17).prop_map(|k| format!("{:?}", f64::from(k) / 8.0)),
    ];
    leaf.prop_recursive(6, 40, 2, move |inner| {
        (proptest::sample::select(ops.clone()), inner.clone(), inner).prop_map(|(op, x, y)| match op.row().arity.0 {
            1 => format!("{}({x})", op.row().name),
            _ => format!("{}({x},{y})", op.row().name),
        })
    })
}

fn any_operation(op: Op) -> bool {
    !matches!(op.meaning(), Meaning::Size)
}

/// Operations with the same operation in NNEF, except for `round`, which rounds halves differently.
fn has_one(op: Op) -> bool {
    matches!(op.row().nnef, Counterpart::Same(_)) && op.row().name != "round"
}

/// Continuous operations that NNEF can express: at a discontinuity, a template may have another value.
fn is_smooth(op: Op) -> bool {
    let steps = ["round", "floor", "ceil", "trunc", "sign", "floor_divide", "remainder", "fmod", "tan"];
    matches!(op.row().nnef, Counterpart::Same(_) | Counterpart::Template(_)) && !steps.contains(&op.row().name)
}

fn operands() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((-16i32..17).prop_map(|k| f64::from(k) / 8.0), 3)
}

/// The value, if there is one.
fn value(expression: &Expression, operands: &[f64]) -> Option<f64> {
    let operands: Vec<Arc<Tensor>> =
        operands.iter().map(|x| Arc::new(Tensor::scalars(&[1], vec![*x]).unwrap())).collect();
    match expression.evaluate(&operands, &Usage::new(1 << 30, 1 << 30)).ok()? {
        Value::Tensor(tensor) => Some(tensor.to_scalars()[0]),
        Value::Number(Number::Float(float)) => Some(float),
        Value::Number(other) => Some(other.float()),
        Value::List(_) => None,
    }
}

fn flat(expression: &Expression) -> Option<Graph> {
    let form = Form { arity: Some(3), share: true, max_ops: 10_000, ..Form::default() };
    Graph::of_expression(expression, FileId::default(), &form).ok()
}

fn computed(graph: &Graph, operands: &[f64]) -> Option<f64> {
    let names = graph.inputs().iter().map(|input| graph.tensor_name(*input));
    let inputs: Vec<(String, Tensor)> =
        names.zip(operands).map(|(name, x)| (name, Tensor::scalars(&[1], vec![*x]).unwrap())).collect();
    let found = Evaluator::default().run(graph, &inputs, &BTreeMap::new()).ok()?;
    Some(found.outputs[0].1.to_scalars()[0])
}

fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-7 * a.abs().max(b.abs()).max(1e-3)
}

/// The names of the operations of a graph, sorted.
fn kinds(graph: &Graph) -> Vec<String> {
    let mut names: Vec<String> =
        graph.operations().iter().map(|operation| graph.operation_name(operation).to_owned()).collect();
    names.sort();
    names
}

proptest! {
    #[test]
    fn printed_expressions_read_back(text in expressions(any_operation)) {
        let expression = read(&text);
        let printed = expression.canonical();
        let again = read(&printed);
        prop_assert_eq!(&again.canonical(), &printed);
        prop_assert_eq!(again.rpn().collect::<Vec<_>>(), expression.rpn().collect::<Vec<_>>());
        let renumbered = expression.renumbered();
        prop_assert_eq!(renumbered.argument_order(), (0..expression.argument_order().len() as u64).collect::<Vec<_>>());
        prop_assert!(expression.classes().1 <= expression.operations());
    }

    #[test]
    fn brackets_can_be_left_out(text in expressions(any_operation)) {
        let bare = text.replace(['(', ')'], ",");
        let reading = Reading { compat: true, ..Reading::default() };
        let (parsed, _) = parse(&bare, (FileId::default(), 0), reading).unwrap();
        prop_assert_eq!(parsed.expression.canonical(), read(&text).canonical());
    }

    #[test]
    fn folding_keeps_the_value(text in expressions(any_operation), x in operands()) {
        let expression = read(&text);
        let folded = expression.folded(&no_extents);
        prop_assert_eq!(&folded.folded(&no_extents).canonical(), &folded.canonical());
        let (before, after) = (value(&expression, &x), value(&folded, &x));
        let equal = match (before, after) {
            (Some(before), Some(after)) => same(before, after),
            (before, after) => before.is_none() && after.is_none(),
        };
        prop_assert!(equal, "{text} -> {}: {before:?}, {after:?}", folded.canonical());
    }

    #[test]
    fn expansion_keeps_the_value(text in expressions(is_smooth), x in operands()) {
        let expression = read(&text);
        let Some(graph) = flat(&expression) else { return Ok(()) };
        let (Some(wanted), Some(found)) = (value(&expression, &x), computed(&graph, &x)) else { return Ok(()) };
        // For infinities and NaN, quotients in templates may differ from the functions.
        if wanted.is_finite() && found.is_finite() && wanted.abs() < 1e6 {
            prop_assert!(same(wanted, found), "{text} at {x:?} is {wanted}, its graph computes {found}");
        }
    }

    #[test]
    fn fused_graphs_expand_to_themselves(text in expressions(has_one), x in operands()) {
        let expression = read(&text);
        let Some(graph) = flat(&expression) else { return Ok(()) };
        // A single number becomes stored data, and a single operand a copy; neither is an expression.
        prop_assume!(!kinds(&graph).iter().any(|kind| ["constant", "copy"].contains(&kind.as_str())));
        let model = Model::of_graph(&graph);
        let (again, _, _) = model.graph(FileId::default(), &Options::default()).unwrap();
        prop_assert_eq!(kinds(&again), kinds(&graph), "{}", model.print());
        if let (Some(before), Some(after)) = (computed(&graph, &x), computed(&again, &x)) {
            prop_assert!(same(before, after));
        }
        // The file is read back unchanged.
        let (read, _) = Model::read(&model.print(), FileId::default(), true).unwrap();
        prop_assert_eq!(read.print(), model.print());
    }

    #[test]
    fn files_without_expressions_compute_the_same(text in expressions(is_smooth), x in operands()) {
        let file = format!(
            "7767517\n5 4\npnnx.Input a 0 1 0 #0=(1)f32\npnnx.Input b 0 1 1 #1=(1)f32\npnnx.Input c 0 1 2 #2=(1)f32\n\
             pnnx.Expression e 3 1 0 1 2 3 expr={text}\npnnx.Output o 1 0 3\n"
        );
        let (model, _) = Model::read(&file, FileId::default(), true).unwrap();
        let options = Options::default();
        if let Ok((flattened, _)) = model.flattened(FileId::default(), &options) {
            let printed = flattened.print();
            prop_assert!(!printed.contains("pnnx.Expression"), "{printed}");
            prop_assert!(Model::read(&printed, FileId::default(), true).is_ok(), "{printed}");
        }
        let Ok((graph, _, _)) = model.graph(FileId::default(), &options) else { return Ok(()) };
        if let (Some(wanted), Some(found)) = (value(&read(&text), &x), computed(&graph, &x))
            && wanted.is_finite()
            && found.is_finite()
            && wanted.abs() < 1e6
        {
            prop_assert!(same(wanted, found));
        }
    }

    #[test]
    fn nothing_panics(text in "[@%a-z0-9.,()\\[\\]+ j-]{0,40}", mutation in any::<u8>()) {
        for reading in [Reading::default(), Reading { compat: true, arity: Some(2), ..Reading::default() }] {
            if let Ok((parsed, _)) = parse(&text, (FileId::default(), 0), reading) {
                parsed.expression.infix();
                parsed.expression.folded(&no_extents).canonical();
            }
        }
        let file = format!("7767517\n1 1\npnnx.Input {text} 0 1 0 #{mutation}={text}");
        let _ = Model::read(&file, FileId::default(), false).map(|(model, _)| model.graph(FileId::default(), &Options::default()));
    }
}
