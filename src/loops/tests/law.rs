//! Every element-wise operation computes in the flat graph what it computes in the network, for edge values, too.

use std::collections::BTreeMap;

use super::{floats, unrolling::unrolled};
use crate::Options;
use crate::eval::Evaluator;
use crate::loops::network::Network;
use crate::loops::ops::{Attributes, Op};
use crate::tensor::kernels::EDGES;
use crate::tensor::{DType, Tensor};

fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
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
        let wanted = net.evaluate(inputs.clone(), &Options::default());
        let wanted = wanted.unwrap_or_else(|found| panic!("{name}: {}", super::told(&found)));
        let graph = unrolled(&net, &Options::default());
        let found = Evaluator::default().run(&graph, &inputs, &BTreeMap::new());
        let found = found.unwrap_or_else(|error| panic!("{name}: {}", error.message));
        let (wanted, found) = (floats(&wanted.outputs[0].1), floats(&found.outputs[0].1));
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
