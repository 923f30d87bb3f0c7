//! Property tests on generated expressions.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::evaluate::ExpressionValue;
use super::expression_table::{Counterpart, Op};
use super::fold::no_extents;
use super::graph::ConversionOptions;
use super::model::PnnxModel;
use super::number::{Meaning, Number, keeps_integer_part};
use super::parse::{Reading, parse};
use super::tree::Expression;
use crate::Options;
use crate::eval::Evaluator;
use crate::graph::Graph;
use crate::source::FileId;
use crate::tensor::Tensor;
use crate::tensor::kernels::EDGES;
use crate::tensor::usage::Usage;
use crate::tests::{matching, near};

fn read(text: &str) -> Expression {
    let parsed = parse(text, FileId::default(), 0, Reading::default());
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

/// Operations with the same operation in NNEF.
fn has_one(op: Op) -> bool {
    matches!(op.row().nnef, Counterpart::Same(_))
}

/// Continuous operations that NNEF can express: at a discontinuity, a template may have another value.
fn is_smooth(op: Op) -> bool {
    let steps = ["round", "floor", "ceil", "trunc", "sign", "floor_divide", "remainder", "fmod", "tan"];
    let has_form = matches!(op.row().nnef, Counterpart::Same(_) | Counterpart::Template(_));
    has_form && op.bound() == 0.0 && !steps.contains(&op.row().name)
}

fn operands() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((-16i32..17).prop_map(|k| f64::from(k) / 8.0), 3)
}

/// The value, if there is one.
fn value(expression: &Expression, operands: &[f64]) -> Option<f64> {
    Some(values(expression, &operands.iter().map(|x| vec![*x]).collect::<Vec<_>>())?[0])
}

/// The values on operands of several items, if there are any.
fn values(expression: &Expression, operands: &[Vec<f64>]) -> Option<Vec<f64>> {
    let operands: Vec<Arc<Tensor>> =
        operands.iter().map(|items| Arc::new(Tensor::scalars(&[items.len()], items.clone()).unwrap())).collect();
    let number = match expression.evaluate(&operands, &Usage::new(1 << 30, 1 << 30, 8)).ok()? {
        ExpressionValue::Tensor(tensor) => return Some(tensor.to_scalars()),
        ExpressionValue::Number(Number::Float(float)) => float,
        ExpressionValue::Number(other) => other.float(),
        ExpressionValue::List(_) => return None,
    };
    Some(vec![number; operands[0].shape()[0]])
}

/// The pairs of an edge value and another one, or 1, as two columns.
fn edges(two: bool) -> [Vec<f64>; 2] {
    let others = if two { EDGES } else { &[1.0] };
    let pairs = EDGES.iter().flat_map(|x| others.iter().map(move |y| (*x, *y)));
    let (x, y) = pairs.unzip();
    [x, y]
}

fn flat(expression: &Expression) -> Option<Graph> {
    let form = ConversionOptions {
        arity: Some(3),
        share: true,
        strict: true,
        max_ops: 10_000,
        ..ConversionOptions::default()
    };
    Graph::of_expression(expression, FileId::default(), &form).ok()
}

fn computed(graph: &Graph, operands: &[f64]) -> Option<f64> {
    Some(all_computed(graph, &operands.iter().map(|x| vec![*x]).collect::<Vec<_>>())?[0])
}

/// What a graph computes of operands of several items.
fn all_computed(graph: &Graph, operands: &[Vec<f64>]) -> Option<Vec<f64>> {
    let names = graph.inputs().iter().map(|input| graph.tensor_name(*input));
    let tensor = |items: &Vec<f64>| Tensor::scalars(&[items.len()], items.clone()).unwrap();
    let inputs: Vec<(String, Tensor)> = names.zip(operands).map(|(name, items)| (name, tensor(items))).collect();
    let found = Evaluator::default().run(graph, &inputs, &BTreeMap::new()).ok()?;
    Some(found.outputs[0].1.to_scalars())
}

