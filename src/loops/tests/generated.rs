//! Generated loops: the machine, a direct implementation of the formal semantics, and the flat graph agree.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{assert_close, flat, unrolling::unrolled};
use crate::Options;
use crate::loops::network::{LayerKind, LimitKind, Network, OutputKind, TensorId, TensorSource};
use crate::loops::ops::Op;
use crate::tensor::{DType, Data, Tensor};

/// The random numbers that determine a network.
struct Tape<'t> {
    numbers: &'t [u16],
    at: usize,
}

impl Tape<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.at += 1;
        usize::from(self.numbers[self.at % self.numbers.len()].wrapping_add(self.at as u16)) % n
    }
}

const OPERATIONS: &[(&str, usize)] =
    &[("add", 2), ("sub", 2), ("mul", 2), ("max", 2), ("tanh", 1), ("neg", 1), ("identity", 1), ("sigmoid", 1)];

/// A loop over vectors of two elements and single numbers.
fn network(numbers: &[u16]) -> Network {
    let mut tape = Tape { numbers, at: 0 };
    let mut net = Network::new("generated");
    let x = net.input("x", DType::Float32, &[4, 2]);
    let v = net.input("v", DType::Float32, &[2]);
    let trips = tape.below(6) as i64;
    let n = net.constant("n", Tensor::scalar(Data::Int32(vec![trips as i32])).unwrap());
    let length = net.constant("len", Tensor::scalar(Data::Int32(vec![trips as i32 + 1])).unwrap());
    let zero = net.constant("z", Tensor::new([2].as_slice(), Data::Float32(vec![0.5; 2])).unwrap());
    let of = net.add_loop("L");
    net.trip_limit(of, LimitKind::Count, n);
    let mut pool = vec![v, zero];
    let mut inside = Vec::new();
    for i in 0..tape.below(3) {
        let reverse = tape.below(2) == 0;
        inside.push(net.iterator(of, &format!("i{i}"), x, 0, reverse));
    }
    let mut states = Vec::new();
    for i in 0..1 + tape.below(3) {
        let initial = pool[tape.below(2)];
        states.push(net.recurrence(of, &format!("s{i}"), initial));
    }
    inside.extend(&states);
    pool.extend(&inside);
    for i in 0..tape.below(6) {
        let (op, arity) = OPERATIONS[tape.below(OPERATIONS.len())];
        let inputs: Vec<TensorId> = (0..arity).map(|_| pool[tape.below(pool.len())]).collect();
        let made = net.operation(&format!("o{i}"), Op::find(op).unwrap(), &inputs);
        if inputs.iter().any(|input| inside.contains(input)) {
            inside.push(made);
        }
        pool.push(made);
    }
    for &state in &states {
        let next = pool[tape.below(pool.len())];
        net.set_next(state, next);
    }
    for i in 0..1 + tape.below(3) {
        let name = format!("y{i}");
        let output = match tape.below(3) {
            0 => net.loop_output(of, &name, OutputKind::LastValue, states[tape.below(states.len())], 0),
            kind => {
                let kind = if kind == 1 { OutputKind::Concatenate } else { OutputKind::Reverse };
                let input = inside[tape.below(inside.len())];
                let output = net.loop_output(of, &name, kind, input, tape.below(2) as i64);
                net.set_length(output, if tape.below(2) == 0 { n } else { length });
                output
            }
        };
        net.mark_output(output);
    }
    net
}

/// Elements by the formal definition, each computed once.
struct Definition<'n> {
    net: &'n Network,
    inputs: HashMap<String, Tensor>,
    trips: i64,
    known: HashMap<(TensorId, i64), Option<Vec<f32>>>,
}

