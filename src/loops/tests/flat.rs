//! Evaluates flat graphs as networks without loops; graphs broadcast with the first axes aligned, networks with the
//! last.

use std::collections::HashMap;

use crate::Graph;
use crate::graph::Primitive;
use crate::graph::{self, Operand, Operation, Value};
use crate::loops::network::{Network, TensorId};
use crate::loops::ops::{Attributes, Op};
use crate::tensor::{DType, Data, Tensor};

struct Flat<'g> {
    graph: &'g Graph,
    net: Network,
    tensors: HashMap<graph::TensorId, TensorId>,
    fresh: usize,
}

/// The outputs of a flat graph.
pub(super) fn evaluate(graph: &Graph, inputs: &[(String, Tensor)]) -> Vec<(String, Tensor)> {
    let mut flat = Flat { graph, net: Network::new("flat"), tensors: HashMap::new(), fresh: 0 };
    graph.operations.iter().for_each(|operation| flat.operation(operation));
    for output in &graph.outputs {
        let tensor = flat.tensors[output];
        flat.net.mark_output(tensor);
    }
    // NNEF integers have no width.
    let wide = |value: &Tensor| match value.data() {
        Data::Int32(items) => {
            Tensor::new(value.shape(), Data::Int64(items.iter().map(|&x| x.into()).collect())).unwrap()
        }
        _ => value.clone(),
    };
    let mut inputs: Vec<(String, Tensor)> = inputs.iter().map(|(name, value)| (name.clone(), wide(value))).collect();
    inputs.push(("unused".to_owned(), Tensor::new([1].as_slice(), Data::Float32(vec![0.0])).unwrap()));
    let found = flat.net.evaluate(inputs, &Default::default());
    let found = found.unwrap_or_else(|found| panic!("the flat graph does not run: {}", super::told(&found)));
    let names = graph.outputs.iter().map(|output| graph.tensor_name(*output));
    names.zip(found.outputs.into_iter().map(|(_, value)| value)).collect()
}

fn dtype(primitive: Option<Primitive>) -> DType {
    match primitive {
        Some(Primitive::Integer) => DType::Int64,
        Some(Primitive::Logical) => DType::Bool,
        _ => DType::Float32,
    }
}

/// Operations of NNEF that have another name in networks.
const RENAMED: &[(&str, &str)] = &[
    ("lt", "less"),
    ("le", "less_equal"),
    ("gt", "greater"),
    ("ge", "greater_equal"),
    ("eq", "equal"),
    ("ne", "not_equal"),
    ("sum_reduce", "reduce_sum"),
    ("mean_reduce", "reduce_mean"),
    ("max_reduce", "reduce_max"),
    ("min_reduce", "reduce_min"),
    ("any_reduce", "reduce_any"),
    ("all_reduce", "reduce_all"),
    ("argmax_reduce", "argmax"),
    ("argmin_reduce", "argmin"),
    ("rcp", "reciprocal"),
    ("sqr", "square"),
    ("clamp", "clip"),
];