fn same(a: f64, b: f64) -> bool {
    near(a, b, 1e-7 * a.abs().max(b.abs()).max(1e-3))
}

/// The value of an expression, and what a graph computes. For infinities and NaN, quotients in templates may differ from the
/// functions: such a case is rejected, and another one made.
fn finite(expression: &Expression, graph: &Graph, operands: &[f64]) -> Result<(f64, f64), TestCaseError> {
    let is_finite = |(a, b): &(f64, f64)| a.is_finite() && b.is_finite() && a.abs() < 1e6;
    let pair = value(expression, operands).zip(computed(graph, operands));
    pair.filter(is_finite).ok_or_else(|| TestCaseError::reject("no finite numbers"))
}

/// The names of the operations of a graph, sorted.
fn kinds(graph: &Graph) -> Vec<String> {
    let mut names: Vec<String> =
        graph.operations.iter().map(|operation| graph.operation_name(operation).to_owned()).collect();
    names.sort();
    names
}

/// Whether a result of one operand is the same, up to the rounding of a few steps, with the sign of zeros.
fn exactly(a: f64, b: f64) -> bool {
    let zero = |x: f64| x == 0.0;
    match zero(a) || zero(b) {
        true => a == b && a.is_sign_negative() == b.is_sign_negative(),
        false => near(a, b, 1e-12 * a.abs().max(b.abs())),
    }
}

/// Whether a result of two operands is the same, up to the rounding of the product of a divisor and an integer. Where
/// the rounded quotient has another integer part, the results differ by one divisor or, of quotients, by one; where it
/// overflows, the result is not finite.
fn nearly(wanted: f64, found: f64, [x, y]: [f64; 2]) -> bool {
    if wanted == found || exactly(wanted, found) {
        return true;
    }
    if !x.is_finite() || !y.is_finite() || y == 0.0 {
        return false;
    }
    let quotient = x / y;
    if quotient.is_infinite() {
        return !found.is_finite();
    }
    // Of the products of both integers next to the quotient, which operations choose from, one may overflow.
    let overflows = [quotient.floor() * y, quotient.trunc() * y].iter().any(|product| product.is_infinite());
    if overflows && !found.is_finite() {
        return true;
    }
    let rounding = x.abs() * f64::EPSILON;
    let step = match keeps_integer_part(x, y) {
        true => 0.0,
        false => y.abs().max(1.0).max(wanted.abs() * f64::EPSILON),
    };
    near(found, wanted, rounding + step)
}

/// Files of one expression of one or two operands with `n` items, as pnnx writes them.
fn file(text: &str, n: usize) -> PnnxModel {
    let text = format!(
        "7767517\n4 3\npnnx.Input a 0 1 0 #0=({n})f32\npnnx.Input b 0 1 1 #1=({n})f32\n\
         pnnx.Expression e 2 1 0 1 2 expr={text} #2=({n})f32\npnnx.Output o 1 0 2\n"
    );
    PnnxModel::read(&text, FileId::default(), true).unwrap_or_else(|found| panic!("{text}{found}")).0
}

/// The ways of an expression of operands with `n` items to a flat graph: from its file, from the file with one expression for each operation, and
/// from the file that is written of the flat graph.
fn ways(text: &str, n: usize) -> Vec<Graph> {
    let (options, id) = (Options::default().with(|options| options.strict = true), FileId::default());
    let model = file(text, n);
    let again = |model: &PnnxModel| {
        let printed = model.print();
        let read = PnnxModel::read(&printed, id, true).unwrap_or_else(|found| panic!("{printed}{found}")).0;
        let (graph, _, found) = read.graph(id, &options).unwrap_or_else(|found| panic!("{printed}{found}"));
        assert!(found.is_empty(), "{printed}{found}");
        graph
    };
    let direct = model.graph(id, &options).unwrap_or_else(|found| panic!("{text}: {found}")).0;
    let flattened = model.flattened(id, &options).unwrap_or_else(|found| panic!("{text}: {found}")).0;
    super::export::check(&direct).unwrap_or_else(|found| panic!("{text}: {found}"));
    let written = again(&PnnxModel::of_graph(&direct));
    vec![direct, again(&flattened), written]
}

