//! Every element-wise operation computes in the flat graph what it computes in the network, for edge values, too.

use std::collections::BTreeMap;

use super::floats;
use super::unrolling::{unroll_with, unrolled};
use crate::Options;
use crate::eval::Evaluator;
use crate::loops::network::Network;
use crate::loops::ops::{Attributes, Op};
use crate::tensor::kernels::EDGES;
use crate::tensor::{DType, Tensor};
use crate::tests::near;

fn same(a: f64, b: f64) -> bool {
    near(a, b, 1e-12 * a.abs().max(b.abs()))
}

/// The output of a network, and that of its flat graph.
fn both_ways(name: &str, net: &Network, inputs: &[(String, Tensor)]) -> (Tensor, Tensor) {
    let wanted = net.evaluate(inputs.to_vec(), &Options::default());
    let mut wanted = wanted.unwrap_or_else(|found| panic!("{name}: {}", super::told(&found)));
    let graph = unrolled(net, &Options::default());
    let found = Evaluator::default().run(&graph, inputs, &BTreeMap::new());
    let found = found.unwrap_or_else(|error| panic!("{name}: {}", error.message));
    (wanted.outputs.remove(0).1, Tensor::clone(&found.outputs[0].1))
}

/// The operation on tensors of all pairs of edge values.
fn compare(name: &str, attributes: &Attributes, constant: Option<f64>) {
    let op = Op::find(name).unwrap();
    let (x, y): (Vec<f64>, Vec<f64>) = EDGES.iter().flat_map(|x| EDGES.iter().map(|y| (*x, *y))).unzip();
    let shape = [x.len()];
    let mut net = Network::new("law");
    let a = net.input("a", DType::Float64, &[x.len() as i64]);
    let mut inputs = vec![("a".to_owned(), Tensor::scalars(&shape, x.clone()).unwrap())];
    let mut operands = vec![a];
    if op.spec().arity.0 == 2 {
        match constant {
            Some(number) => operands.push(net.constant("c", Tensor::scalars(&[], vec![number]).unwrap())),
            None => {
                operands.push(net.input("b", DType::Float64, &[y.len() as i64]));
                inputs.push(("b".to_owned(), Tensor::scalars(&shape, y.clone()).unwrap()));
            }
        }
    }
    for swapped in [false, true] {
        let mut net = net.clone();
        if swapped {
            operands.reverse();
        }
        let result = net.operation_with("r", op, &operands, attributes.clone());
        net.mark_output(result);
        let (wanted, found) = both_ways(name, &net, &inputs);
        let (wanted, found) = (floats(&wanted), floats(&found));
        for (i, (wanted, found)) in wanted.into_iter().zip(found).enumerate() {
            assert!(
                same(wanted, found),
                "{name} {attributes:?} {constant:?} at {}, {}: {wanted}, not {found}",
                x[i],
                y[i]
            );
        }
    }
}

#[test]
fn operations_of_floats_keep_their_numbers() {
    let logical = ["not", "logical_not", "and", "logical_and", "or", "logical_or", "xor", "logical_xor"];
    let mut count = 0;
    for name in Op::names().filter(|name| !logical.contains(name)) {
        let op = Op::find(name).unwrap();
        let by_item = op.spec().attributes.is_empty() && op.spec().arity.1 <= 2;
        let other = ["matmul", "matrix_multiply", "gather", "reshape", "shuffle", "cast"].contains(&name);
        if !by_item || other {
            continue;
        }
        count += 1;
        compare(name, &Attributes::default(), None);
        for constant in [0.0, -2.5, 1e300] {
            compare(name, &Attributes::default(), Some(constant));
        }
    }
    assert!(count > 50, "{count}");
    for (low, high) in [(Some(-1.0), Some(2.0)), (Some(0.0), None), (None, Some(0.0)), (Some(2.0), Some(-1.0))] {
        compare("clip", &Attributes { low, high, ..Attributes::default() }, None);
    }
    compare("leaky_relu", &Attributes { alpha: Some(0.5), ..Attributes::default() }, None);
    compare("softmax", &Attributes { axis: Some(0), ..Attributes::default() }, None);
    for name in ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "argmax", "argmin"] {
        compare(name, &Attributes { axis: Some(0), ..Attributes::default() }, None);
    }
}

