//! Values that are known before a model runs: single integers and truth values, and extents.

use rustc_hash::FxHashMap;

use crate::graph::names::NameId;
use crate::onnx::elements::Elements;
use crate::onnx::model::{Attribute, AttributeValue, Extent, Graph, ModelNames, Node, Tensor, TypeForm, ValueInfo};
use crate::onnx::types::ElementType;

/// A single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Int(i64),
    Bool(bool),
}

/// What is known of values.
#[derive(Debug, Default)]
pub(super) struct Known {
    scalars: FxHashMap<NameId, Scalar>,
    /// Extents along axes, counted from the first one, or from the last one with negative numbers.
    extents: FxHashMap<(NameId, i64), i64>,
}

type Fold = fn(&[Scalar]) -> Option<Scalar>;

/// How operators compute with values that are known.
const FOLDS: &[(&str, Fold)] = {
    use Scalar::{Bool, Int};
    &[
        ("Identity", |of| of.first().copied()),
        ("Not", |of| if let [Bool(a)] = *of { Some(Bool(!a)) } else { None }),
        ("And", |of| if let [Bool(a), Bool(b)] = *of { Some(Bool(a && b)) } else { None }),
        ("Or", |of| if let [Bool(a), Bool(b)] = *of { Some(Bool(a || b)) } else { None }),
        ("Add", |of| if let [Int(a), Int(b)] = *of { Some(Int(a.checked_add(b)?)) } else { None }),
        ("Sub", |of| if let [Int(a), Int(b)] = *of { Some(Int(a.checked_sub(b)?)) } else { None }),
        ("Mul", |of| if let [Int(a), Int(b)] = *of { Some(Int(a.checked_mul(b)?)) } else { None }),
        ("Less", |of| if let [Int(a), Int(b)] = *of { Some(Bool(a < b)) } else { None }),
        ("LessOrEqual", |of| if let [Int(a), Int(b)] = *of { Some(Bool(a <= b)) } else { None }),
        ("Greater", |of| if let [Int(a), Int(b)] = *of { Some(Bool(a > b)) } else { None }),
        ("GreaterOrEqual", |of| if let [Int(a), Int(b)] = *of { Some(Bool(a >= b)) } else { None }),
        ("Equal", |of| if let [a, b] = *of { Some(Bool(a == b)) } else { None }),
    ]
};

impl Known {
    /// What the constants and the types of a graph tell.
    pub(super) fn of_graph(names: &ModelNames, graph: &Graph) -> Self {
        let mut known = Known::default();
        // An input with a constant for its default may be given another value.
        let inputs: rustc_hash::FxHashSet<_> = graph.inputs.iter().filter_map(|input| input.name).collect();
        for tensor in &graph.initializers {
            let Some(name) = tensor.name else { continue };
            known.note_shape(name, tensor.dims.iter().map(|extent| Some(*extent)));
            if !inputs.contains(&name) {
                known.note_tensor(name, tensor);
            }
        }
        graph.inputs.iter().chain(&graph.value_info).for_each(|value| known.note_type(value));
        graph.nodes.iter().for_each(|node| known.note(names, node));
        known
    }

    pub(super) fn scalar(&self, name: NameId) -> Option<Scalar> {
        self.scalars.get(&name).copied()
    }

    pub(super) fn int(&self, name: NameId) -> Option<i64> {
        match self.scalar(name)? {
            Scalar::Int(value) => Some(value),
            Scalar::Bool(_) => None,
        }
    }

    pub(super) fn bool(&self, name: NameId) -> Option<bool> {
        match self.scalar(name)? {
            Scalar::Bool(value) => Some(value),
            Scalar::Int(_) => None,
        }
    }

    /// The extent of a value along an axis.
    pub(super) fn extent(&self, name: NameId, axis: i64) -> Option<i64> {
        self.extents.get(&(name, axis)).copied()
    }

    pub(super) fn set_extent(&mut self, name: NameId, axis: i64, extent: i64) {
        self.extents.insert((name, axis), extent);
    }

