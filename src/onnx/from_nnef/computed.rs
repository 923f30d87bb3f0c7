//! Lists of integers, such as extents, that operations have as attributes, also where tensors compute them: operators
//! of ONNX take them as operands.

use super::lists::known_at;
use super::translated_call::{TranslatedCall, Translation, integers};
use super::value::{ModelValue, NnefElement};
use crate::graph::dims::Dim;
use crate::graph::{Graph, Operand, TensorId, Value};
use crate::onnx::model::AttributeValue;

/// The integers of an argument, if all are known; a single integer is a list of one.
pub(super) fn known(graph: &Graph, operand: Operand) -> Option<Vec<i64>> {
    match operand {
        Operand::Value(Value::Int(item)) => Some(vec![*item]),
        Operand::Value(Value::Array(items)) if items.iter().any(Value::has_tensor) => {
            let parts = items.iter().map(|item| match item {
                Value::Tensor(tensor) => of_tensor(graph, *tensor),
                Value::Int(item) => Some(vec![*item]),
                _ => None,
            });
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
        Operand::Value(value) => integers(value),
        Operand::Tensor(tensor) => of_tensor(graph, tensor),
        Operand::Tensors(tensors) => {
            Some(tensors.iter().map(|tensor| of_tensor(graph, *tensor)).collect::<Option<Vec<_>>>()?.concat())
        }
    }
}

/// The items of a tensor, if all are known integers.
fn of_tensor(graph: &Graph, tensor: TensorId) -> Option<Vec<i64>> {
    let items = graph.values.get(&tensor).filter(|items| items.is_whole())?;
    items.items.iter().map(|item| item.dim().known()).collect()
}

impl TranslatedCall<'_> {
    /// The integers of an attribute as a list of the model: a constant if they are known, else computed.
    pub(super) fn integer_list(&mut self, name: &str) -> Translation<ModelValue> {
        self.integer_list_at(name, usize::MAX)
    }

    /// Like `integer_list`, for an operation that may be undeclared.
    pub(super) fn integer_list_at(&mut self, name: &str, position: usize) -> Translation<ModelValue> {
        let operand = self.attribute(name, position).ok_or_else(|| self.missing(name))?;
        if let Some(items) = known(self.graph, operand) {
            return Ok(self.out.list(name, &items));
        }
        let mut parts = Vec::new();
        match operand {
            Operand::Tensor(tensor) => parts.push(self.as_list(tensor)?),
            Operand::Tensors(tensors) => {
                for tensor in tensors {
                    parts.push(self.as_list(*tensor)?);
                }
            }
            Operand::Value(Value::Array(items)) => {
                for item in items.iter() {
                    parts.push(match item {
                        Value::Tensor(tensor) => self.as_list(*tensor)?,
                        Value::Int(item) => self.out.list(name, &[*item]),
                        Value::Symbol(text) => self.symbol(text, name)?,
                        _ => return Err(self.unknown(name)),
                    });
                }
            }
            Operand::Value(Value::Symbol(text)) => parts.push(self.symbol(text, name)?),
            Operand::Value(_) => return Err(self.unknown(name)),
        }
        Ok(self.joined(parts))
    }

    /// An expression on symbols, as a list of one integer: the extent of an input that is given by it.
    fn symbol(&mut self, text: &str, name: &str) -> Translation<ModelValue> {
        let wanted = Dim::of_text(text);
        let graph = self.graph;
        let place = |input: &TensorId| {
            let axis = graph.shape(*input)?.extents().iter().position(|extent| extent.dim() == wanted)?;
            Some((*input, axis))
        };
        let found = if wanted == Dim::Unknown { None } else { graph.inputs.iter().find_map(place) };
        let (input, axis) = found.ok_or_else(|| self.unknown(name))?;
        let value = self.tensor(input)?;
        Ok(self.extent_of(&value, axis))
    }

    /// The extent of a value along an axis, as a list of one integer: a constant if it is known, else computed.
    pub(super) fn extent_of(&mut self, value: &ModelValue, axis: usize) -> ModelValue {
        if let Some(extent) = value.dims.as_ref().and_then(|dims| known_at(dims, axis)) {
            return self.out.list("extents", &[extent]);
        }
        let end = axis.saturating_add(1) as i64;
        let range = vec![("start", AttributeValue::Int(axis as i64)), ("end", AttributeValue::Int(end))];
        self.node("Shape", &[value], range).with([Some(1)])
    }

    /// An operand that is an expression on symbols, as a value of rank 0; none for any other operand.
    pub(super) fn symbolic(&mut self, name: &str, position: usize) -> Translation<Option<ModelValue>> {
        match self.attribute(name, position) {
            Some(Operand::Value(Value::Symbol(text))) => {
                let extent = self.symbol(text, name)?;
                Ok(Some(self.out.reshape(&extent, &[])))
            }
            _ => Ok(None),
        }
    }

    /// Lists of integers one after the other.
    pub(super) fn joined(&mut self, mut parts: Vec<ModelValue>) -> ModelValue {
        if parts.len() == 1
            && let Some(part) = parts.pop()
        {
            return part;
        }
        let mut counts = parts.iter().map(|part| part.known()?.first().copied());
        let count = counts.try_fold(0_i64, |all, count| all.checked_add(count?));
        let made = self.node("Concat", &parts.iter().collect::<Vec<_>>(), vec![("axis", AttributeValue::Int(0))]);
        made.with([count])
    }

    /// The items of a tensor of integers as a list.
    fn as_list(&mut self, tensor: TensorId) -> Translation<ModelValue> {
        if let Some(items) = of_tensor(self.graph, tensor) {
            return Ok(self.out.list("extents", &items));
        }
        let value = self.tensor(tensor)?;
        let value = self.out.cast(&value, NnefElement::Int);
        Ok(match value.rank() {
            Some(1) => value,
            Some(0) => self.out.unsqueeze(&value, &[0]),
            _ => self.out.reshape(&value, &[-1]),
        })
    }

    /// An integer operand as a value of rank 0.
    pub(super) fn integer_at(&mut self, name: &str, position: usize) -> Translation<ModelValue> {
        if let Ok(&[item]) = self.ints_at(name, position).as_deref() {
            return Ok(self.out.integer(item));
        }
        let value = self.value_at(name, position)?;
        let value = self.out.cast(&value, NnefElement::Int);
        Ok(if value.rank() == Some(0) { value } else { self.out.reshape(&value, &[]) })
    }

    /// The extents of a value from an axis on, as a list: a constant if they are known, else computed.
    pub(super) fn extents_from(&mut self, value: &ModelValue, axis: usize) -> ModelValue {
        let rest = value.dims.as_ref().map(|dims| super::lists::from(dims, axis).iter().copied());
        if let Some(known) = rest.and_then(|rest| rest.collect::<Option<Vec<i64>>>()) {
            return self.out.list("extents", &known);
        }
        let count = value.rank().map(|rank| rank.saturating_sub(axis) as i64);
        let start = if axis == 0 { Vec::new() } else { vec![("start", AttributeValue::Int(axis as i64))] };
        self.node("Shape", &[value], start).with([count])
    }
}