/// What [`operations_of_floats_keep_their_numbers`] does not try: an operation, its operands, and attributes.
type Case = (&'static str, &'static [(DType, &'static [usize])], fn(&mut Attributes));

const F: DType = DType::Float64;
const B: DType = DType::Bool;

/// Sets nothing.
const PLAIN: fn(&mut Attributes) = |_| {};

const CASES: &[Case] = &[
    ("identity", &[(F, &[3])], PLAIN),
    ("not", &[(B, &[2, 2])], PLAIN),
    ("and", &[(B, &[2, 2]), (B, &[2])], PLAIN),
    ("or", &[(B, &[2]), (B, &[2, 2])], PLAIN),
    ("xor", &[(B, &[2, 2]), (B, &[2, 1])], PLAIN),
    ("select", &[(B, &[2, 1]), (F, &[2, 3]), (F, &[3])], PLAIN),
    ("matmul", &[(F, &[2, 3]), (F, &[3, 4])], PLAIN),
    ("matmul", &[(F, &[3]), (F, &[2, 3, 4])], PLAIN),
    ("matmul", &[(F, &[3, 2]), (F, &[4, 3])], |to| (to.transpose_a, to.transpose_b) = (true, true)),
    ("reduce_any", &[(B, &[2, 3])], |to| to.axis = Some(-1)),
    ("reduce_all", &[(B, &[2, 3])], |to| (to.axis, to.keep_dims) = (Some(0), true)),
    ("reduce_sum", &[(F, &[2, 3, 1])], |to| to.axes = Some(vec![2, 0])),
    ("argmax", &[(F, &[4, 3])], |to| to.axis = Some(1)),
    ("softmax", &[(F, &[2, 3])], |to| to.axis = Some(-1)),
    ("reshape", &[(F, &[2, 6])], |to| to.shape = Some(vec![3, -1])),
    ("transpose", &[(F, &[2, 3, 4])], |to| to.axes = Some(vec![2, 0, 1])),
    ("squeeze", &[(F, &[1, 3, 1])], |to| to.axes = Some(vec![-1])),
    ("unsqueeze", &[(F, &[3])], |to| to.axes = Some(vec![0, -1])),
    ("slice", &[(F, &[5, 4])], |to| {
        (to.axes, to.begin, to.end) = (Some(vec![0, -1]), Some(vec![1, -3]), Some(vec![-1, 4]));
    }),
    ("slice", &[(F, &[5])], |to| {
        (to.begin, to.end, to.stride) = (Some(vec![0]), Some(vec![5]), Some(vec![2]));
    }),
    ("concat", &[(F, &[2, 3]), (F, &[1, 3])], |to| to.axis = Some(0)),
    ("stack", &[(F, &[2]), (F, &[2])], |to| to.axis = Some(-1)),
    ("gather", &[(F, &[4, 3]), (DType::Int64, &[2])], |to| to.axis = Some(1)),
    ("cast", &[(B, &[4])], |to| to.to = Some(F)),
    ("cast", &[(F, &[4])], |to| to.to = Some(B)),
    ("clamp", &[(F, &[4])], |to| to.low = Some(0.5)),
    ("leaky_relu", &[(F, &[4])], PLAIN),
];

/// Operations that are refused where they cannot be computed while unrolling, by what they say.
const REFUSED: &[(&str, &str)] = &[("reduce_prod", "has no counterpart in NNEF 1.0")];

/// A tensor of edge values, or of logicals.
fn operand(dtype: DType, shape: &[usize], start: usize) -> Tensor {
    let len: usize = shape.iter().product();
    let numbers: Vec<f64> = EDGES.iter().copied().cycle().skip(start).filter(|x| x.abs() < 100.0).take(len).collect();
    match dtype {
        B => Tensor::logicals(shape, (0..len).map(|i| (i + start).is_multiple_of(2)).collect()).unwrap(),
        _ => Tensor::scalars(shape, numbers).unwrap(),
    }
}

#[test]
fn other_operations_keep_their_numbers() {
    for (name, operands, set) in CASES {
        let mut net = Network::new("law");
        let (mut inputs, mut ids) = (Vec::new(), Vec::new());
        for (i, (dtype, shape)) in operands.iter().enumerate() {
            let extents: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
            if *dtype == DType::Int64 {
                // Indices have to be known.
                ids.push(net.constant("indices", Tensor::integers(shape, vec![2, 0]).unwrap()));
                continue;
            }
            ids.push(net.input(&format!("x{i}"), *dtype, &extents));
            inputs.push((format!("x{i}"), operand(*dtype, shape, 7 * i)));
        }
        let mut attributes = Attributes::default();
        set(&mut attributes);
        let result = net.operation_with("r", Op::find(name).unwrap(), &ids, attributes);
        net.mark_output(result);
        let (wanted, found) = both_ways(name, &net, &inputs);
        assert_eq!(wanted.shape(), found.shape(), "{name}");
        let pairs = wanted.to_scalars().into_iter().zip(found.to_scalars()).collect::<Vec<_>>();
        assert!(pairs.iter().all(|(wanted, found)| same(*wanted, *found)), "{name}: {pairs:?}");
    }
}

#[test]
fn operations_without_a_form_are_refused() {
    for (name, message) in REFUSED {
        let mut net = Network::new("law");
        let x = net.input("x", F, &[2, 3]);
        let result = net.operation("r", Op::find(name).unwrap(), &[x]);
        net.mark_output(result);
        let found = unroll_with(&net, &Options::default()).map(|_| ()).unwrap_err();
        assert!(super::told(&found).contains(message), "{}", super::told(&found));
    }
}

/// No row of the table of operations is without a law.
#[test]
fn every_operation_has_a_law() {
    for op in Op::all() {
        let by_item = op.spec().attributes.is_empty() && op.spec().arity.1 <= 2;
        let has_case = CASES.iter().any(|case| case.0 == op.name())
            || REFUSED.iter().any(|row| row.0 == op.name())
            || ["reduce_mean", "reduce_max", "reduce_min", "argmin"].contains(&op.name());
        assert!(by_item || has_case, "{} has no law", op.name());
    }
}
