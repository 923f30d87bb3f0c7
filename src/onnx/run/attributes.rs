//! The values of attributes, references to those of a function's call included.

use crate::eval::EvalError;
use crate::onnx::model::{
    AttributeItem, AttributeProto, AttributeValue, FunctionProto, GraphProto, ModelNames, NodeProto, TensorProto,
};
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

impl<'m> NodeAttributes<'_, 'm> {
    /// The attribute with a name.
    pub(crate) fn find(&self, name: &str) -> Option<&'m AttributeProto> {
        resolved(self.node.attribute(self.names, name)?, self.bound)
    }

    fn wrong(&self, name: &str, wanted: &str) -> EvalError {
        EvalError::argument(format!("the attribute `{name}` is not {wanted}"))
    }

    /// The value of an attribute as a type has it; none if it is not given.
    pub(crate) fn read<T: AttributeItem>(&self, name: &str) -> Result<Option<T>, EvalError> {
        let read = |attribute: &AttributeProto| attribute.read().ok_or_else(|| self.wrong(name, T::NAME));
        self.find(name).map(read).transpose()
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Option<&'m TensorProto>, EvalError> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        match &attribute.value {
            AttributeValue::Tensor(tensor) => Ok(Some(tensor)),
            _ => Err(self.wrong(name, "a tensor")),
        }
    }

    pub(super) fn graph(&self, name: &str) -> Result<&'m GraphProto, EvalError> {
        match self.find(name).map(|attribute| &attribute.value) {
            Some(AttributeValue::Graph(graph)) => Ok(graph),
            _ => Err(self.wrong(name, "a graph")),
        }
    }
}
