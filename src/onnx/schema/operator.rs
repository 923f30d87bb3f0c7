//! The schema of a version of an operator.

use super::type_set::TypeSet;
use crate::onnx::model::AttributeValue;
use crate::onnx::types::AttributeType;

/// The number of operands of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// `least` or more, all of the same type if `alike` is set.
    Variadic {
        least: usize,
        alike: bool,
    },
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterType {
    /// A type variable, as its index: all parameters with the same variable have the same type.
    Variable(usize),
    /// One of a set of types.
    Fixed(TypeSet),
}

/// An input or an output of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) ty: ParameterType,
    pub(crate) presence: Presence,
}

impl Parameter {
    /// The types that it may have in its operator.
    pub(crate) fn allowed(&self, schema: &Schema) -> TypeSet {
        match self.ty {
            ParameterType::Variable(variable) => schema.variables[variable].1,
            ParameterType::Fixed(set) => set,
        }
    }
}

/// An attribute of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeRow {
    pub(crate) name: &'static str,
    pub(crate) kind: AttributeType,
    pub(crate) required: bool,
    /// Its default, if it is a single number or a word.
    pub(crate) default: Option<&'static str>,
}

/// A version of an operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// Its number among the schemas of the table, from 0 on.
    pub(crate) number: usize,
    pub(crate) version: i64,
    /// Whether it is of onnxruntime, and not of the standard.
    pub(crate) of_vendor: bool,
    pub(crate) deprecated: bool,
    pub(crate) inputs: Vec<Parameter>,
    pub(crate) outputs: Vec<Parameter>,
    /// The type variables with their allowed types.
    pub(crate) variables: Vec<(&'static str, TypeSet)>,
    pub(crate) attributes: Vec<AttributeRow>,
}

impl AttributeRow {
    /// Whether a value is the default.
    pub(crate) fn is_default(&self, value: &AttributeValue) -> bool {
        self.default.is_some_and(|default| match value {
            AttributeValue::Int(value) => default.parse() == Ok(*value),
            AttributeValue::Float(value) => default.parse().is_ok_and(|own: f32| own.to_bits() == value.to_bits()),
            AttributeValue::String(value) => default.as_bytes() == &value[..],
            _ => false,
        })
    }
}

/// The minimum and maximum number of operands.
pub(crate) fn counts(parameters: &[Parameter]) -> (usize, usize) {
    let least = parameters.iter().enumerate().map(|(i, parameter)| match parameter.presence {
        Presence::Required => i + 1,
        Presence::Optional => 0,
        Presence::Variadic { least, .. } => i + least,
    });
    let open = parameters.last().is_some_and(|last| matches!(last.presence, Presence::Variadic { .. }));
    (least.max().unwrap_or(0), if open { usize::MAX } else { parameters.len() })
}