impl Definition<'_> {
    fn element(&mut self, tensor: TensorId, i: i64) -> Option<Vec<f32>> {
        if let Some(known) = self.known.get(&(tensor, i)) {
            return known.clone();
        }
        let found = self.define(tensor, i);
        self.known.insert((tensor, i), found.clone());
        found
    }

    fn define(&mut self, tensor: TensorId, i: i64) -> Option<Vec<f32>> {
        let info = self.net.tensors[tensor.index()].clone();
        let layer = match &info.origin {
            TensorSource::Input(_) => return Some(singles(&self.inputs[&info.name])),
            TensorSource::Constant(value) => return Some(singles(value)),
            TensorSource::Layer(layer) => self.net.layer(*layer).clone(),
            TensorSource::Undefined => return None,
        };
        match &layer.kind {
            LayerKind::Iterator { input, reverse, .. } => {
                let at = if *reverse { self.trips - 1 - i } else { i };
                let whole = self.element(input.tensor, 0)?;
                usize::try_from(at).ok().and_then(|at| whole.chunks(2).nth(at)).map(<[f32]>::to_vec)
            }
            LayerKind::Recurrence { initial, .. } if i == 0 => self.element(initial.unwrap().tensor, 0),
            LayerKind::Recurrence { next, .. } => self.element(next.unwrap().tensor, i - 1),
            LayerKind::Operation { op, inputs, .. } => {
                let a = self.element(inputs[0].tensor, i)?;
                let b = self.element(inputs[inputs.len() - 1].tensor, i)?;
                let f: fn(f32, f32) -> f32 = match op.name() {
                    "add" => |a, b| a + b,
                    "sub" => |a, b| a - b,
                    "mul" => |a, b| a * b,
                    "max" => |a, b| if a.is_nan() || a > b { a } else { b },
                    "tanh" => |a, _| a.tanh(),
                    "neg" => |a, _| -a,
                    "sigmoid" => |a, _| 1.0 / (1.0 + (-a).exp()),
                    _ => |a, _| a,
                };
                Some(a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect())
            }
            _ => None,
        }
    }

    fn output(&mut self, tensor: TensorId) -> Option<Tensor> {
        let layer = self.net.producer(tensor).unwrap().clone();
        let LayerKind::LoopOutput { kind, input, axis, length, .. } = layer.kind else { panic!("no loop output") };
        if kind == OutputKind::LastValue {
            let last = self.element(input.tensor, self.trips)?;
            return Tensor::new([2].as_slice(), Data::Float32(last));
        }
        let TensorSource::Constant(length) = &self.net.tensors[length.unwrap().tensor.index()].origin else { panic!() };
        let length = length.as_integer().unwrap() as usize;
        let mut rows = (0..self.trips).map(|i| self.element(input.tensor, i)).collect::<Option<Vec<_>>>()?;
        if kind == OutputKind::Reverse {
            rows.reverse();
        }
        rows.resize(length, vec![0.0; 2]);
        let rows: Vec<f32> = rows.into_iter().flatten().collect();
        Some(Tensor::new([length, 2].as_slice(), Data::Float32(rows)).unwrap().move_first_axis(axis as usize))
    }
}

fn singles(tensor: &Tensor) -> Vec<f32> {
    super::floats(tensor).into_iter().map(|x| x as f32).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn three_readings_agree(numbers in prop::collection::vec(any::<u16>(), 40)) {
        let net = network(&numbers);
        let data = |len: usize| Data::Float32((0..len).map(|i| i as f32 * 0.37 - 1.0).collect());
        let inputs = vec![
            ("x".to_owned(), Tensor::new([4, 2].as_slice(), data(8)).unwrap()),
            ("v".to_owned(), Tensor::new([2].as_slice(), data(2)).unwrap()),
        ];
        let LayerKind::TripLimit { input, .. } = net.layers[0].kind else { panic!("no limit") };
        let TensorSource::Constant(trips) = &net.tensors[input.tensor.index()].origin else { panic!("no count") };
        let trips = trips.as_integer().unwrap();
        let mut definition =
            Definition { net: &net, inputs: inputs.iter().cloned().collect(), trips, known: HashMap::new() };
        let wanted: Option<Vec<(String, Tensor)>> = net
            .outputs
            .iter()
            .map(|output| Some((net.name_of(output.tensor).to_owned(), definition.output(output.tensor)?)))
            .collect();
        let found = net.evaluate(inputs.clone(), &Options::default());
        match (wanted, found) {
            (None, Err(found)) => prop_assert!(found.iter().any(|d| d.code.as_str() == "E0944")),
            (Some(wanted), Ok(found)) => {
                assert_close(&found.outputs, &wanted, "machine");
                let empty = wanted.iter().any(|(_, value)| value.data().is_empty());
                if !empty {
                    let graph = unrolled(&net, &Options::default());
                    assert_close(&flat::evaluate(&graph, &inputs), &wanted, "flat");
                }
            }
            (wanted, found) => prop_assert!(false, "{wanted:?}\n{found:?}"),
        }
    }
}
