//! Lazy sequences: which elements are computed, how often, and in how much memory.

use super::{floats, output, run, run_with, text, told};
use crate::Options;
use crate::diagnostics::Code;
use crate::loops::network::{LimitKind, Network, OutputKind};
use crate::loops::ops::Op;
use crate::tensor::{DType, Data, Tensor};

const LIMIT: &str = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "n"}"#;

/// A condition may depend on an iterator through a recurrence: element `n` of the iterator is not needed.
#[test]
fn counting_trips_forces_no_iterator() {
    let layers = r#"{"op": "iterator", "loop": "L", "name": "r", "input": "x"}, {"op": "reduce_sum", "name": "e", "inputs": ["r"], "axes": [0]},
        {"op": "recurrence", "loop": "L", "name": "s", "initial": "f0", "next": "s1"}, {"op": "add", "name": "s1", "inputs": ["s", "e"]},
        {"op": "less", "name": "c", "inputs": ["s", "limit"]}, {"op": "trip_limit", "loop": "L", "kind": "while", "input": "c"},
        {"op": "mul", "name": "limit", "inputs": ["a", "a28"]}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#;
    // The sum of the three rows is 28: the loop ends at the end of the axis.
    let text = text(layers, r#""y""#).replace(r#""f0": "#, r#""a28": {"dtype": "float32", "data": 0.28}, "f0": "#);
    assert_eq!(output(&text), [28.0]);
}

/// Sums of floats of 16 bits are rounded in each trip.
#[test]
fn results_have_the_precision_of_their_type() {
    let mut net = Network::new("halves");
    let x = net.input("x", DType::FLOAT16, &[2]);
    let n = net.constant("n", Tensor::scalar(Data::Int64(vec![2])).unwrap());
    let zero = net.constant("z", Tensor::scalar(Data::from_floats(DType::FLOAT16, [1000.0].into_iter())).unwrap());
    let of = net.add_loop("L");
    net.trip_limit(of, LimitKind::Count, n);
    let item = net.iterator(of, "e", x, 0, false);
    let state = net.recurrence(of, "s", zero);
    let sum = net.operation("t", Op::find("add").unwrap(), &[state, item]);
    net.set_next(state, sum);
    let y = net.loop_output(of, "y", OutputKind::LastValue, state, 0);
    net.mark_output(y);
    let x = Tensor::new([2].as_slice(), Data::from_floats(DType::FLOAT16, [0.2, 0.3].into_iter())).unwrap();
    let found = net.evaluate([("x".to_owned(), x)], &Options::default()).unwrap();
    // Neighbours of 1000 are half apart: 0.2 is lost, and 0.3 rounded up.
    assert_eq!(found.outputs[0].1.to_scalars(), [1000.5]);
}

/// `X_n` of a recurrence needs `Y_{n-1}`; a delay line of two needs two elements less.
#[test]
fn delay_lines_ask_for_fewer_elements() {
    let delay = |length: i64, line: usize| {
        let mut net = Network::new("delay");
        let x = net.input("x", DType::Float32, &[3]);
        let n = net.constant("n", Tensor::scalar(Data::Int64(vec![length])).unwrap());
        let zero = net.constant("z", Tensor::scalar(Data::Float32(vec![-1.0])).unwrap());
        let of = net.add_loop("L");
        net.trip_limit(of, LimitKind::Count, n);
        let mut last = net.iterator(of, "e", x, 0, false);
        for i in 0..line {
            let state = net.recurrence(of, &format!("d{i}"), zero);
            net.set_next(state, last);
            last = state;
        }
        let y = net.loop_output(of, "y", OutputKind::LastValue, last, 0);
        net.mark_output(y);
        let x = Tensor::new([3].as_slice(), Data::Float32(vec![1.0, 2.0, 3.0])).unwrap();
        let found = net.evaluate([("x".to_owned(), x)], &Options::default());
        let code = |found: crate::Diagnostics| found.iter().map(|found| found.code).collect::<Vec<_>>();
        found.map(|found| floats(&found.outputs[0].1)[0]).map_err(code)
    };
    assert_eq!(delay(3, 1).unwrap(), 3.0);
    assert_eq!(delay(4, 2).unwrap(), 3.0);
    assert_eq!(delay(5, 3).unwrap(), 3.0);
    assert_eq!(delay(5, 4).unwrap(), 2.0);
    assert_eq!([delay(4, 1), delay(5, 2)], [(); 2].map(|()| Err(vec![Code::IteratorRange])));
}

/// Without trips, the last value is the initial value, and a collection of length 0 has a shape.
#[test]
fn without_trips_shapes_are_known() {
    let layers = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "zero"}, {"op": "iterator", "loop": "L", "name": "r", "input": "x"},
        {"op": "recurrence", "loop": "L", "name": "s", "initial": "v", "next": "r"},
        {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"},
        {"op": "loop_output", "loop": "L", "name": "e", "kind": "concatenate", "input": "r", "axis": 1, "length": "zero"},
        {"op": "loop_output", "loop": "L", "name": "p", "kind": "reverse", "input": "r", "axis": 1, "length": "two"}"#;
    let found = run(&text(layers, r#""y", "e", "p""#)).unwrap().outputs;
    assert_eq!(floats(&found[0].1), [1.0, -1.0]);
    assert_eq!(found[1].1.shape(), [2, 0]);
    assert_eq!(found[2].1.shape(), [2, 2]);
    let negative = text(layers, r#""y""#)
        .replace(r#""zero": {"dtype": "int32", "data": 0}"#, r#""zero": {"dtype": "int32", "data": -4}"#);
    assert_eq!(output(&negative), [1.0, -1.0]);
}

/// An operation that uses tensors of two loops does not determine which of them is the inner one.
#[test]
fn boundaries_decide_on_nesting() {
    let layers = format!(
        r#"{LIMIT}, {{"op": "iterator", "loop": "L", "name": "r", "input": "x"}}, {{"op": "trip_limit", "loop": "I", "kind": "count", "input": "two"}},
        {{"op": "iterator", "loop": "I", "name": "e", "input": "v"}}, {{"op": "mul", "name": "p", "inputs": ["r", "e"]}},
        {{"op": "loop_output", "loop": "I", "name": "q", "kind": "concatenate", "input": "p", "length": "two"}},
        {{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "q", "length": "n"}}"#
    );
    assert_eq!(output(&text(&layers, r#""y""#)), [2., 3., -2., -3., 5., 4., -5., -4., 6., 8., -6., -8.]);
}

/// The next value of a recurrence may be a recurrence, an iterator or an invariant.
#[test]
fn recurrences_go_on_with_anything() {
    let layers = format!(
        r#"{LIMIT}, {{"op": "iterator", "loop": "L", "name": "r", "input": "x"}}, {{"op": "recurrence", "loop": "L", "name": "a1", "initial": "z", "next": "b1"}},
        {{"op": "recurrence", "loop": "L", "name": "b1", "initial": "v", "next": "r"}}, {{"op": "recurrence", "loop": "L", "name": "c1", "initial": "z", "next": "v"}},
        {{"op": "add", "name": "s", "inputs": ["a1", "c1"]}}, {{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "s", "length": "n"}}"#
    );
    assert_eq!(output(&text(&layers, r#""y""#)), [0., 0., 2., -2., 3., 2.]);
}

/// A failed element that nothing needs is not an error.
#[test]
fn failures_of_unused_values_are_ignored() {
    let layers = format!(
        r#"{LIMIT}, {{"op": "recurrence", "loop": "L", "name": "i", "initial": "zero", "next": "i1"}}, {{"op": "add", "name": "i1", "inputs": ["i", "one"]}},
        {{"op": "gather", "name": "r", "inputs": ["v", "i"]}}, {{"op": "recurrence", "loop": "L", "name": "d", "initial": "f0", "next": "r"}},
        {{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "d", "length": "n"}},
        {{"op": "loop_output", "loop": "L", "name": "w", "kind": "concatenate", "input": "r", "length": "n"}}"#
    );
    assert_eq!(output(&text(&layers, r#""y""#)), [0.0, 1.0, -1.0]);
    let found = run(&text(&layers, r#""w""#)).unwrap_err();
    assert!(told(&found).contains("index 2 is outside an axis of 2, in trip 2 of `L`"), "{}", told(&found));
}

#[test]
fn reverse_outputs_are_padded_at_the_back() {
    let layers = r#"{"op": "trip_limit", "loop": "L", "kind": "count", "input": "two"}, {"op": "iterator", "loop": "L", "name": "r", "input": "v"},
        {"op": "loop_output", "loop": "L", "name": "y", "kind": "reverse", "input": "r", "length": "len"}"#;
    assert_eq!(output(&text(layers, r#""y""#)), [-1., 1., 0., 0., 0.]);
}

#[test]
fn open_extents_are_known_when_it_runs() {
    let layers = format!(
        r#"{LIMIT}, {{"op": "iterator", "loop": "L", "name": "r", "input": "x"}}, {{"op": "loop_output", "loop": "L", "name": "y", "kind": "concatenate", "input": "r", "axis": 1, "length": "n"}}"#
    );
    let text = text(&layers, r#""y""#).replace(r#""shape": [3, 2]"#, r#""shape": [-1, null]"#);
    assert_eq!(output(&text), [2., 5., 6., 3., 4., 8.]);
}

fn counting(trips: i64) -> Network {
    let mut net = Network::new("count");
    let n = net.constant("n", Tensor::scalar(Data::Int64(vec![trips])).unwrap());
    let zero = net.constant("z", Tensor::new([8].as_slice(), Data::Float32(vec![0.0; 8])).unwrap());
    let one = net.constant("one", Tensor::scalar(Data::Float32(vec![1.0])).unwrap());
    let of = net.add_loop("L");
    net.trip_limit(of, LimitKind::Count, n);
    let state = net.recurrence(of, "s", zero);
    let next = net.operation("t", Op::find("add").unwrap(), &[state, one]);
    net.set_next(state, next);
    let last = net.loop_output(of, "y", OutputKind::LastValue, state, 0);
    net.mark_output(last);
    net
}

/// The memory budget is a few tensors, the stack 64 kB.
#[test]
fn many_trips_need_no_memory_and_no_stack() {
    let work = || {
        let options = Options { max_bytes: 2048, ..Options::default() };
        let found = counting(100_000).evaluate([], &options).unwrap_or_else(|found| panic!("{}", told(&found)));
        assert_eq!(floats(&found.outputs[0].1), [1e5; 8]);
    };
    std::thread::Builder::new().stack_size(64 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn endless_work_ends_at_the_budget() {
    let options = Options { max_steps: 100_000, ..Options::default() };
    let found = counting(i64::MAX).evaluate([], &options).unwrap_err();
    assert!(found.iter().any(|d| d.code.as_str() == "E0814"), "{}", told(&found));
    let layers = r#"{"op": "recurrence", "loop": "L", "name": "s", "initial": "a", "next": "s"}, {"op": "greater", "name": "c", "inputs": ["s", "f0"]},
        {"op": "trip_limit", "loop": "L", "kind": "while", "input": "c"}, {"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "s"}"#;
    let found = run_with(&text(layers, r#""y""#), &Options { max_trips: Some(10), ..Options::default() }).unwrap_err();
    assert!(told(&found).contains("still true after 10 trips"));
}

/// The layers of the condition run first in a trip; the others still find what both use, in any order of layers.
#[test]
fn values_of_the_condition_are_kept_for_the_body() {
    let network = |layers: [&str; 2]| {
        format!(
            r#"{{"inputs": {{}}, "outputs": ["y"], "constants": {{"z": {{"dtype": "int32", "data": 0}},
            "one": {{"dtype": "int32", "data": 1}}, "n": {{"dtype": "int32", "data": 5}}}}, "layers": [
            {{"op": "recurrence", "loop": "L", "name": "i", "initial": "z", "next": "b"}},
            {{"op": "add", "name": "u", "inputs": ["i", "one"]}}, {}, {},
            {{"op": "trip_limit", "loop": "L", "kind": "while", "input": "c"}},
            {{"op": "loop_output", "loop": "L", "name": "y", "kind": "last_value", "input": "i"}}]}}"#,
            layers[0], layers[1]
        )
    };
    let body = r#"{"op": "mul", "name": "b", "inputs": ["u", "one"]}"#;
    let condition = r#"{"op": "less", "name": "c", "inputs": ["u", "n"]}"#;
    for layers in [[body, condition], [condition, body]] {
        let found = super::network(&network(layers)).evaluate([], &Options::default()).unwrap();
        assert_eq!(found.outputs[0].1.as_integer(), Some(4));
    }
}