/// Every operation that has a form in NNEF computes there what the expression computes, by every way.
#[test]
fn flat_graphs_compute_what_operations_mean() {
    let has_form = |op: &Op| matches!(op.row().nnef, Counterpart::Same(_) | Counterpart::Template(_));
    for op in Op::all().filter(has_form) {
        let name = op.row().name;
        let texts = match op.row().arity.0 {
            1 => vec![format!("{name}(@0)")],
            _ => vec![
                format!("{name}(@0,@1)"),
                format!("{name}(@0,2.5)"),
                format!("{name}(-2.5,@0)"),
                format!("{name}(@0,0)"),
            ],
        };
        for text in texts {
            let (expression, two) = (read(&text), text.contains("@1"));
            let [x, y] = edges(two);
            let wanted = values(&expression, &[x.clone(), y.clone()]).unwrap_or_else(|| panic!("{text}"));
            for (way, graph) in ways(&text, x.len()).iter().enumerate() {
                let found = all_computed(graph, &[x.clone(), y.clone()]).unwrap_or_else(|| panic!("{text}"));
                assert_eq!(found.len(), x.len(), "{text}");
                for (((x, y), wanted), found) in x.iter().zip(&y).zip(&wanted).zip(&found) {
                    let (x, y, wanted, found) = (*x, *y, *wanted, *found);
                    let same = match op.row().arity.0 {
                        _ if (wanted - found).abs() < op.bound() => true,
                        1 => exactly(wanted, found),
                        _ if two => nearly(wanted, found, [x, y]),
                        _ if text.contains("(-2.5") => nearly(wanted, found, [-2.5, x]),
                        _ => nearly(wanted, found, [x, if text.ends_with("2.5)") { 2.5 } else { 0.0 }]),
                    };
                    assert!(same, "{text} at {x}, {y} is {wanted}, way {way} gives {found}");
                }
            }
        }
    }
}

/// Operations that are written for others differ from them only where the dictionary says, and are one operation.
#[test]
fn operations_of_nnef_differ_where_rows_say() {
    let form = ConversionOptions { arity: Some(2), max_ops: 9, ..ConversionOptions::default() };
    let mut count = 0;
    for op in Op::all() {
        let Some(near) = op.row().row.and_then(|row| row.near) else { continue };
        let text =
            if op.row().arity.0 == 1 { format!("{}(@0)", op.row().name) } else { format!("{}(@0,@1)", op.row().name) };
        let expression = read(&text);
        let graph = Graph::of_expression(&expression, FileId::default(), &form).unwrap();
        assert!(
            kinds(&graph).contains(&near.name.to_owned()) && graph.operations.len() == 3,
            "{text}: {:?}",
            kinds(&graph)
        );
        count += 1;
        for (x, y) in EDGES.iter().flat_map(|x| EDGES.iter().map(move |y| (*x, *y))) {
            let (wanted, found) = (value(&expression, &[x, y]).unwrap(), computed(&graph, &[x, y]).unwrap());
            assert!(
                wanted == found || exactly(wanted, found) || (near.differs.at)(&[x, y]),
                "{text} at {x}, {y} is {wanted}, not {found}"
            );
        }
    }
    assert_eq!(count, 6);
}

