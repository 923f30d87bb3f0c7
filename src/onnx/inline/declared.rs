//! Declared types of values: whether the types that a function notes for its values hold for a call.
//!
//! A function may be called with values of any types and shapes; what it notes holds for the call it was written for.

use rustc_hash::FxHashMap;

use super::callee::Callee;
use crate::graph::names::NameId;
use crate::onnx::model::{
    Dim, Extent, Fields, FunctionProto, GraphProto, ShapeProto, TensorProto, TensorType, TypeForm, TypeProto, ValueInfo,
};
use crate::onnx::types::ElementType;

/// The declared types of values of a graph or function, if any function notes types.
#[derive(Debug, Default)]
pub(super) struct Declared {
    is_needed: bool,
    types: FxHashMap<NameId, TypeProto>,
}

impl Declared {
    /// A table that stays empty unless types are needed.
    pub(super) fn new(is_needed: bool) -> Self {
        Declared { is_needed, ..Declared::default() }
    }

    /// Adds the types that a graph declares.
    pub(super) fn add_graph(&mut self, graph: &GraphProto) {
        if self.is_needed {
            let constants = graph.initializers.iter().filter_map(|tensor| Some((tensor.name?, type_of(tensor))));
            self.types.extend(constants);
            graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info).for_each(|value| self.add(value));
        }
    }

    /// Replaces the types by those that a function notes: its names are its own.
    pub(super) fn enter(&mut self, function: &FunctionProto) {
        self.types.clear();
        function.value_info.iter().for_each(|value| self.add(value));
    }

    /// Adds the type of a value.
    pub(super) fn add(&mut self, value: &ValueInfo) {
        if let (true, Some(name), Some(ty)) = (self.is_needed, value.name, &value.ty) {
            self.types.insert(name, ty.clone());
        }
    }

    /// Whether the types that a function notes hold for a call with these operands.
    ///
    /// The types of a function with one call were noted for that call, unless its inputs have other types. The types of
    /// a function with several calls hold where nothing but the types of the operands determines them, and these are
    /// the ones that it notes.
    pub(super) fn hold(&self, callee: &Callee, function: &FunctionProto, operands: &[NameId]) -> bool {
        let mut noted = callee.noted.iter().enumerate().map(|(i, noted)| {
            let noted = function.value_info.get((*noted)?)?.ty.as_ref();
            Some((noted?, self.types.get(operands.get(i)?)?))
        });
        match callee.copies {
            0 | 1 => noted.flatten().all(|(noted, actual)| agrees(noted, actual)),
            _ => {
                let has_attributes = !function.attributes.is_empty() || !function.defaults.is_empty();
                !has_attributes && noted.all(|pair| pair.is_some_and(|(noted, actual)| determines(noted, actual)))
            }
        }
    }
}

fn type_of(tensor: &TensorProto) -> TypeProto {
    let dims = tensor.dims.iter().map(|extent| Dim { extent: Extent::Value(*extent), rest: Fields::None }).collect();
    let shape = Some(ShapeProto { dims, rest: Fields::None });
    TypeProto {
        form: TypeForm::Tensor(TensorType { element: tensor.data_type, shape, rest: Fields::None }),
        rest: Fields::None,
    }
}

/// Whether two types do not contradict each other.
fn agrees(noted: &TypeProto, actual: &TypeProto) -> bool {
    let (TypeForm::Tensor(noted), TypeForm::Tensor(actual)) = (&noted.form, &actual.form) else {
        return std::mem::discriminant(&noted.form) == std::mem::discriminant(&actual.form);
    };
    let elements = noted.element.zip(actual.element).is_none_or(|(noted, actual)| noted == actual);
    let dims = |(noted, actual): (&Dim, &Dim)| match (noted.extent, actual.extent) {
        (Extent::Value(noted), Extent::Value(actual)) => noted == actual,
        _ => true,
    };
    let shapes = noted.shape.as_ref().zip(actual.shape.as_ref()).is_none_or(|(noted, actual)| {
        noted.dims.len() == actual.dims.len() && noted.dims.iter().zip(&actual.dims).all(dims)
    });
    elements && shapes
}

/// Whether two types are equal, and values of this type do not determine other types: integers may be extents.
fn determines(noted: &TypeProto, actual: &TypeProto) -> bool {
    let (TypeForm::Tensor(noted), TypeForm::Tensor(actual)) = (&noted.form, &actual.form) else { return false };
    let is_number = |name: &str| !name.starts_with("int") && !name.starts_with("uint") && name != "bool";
    let element = noted.element.and_then(ElementType::numbered).is_some_and(|element| is_number(element.name));
    let extents = |shape: &Option<ShapeProto>| -> Option<Vec<i64>> {
        let extent = |dim: &Dim| if let Extent::Value(extent) = dim.extent { Some(extent) } else { None };
        shape.as_ref()?.dims.iter().map(extent).collect()
    };
    let shape = extents(&noted.shape);
    element && noted.element == actual.element && shape.is_some() && shape == extents(&actual.shape)
}