impl Flat<'_> {
    fn name(&mut self) -> String {
        self.fresh += 1;
        format!("t{}", self.fresh)
    }

    fn constant(&mut self, data: Data, shape: &[usize]) -> TensorId {
        let name = self.name();
        self.net.constant(&name, Tensor::new(shape, data).unwrap())
    }

    fn add(&mut self, op: &str, inputs: &[TensorId], attributes: Attributes) -> TensorId {
        let name = self.name();
        let op = Op::find(op).unwrap_or_else(|| panic!("no operation {op}"));
        self.net.operation_with(&name, op, inputs, attributes)
    }

    fn rank(&self, value: &Value) -> usize {
        match value {
            Value::Tensor(tensor) => self.graph.shape(*tensor).unwrap().rank(),
            _ => 0,
        }
    }

    /// An operand with added trailing axes of extent 1.
    fn operand(&mut self, value: &Value, rank: usize) -> TensorId {
        let tensor = match value {
            Value::Tensor(tensor) => self.tensors[tensor],
            Value::Scalar(x) => self.constant(Data::Float32(vec![*x as f32]), &[]),
            Value::Logical(x) => self.constant(Data::Bool(vec![*x]), &[]),
            other => panic!("operand {other:?}"),
        };
        let own = self.rank(value);
        if own == 0 || own == rank {
            return tensor;
        }
        let axes = Some((own as i64..rank as i64).collect());
        self.add("unsqueeze", &[tensor], Attributes { axes, ..Attributes::default() })
    }

    fn arg<'a>(&self, operation: &'a Operation, name: &str) -> Option<&'a Value>
    where
        Self: 'a,
    {
        // The value is leaked, since the result is borrowed.
        let graph: &Graph = self.graph;
        let found = graph.argument(operation, name).map(Operand::to_value);
        found.map(|value| &*Box::leak(Box::new(value)))
    }

    fn ints(&self, operation: &Operation, name: &str) -> Option<Vec<i64>> {
        self.arg(operation, name).and_then(|value| value.as_integers().map(<[i64]>::to_vec))
    }

    fn operation(&mut self, operation: &Operation) {
        let graph = self.graph;
        let outputs: Vec<graph::TensorId> = graph.tensors_of(operation).collect();
        let name = graph.operation_name(operation);
        let first = outputs[0];
        let dtype = dtype(graph.tensors[first.index()].dtype);
        let made = match name {
            "external" => {
                let shape = self.ints(operation, "shape").unwrap();
                let input = graph.tensor_name(first);
                self.net.input(&input, dtype, &shape)
            }
            "constant" => self.constant_of(operation, dtype),
            "unstack" => return self.unstack(operation, &outputs),
            "stack" | "concat" => {
                let Some(Value::Array(items)) = self.arg(operation, "values") else { panic!("no values") };
                let items: Vec<TensorId> = items.iter().map(|item| self.operand(item, usize::MAX)).collect();
                let Some(Value::Int(axis)) = self.arg(operation, "axis") else { panic!("no axis") };
                self.add(name, &items, Attributes { axis: Some(*axis), ..Attributes::default() })
            }
            _ => self.plain(operation, name),
        };
        self.tensors.insert(first, made);
    }

    fn constant_of(&mut self, operation: &Operation, dtype: DType) -> TensorId {
        let shape: Vec<usize> = self.ints(operation, "shape").unwrap().iter().map(|&extent| extent as usize).collect();
        let items: Vec<f64> = match self.arg(operation, "value") {
            Some(Value::Scalars(items)) => items.to_vec(),
            Some(Value::Integers(items)) => items.iter().map(|&item| item as f64).collect(),
            Some(Value::Array(items)) => items.iter().map(|item| f64::from(*item == Value::Logical(true))).collect(),
            other => panic!("value {other:?}"),
        };
        let len = shape.iter().product();
        let all = items.iter().copied().cycle().take(len);
        assert!(items.len() == 1 || items.len() == len);
        self.constant(Data::from_floats(dtype, all), &shape)
    }

    fn unstack(&mut self, operation: &Operation, outputs: &[graph::TensorId]) {
        let input = self.operand(self.arg(operation, "value").unwrap(), usize::MAX);
        let Some(Value::Int(axis)) = self.arg(operation, "axis") else { panic!("no axis") };
        for (i, &output) in outputs.iter().enumerate() {
            let index = self.constant(Data::Int64(vec![i as i64]), &[]);
            let part = self.add("gather", &[input, index], Attributes { axis: Some(*axis), ..Attributes::default() });
            self.tensors.insert(output, part);
        }
    }

    /// Operations each of whose operands is a single tensor.
    fn plain(&mut self, operation: &Operation, name: &str) -> TensorId {
        let kind = self.graph.kind(operation);
        let names: Vec<String> = kind
            .params
            .iter()
            .filter(|param| param.tensor)
            .map(|param| self.graph.text_of(param.name).to_owned())
            .collect();
        let values: Vec<&Value> = names.iter().filter_map(|name| self.arg(operation, name)).collect();
        let rank = values.iter().map(|value| self.rank(value)).max().unwrap_or(0);
        let mut attributes = Attributes {
            axes: self.ints(operation, "axes"),
            begin: self.ints(operation, "begin"),
            end: self.ints(operation, "end"),
            stride: self.ints(operation, "stride").filter(|stride| !stride.is_empty()),
            shape: self.ints(operation, "shape"),
            keep_dims: name.ends_with("_reduce"),
            transpose_a: self.arg(operation, "transposeA") == Some(&Value::Logical(true)),
            transpose_b: self.arg(operation, "transposeB") == Some(&Value::Logical(true)),
            ..Attributes::default()
        };
        let mut values = values;
        if name == "clamp" {
            let number = |value: &Value| if let Value::Scalar(x) = value { Some(*x) } else { None };
            (attributes.low, attributes.high) = (number(values[1]), number(values[2]));
            values.truncate(1);
        }
        if name == "leaky_relu" {
            attributes.alpha =
                self.arg(operation, "alpha").and_then(|v| if let Value::Scalar(x) = v { Some(*x) } else { None });
        }
        let inputs: Vec<TensorId> = values.iter().map(|value| self.operand(value, rank)).collect();
        let name = RENAMED.iter().find(|(nnef, _)| *nnef == name).map_or(name, |(_, own)| own);
        self.add(name, &inputs, attributes)
    }
}
