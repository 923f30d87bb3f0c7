//! The values of attributes, references to those of a function's call included.

use bytes::Bytes;

use crate::eval::EvalError;
use crate::onnx::model::{
    AttributeProto, AttributeValue, FunctionProto, GraphProto, ModelNames, NodeProto, TensorProto,
};
use crate::onnx::types::AttributeType;
use crate::source::names::Name;

/// The attributes that a call gives to a function, and the defaults of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallAttributes<'m>(Vec<(Name, &'m AttributeProto)>);

impl<'m> CallAttributes<'m> {
    /// The attributes of a call.
    pub(super) fn of_call(
        function: &'m FunctionProto,
        node: &'m NodeProto,
        outer: Option<&CallAttributes<'m>>,
    ) -> Self {
        let named = |attribute: &'m AttributeProto| Some((attribute.name?, resolved(attribute, outer)?));
        let given: Vec<_> = node.attributes.iter().filter_map(named).collect();
        let defaults = function.defaults.iter().filter_map(|default| Some((default.name?, default)));
        let missing = defaults.filter(|(name, _)| !given.iter().any(|(other, _)| other == name)).collect::<Vec<_>>();
        CallAttributes(given.into_iter().chain(missing).collect())
    }

    fn get(&self, name: Name) -> Option<&'m AttributeProto> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, attribute)| *attribute)
    }
}

/// The attribute that a reference stands for, or the attribute itself; none if the call does not give it.
fn resolved<'m>(attribute: &'m AttributeProto, bound: Option<&CallAttributes<'m>>) -> Option<&'m AttributeProto> {
    match attribute.reference {
        Some(reference) => bound?.get(reference),
        None => Some(attribute),
    }
}

/// The attributes of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeAttributes<'c, 'm> {
    pub(crate) names: &'m ModelNames,
    pub(crate) node: &'m NodeProto,
    pub(crate) bound: Option<&'c CallAttributes<'m>>,
}

/// The value of an attribute of a kind that protobuf may omit: zero, empty text, or an empty list.
fn omitted(attribute: &AttributeProto) -> Option<AttributeType> {
    attribute.kind.and_then(AttributeType::numbered).filter(|_| attribute.value == AttributeValue::None)
}

impl<'m> NodeAttributes<'_, 'm> {
    /// The attribute with a name.
    pub(crate) fn find(&self, name: &str) -> Option<&'m AttributeProto> {
        let is = |attribute: &&AttributeProto| attribute.name.is_some_and(|known| self.names.texts.text(known) == name);
        resolved(self.node.attributes.iter().find(is)?, self.bound)
    }

    fn wrong<T>(&self, name: &str, wanted: &str) -> Result<T, EvalError> {
        Err(EvalError::argument(format!("the attribute `{name}` is not {wanted}")))
    }

    pub(crate) fn int(&self, name: &str) -> Result<Option<i64>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        match (&attribute.value, omitted(attribute)) {
            (AttributeValue::Int(value), _) => Ok(Some(*value)),
            (_, Some(AttributeType::Int)) => Ok(Some(0)),
            _ => self.wrong(name, "an integer"),
        }
    }

    pub(crate) fn float(&self, name: &str) -> Result<Option<f32>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        match (&attribute.value, omitted(attribute)) {
            (AttributeValue::Float(value), _) => Ok(Some(*value)),
            (_, Some(AttributeType::Float)) => Ok(Some(0.0)),
            _ => self.wrong(name, "a float"),
        }
    }

    pub(crate) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        match &attribute.value {
            AttributeValue::Ints(values) => Ok(Some(values.clone())),
            AttributeValue::None => Ok(Some(Vec::new())),
            _ => self.wrong(name, "a list of integers"),
        }
    }

    pub(crate) fn floats(&self, name: &str) -> Result<Option<Vec<f32>>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        match &attribute.value {
            AttributeValue::Floats(values) => Ok(Some(values.clone())),
            AttributeValue::None => Ok(Some(Vec::new())),
            _ => self.wrong(name, "a list of floats"),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        match (&attribute.value, omitted(attribute)) {
            (AttributeValue::String(text), _) => Ok(Some(String::from_utf8_lossy(text).into_owned())),
            (_, Some(AttributeType::String)) => Ok(Some(String::new())),
            _ => self.wrong(name, "text"),
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        match &attribute.value {
            AttributeValue::Strings(values) => Ok(Some(values.iter().map(text).collect())),
            AttributeValue::None => Ok(Some(Vec::new())),
            _ => self.wrong(name, "a list of texts"),
        }
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Option<&'m TensorProto>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        match &attribute.value {
            AttributeValue::Tensor(tensor) => Ok(Some(tensor)),
            _ => self.wrong(name, "a tensor"),
        }
    }

    pub(super) fn graph(&self, name: &str) -> Result<&'m GraphProto, EvalError> {
        match self.find(name).map(|attribute| &attribute.value) {
            Some(AttributeValue::Graph(graph)) => Ok(graph),
            _ => self.wrong(name, "a graph"),
        }
    }
}