    /// Forgets names from one on, which are given up.
    pub(super) fn forget(&mut self, from: usize) {
        self.scalars.retain(|name, _| name.index() < from);
        self.extents.retain(|(name, _), _| name.index() < from);
    }

    fn note_shape(&mut self, name: NameId, extents: impl ExactSizeIterator<Item = Option<i64>>) {
        let rank = extents.len() as i64;
        for (axis, extent) in extents.enumerate() {
            if let Some(extent) = extent {
                self.extents.insert((name, axis as i64), extent);
                self.extents.insert((name, axis as i64 - rank), extent);
            }
        }
    }

    /// Notes the shape of a value that is declared.
    pub(super) fn note_type(&mut self, value: &ValueInfo) {
        let (Some(name), Some(TypeForm::Tensor(tensor))) = (value.name, value.ty.as_ref().map(|ty| &ty.form)) else {
            return;
        };
        if let Some(shape) = &tensor.shape {
            let extent = |extent: Extent| if let Extent::Value(extent) = extent { Some(extent) } else { None };
            self.note_shape(name, shape.dims.iter().map(|dim| extent(dim.extent)));
        }
    }

    fn note_tensor(&mut self, name: NameId, tensor: &Tensor) {
        self.scalars.extend(single(tensor).map(|value| (name, value)));
    }

    /// Notes the result of a node whose operands are known.
    pub(super) fn note(&mut self, names: &ModelNames, node: &Node) {
        let text = |name: Option<_>| name.map_or("", |name| names.texts.text(name));
        let &[output] = &node.outputs[..] else { return };
        if !matches!(text(node.domain), "" | "ai.onnx") {
            return;
        }
        match text(node.op_type) {
            "Constant" => {
                let value = node.attributes.iter().find(|attribute| text(attribute.name).starts_with("value"));
                self.scalars.extend(value.and_then(constant).map(|value| (output, value)));
            }
            "Cast" => {
                let to = node.attributes.iter().find(|attribute| text(attribute.name) == "to");
                let value = node.inputs.first().and_then(|input| self.scalar(*input));
                if let (Some(AttributeValue::Int(to)), Some(value)) = (to.map(|to| &to.value), value) {
                    self.scalars.extend(cast(value, *to).map(|value| (output, value)));
                }
            }
            operator => {
                let Some((_, fold)) = FOLDS.iter().find(|row| row.0 == operator) else { return };
                let operands: Option<Vec<Scalar>> = node.inputs.iter().map(|input| self.scalar(*input)).collect();
                self.scalars.extend(operands.and_then(|of| fold(&of)).map(|value| (output, value)));
            }
        }
    }
}

fn constant(of: &Attribute) -> Option<Scalar> {
    match &of.value {
        AttributeValue::Int(value) => Some(Scalar::Int(*value)),
        AttributeValue::Tensor(tensor) => single(tensor),
        _ => None,
    }
}

fn cast(value: Scalar, to: i64) -> Option<Scalar> {
    let element = ElementType::numbered(i32::try_from(to).ok()?)?;
    Some(match (value, element.name) {
        (Scalar::Bool(value), "bool") => Scalar::Bool(value),
        (Scalar::Int(value), "bool") => Scalar::Bool(value != 0),
        (Scalar::Int(value), "int64") => Scalar::Int(value),
        (Scalar::Int(value), "int32") => Scalar::Int(i64::from(i32::try_from(value).ok()?)),
        (Scalar::Bool(value), "int32" | "int64") => Scalar::Int(i64::from(value)),
        _ => return None,
    })
}

/// The only element of a tensor of integers or truth values.
fn single(tensor: &Tensor) -> Option<Scalar> {
    if tensor.dims.iter().any(|extent| *extent != 1) || !tensor.external.is_empty() {
        return None;
    }
    let element = ElementType::numbered(tensor.data_type?)?;
    let Ok(Elements::Ints(values)) = Elements::of(tensor) else { return None };
    match (element.name, &values[..]) {
        ("bool", [value]) => Some(Scalar::Bool(*value != 0)),
        ("int32" | "int64", [value]) => Some(Scalar::Int(*value)),
        _ => None,
    }
}