/// Roots of what is never negative or -0 are the operation of NNEF, also in the file that is written; others are not.
#[test]
fn roots_of_positive_numbers_are_one_operation() {
    let plain = [
        "square(@0)",
        "add(mul(@0,@0),1e-5)",
        "abs(@0)",
        "exp(@0)",
        "pow(@0,2)",
        "pow(@0,-4.0)",
        "max(@0,0.5)",
        "div(abs(@0),square(@1))",
        "mul(abs(@0),add(exp(@1),0))",
        "reciprocal(sqrt(abs(@0)))",
        "rsqrt(square(@1))",
    ];
    let others = [
        "@0",
        "mul(@0,@1)",
        "neg(abs(@0))",
        "sub(abs(@0),abs(@1))",
        "add(abs(@0),-1.0)",
        "mul(abs(@0),-0.0)",
        "max(@0,0.0)",
        "pow(@0,3)",
        "max(@0,@1)",
    ];
    for (inner, is_plain) in plain.map(|text| (text, true)).into_iter().chain(others.map(|text| (text, false))) {
        for root in ["sqrt", "rsqrt"] {
            let text = format!("{root}({inner})");
            let (expression, [x, y]) = (read(&text), edges(true));
            let wanted = values(&expression, &[x.clone(), y.clone()]).unwrap_or_else(|| panic!("{text}"));
            for (way, graph) in ways(&text, x.len()).iter().enumerate() {
                let last = graph.operations.last().map(|operation| graph.operation_name(operation).to_owned());
                assert_eq!(last.as_deref() == Some(root), is_plain, "{text}, way {way}: {:?}", kinds(graph));
                let found = all_computed(graph, &[x.clone(), y.clone()]).unwrap_or_else(|| panic!("{text}"));
                assert_eq!(found.len(), x.len(), "{text}");
                for (((x, y), wanted), found) in x.iter().zip(&y).zip(&wanted).zip(&found) {
                    assert!(exactly(*wanted, *found), "{text} at {x}, {y} is {wanted}, way {way} gives {found}");
                }
            }
        }
    }
}

/// Operands that are integers or truth values keep their type where torch keeps it.
#[test]
fn types_of_operands_are_those_of_torch() {
    let run = |text: &str, element: &str, items: [Vec<i64>; 2]| {
        let file = format!(
            "7767517\n4 3\npnnx.Input a 0 1 0 #0=(4){element}\npnnx.Input b 0 1 1 #1=(4){element}\n\
             pnnx.Expression e 2 1 0 1 2 expr={text}\npnnx.Output o 1 0 2\n"
        );
        let (model, _) = PnnxModel::read(&file, FileId::default(), true).unwrap();
        let (graph, _, found) =
            model.graph(FileId::default(), &Options::default()).unwrap_or_else(|f| panic!("{file}{f}"));
        assert!(found.is_empty(), "{file}{found}");
        let tensor = |items: Vec<i64>| match element {
            "bool" => Tensor::logicals(&[4], items.iter().map(|item| *item != 0).collect()).unwrap(),
            _ => Tensor::integers(&[4], items).unwrap(),
        };
        let [a, b] = items.map(tensor);
        let inputs = [("v_0".to_owned(), a), ("v_1".to_owned(), b)];
        let found = Evaluator::default().run(&graph, &inputs, &BTreeMap::new());
        found.unwrap_or_else(|error| panic!("{file}{}", error.message)).outputs[0].1.to_scalars().to_vec()
    };
    let pairs = || [vec![7, -7, 7, -7], vec![2, 2, -2, 3]];
    assert_eq!(run("div(@0,@1)", "i64", pairs()), [3.5, -3.5, -3.5, -7.0 / 3.0]);
    assert_eq!(run("floor_divide(@0,@1)", "i64", pairs()), [3.0, -4.0, -4.0, -3.0]);
    assert_eq!(run("remainder(@0,@1)", "i64", pairs()), [1.0, 1.0, -1.0, 2.0]);
    assert_eq!(run("fmod(@0,@1)", "i64", pairs()), [1.0, -1.0, 1.0, -1.0]);
    assert_eq!(run("add(round(@0),max(@0,@1))", "i64", pairs()), [14.0, -5.0, 14.0, -4.0]);
    let truths = || [vec![0, 0, 1, 1], vec![0, 1, 0, 1]];
    assert_eq!(run("and(@0,@1)", "bool", truths()), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(run("or(@0,@1)", "bool", truths()), [0.0, 1.0, 1.0, 1.0]);
    assert_eq!(run("xor(@0,@1)", "bool", truths()), [0.0, 1.0, 1.0, 0.0]);
}

/// What pnnx writes and NNEF does not have is passed through with a warning, and read again.
#[test]
fn what_nnef_does_not_have_is_passed_through() {
    let with = |lines: &str, count: usize| {
        let text = format!(
            "7767517\n{} {}\npnnx.Input a 0 1 a #a=(2,3)f32\n{lines}pnnx.Output o 1 0 y\n",
            count + 2,
            count + 1
        );
        let (model, _) =
            PnnxModel::read(&text, FileId::default(), false).unwrap_or_else(|found| panic!("{text}{found}"));
        let (graph, _, found) =
            model.graph(FileId::default(), &Options::default()).unwrap_or_else(|f| panic!("{text}{f}"));
        super::export::check(&graph).unwrap();
        let printed = PnnxModel::of_graph(&graph).print();
        let again = PnnxModel::read(&printed, FileId::default(), false).unwrap().0;
        let again = again.graph(FileId::default(), &Options::default()).unwrap_or_else(|f| panic!("{printed}{f}")).0;
        (kinds(&graph), kinds(&again), found.iter().map(|found| found.code.as_str()).collect::<Vec<_>>())
    };
    for (lines, count, wanted, codes) in [
        ("pnnx.Expression e 1 1 a y expr=add(and(@0,1),1)\n", 1, "pnnx_Expression", vec!["E2226"]),
        ("foo.Bar f 1 1 a b\npnnx.Expression e 2 1 a b y expr=div(@0,@1)\n", 2, "pnnx_Expression", vec!["E2226"]),
        ("pnnx.Expression k 0 1 k expr=ij,jk->ik\ntorch.einsum e 2 1 k a y\n", 2, "torch_einsum", vec![]),
        ("pnnx.Expression k 0 1 k expr=0.9\naten::clamp_max c 2 1 a k y #y=(2,3)f32\n", 2, "aten__clamp_max", vec![]),
        ("pnnx.Expression e 1 1 a y expr=mul(@0,1.5-0.5j)\n", 1, "pnnx_Expression", vec!["E2226"]),
    ] {
        let (found, again, told) = with(lines, count);
        assert!(found.iter().any(|kind| kind == wanted), "{lines}{found:?}");
        assert_eq!(again, found, "{lines}");
        assert_eq!(told, codes, "{lines}");
    }
    let text = "7767517\n3 1\npnnx.Input a 0 1 a #a=(2)f32\naten.print p 1 0 a\npnnx.Output o 1 0 a\n";
    let (model, _) = PnnxModel::read(text, FileId::default(), true).unwrap();
    let (graph, _, found) = model.graph(FileId::default(), &Options::default()).unwrap();
    assert_eq!((kinds(&graph).len(), found.iter().count()), (2, 1));
}

/// ncnn begins its files with the same number.
#[test]
fn files_of_ncnn_are_told_by_their_name() {
    let text = "7767517\n2 2\nInput in0 0 1 in0\nReLU r 1 1 in0 out0 0=0.1\n";
    let found = PnnxModel::read(text, FileId::default(), false).unwrap_err();
    assert!(found.to_string().contains("ncnn"), "{found}");
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
        let (parsed, _) = parse(&bare, FileId::default(), 0, reading).unwrap();
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
        let Some(graph) = flat(&expression) else { return Err(TestCaseError::reject("no graph")) };
        let (wanted, found) = finite(&expression, &graph, &x)?;
        prop_assert!(same(wanted, found), "{text} at {x:?} is {wanted}, its graph computes {found}");
    }

    #[test]
    fn fused_graphs_expand_to_themselves(text in expressions(has_one), x in operands()) {
        let expression = read(&text);
        let Some(graph) = flat(&expression) else { return Err(TestCaseError::reject("no graph")) };
        // A single number becomes stored data, and a single operand a copy; neither is an expression.
        prop_assume!(!kinds(&graph).iter().any(|kind| ["constant", "copy"].contains(&kind.as_str())));
        let model = PnnxModel::of_graph(&graph);
        let (again, _, _) = model.graph(FileId::default(), &Options::default()).unwrap();
        prop_assert_eq!(kinds(&again), kinds(&graph), "{}", model.print());
        let (before, after) = (computed(&graph, &x), computed(&again, &x));
        let equal = before.zip(after).is_some_and(|(before, after)| same(before, after));
        prop_assert!(equal, "{before:?}, {after:?}: {}", model.print());
        // The file is read back unchanged.
        let (read, _) = PnnxModel::read(&model.print(), FileId::default(), true).unwrap();
        prop_assert_eq!(read.print(), model.print());
    }

    #[test]
    fn files_without_expressions_compute_the_same(text in expressions(is_smooth), x in operands()) {
        let file = format!(
            "7767517\n5 4\npnnx.Input a 0 1 0 #0=(1)f32\npnnx.Input b 0 1 1 #1=(1)f32\npnnx.Input c 0 1 2 #2=(1)f32\n\
             pnnx.Expression e 3 1 0 1 2 3 expr={text}\npnnx.Output o 1 0 3\n"
        );
        let (model, _) = PnnxModel::read(&file, FileId::default(), true).unwrap();
        let options = Options::default();
        let printed = model.flattened(FileId::default(), &options).unwrap().0.print();
        let expressions = printed.split_ascii_whitespace().filter_map(|word| word.strip_prefix("expr="));
        for expression in expressions {
            prop_assert!(read(expression).operations() <= 1, "{printed}");
        }
        let (flattened, _) = PnnxModel::read(&printed, FileId::default(), true).unwrap();
        let Ok((graph, _, _)) = model.graph(FileId::default(), &options) else {
            return Err(TestCaseError::reject("no graph"));
        };
        let (wanted, found) = finite(&read(&text), &graph, &x)?;
        prop_assert!(same(wanted, found));
        let (apart, _, _) = flattened.graph(FileId::default(), &options).unwrap();
        let apart = computed(&apart, &x);
        prop_assert!(apart.is_some_and(|apart| same(found, apart)), "{apart:?} instead of {found}: {printed}");
    }

    #[test]
    fn nothing_panics(
        random in matching("[@%a-z0-9.,()\\[\\]+ j-]{0,40}"),
        right in expressions(any_operation),
        at in any::<usize>(),
        other in matching("[@%a-z0-9.,()\\[\\]+j-]{0,3}"),
        mutation in any::<u8>(),
    ) {
        let read = |file: &str| {
            let _ = PnnxModel::read(file, FileId::default(), false)
                .map(|(model, _)| model.graph(FileId::default(), &Options::default()));
        };
        read(&format!("7767517\n1 1\npnnx.Input {random} 0 1 0 #{mutation}={random}"));
        let at = at % right.len();
        let near = format!("{}{other}{}", &right[..at], &right[at + 1..]);
        for text in [random, near, right] {
            for reading in [Reading::default(), Reading { compat: true, arity: Some(2), ..Reading::default() }] {
                if let Ok((parsed, _)) = parse(&text, FileId::default(), 0, reading) {
                    parsed.expression.infix();
                    parsed.expression.folded(&no_extents).canonical();
                }
            }
            let inputs = ["a", "b", "c"].iter().enumerate();
            let inputs: String = inputs.map(|(i, name)| format!("pnnx.Input {name} 0 1 {i} #{i}=(1)f32\n")).collect();
            let rest = format!("pnnx.Expression e 3 1 0 1 2 3 expr={text}\npnnx.Output o 1 0 3\n");
            read(&format!("7767517\n5 4\n{inputs}{rest}"));
        }
    }
}
