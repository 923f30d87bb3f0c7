//! The values of attributes, references to those of a function's call included.

use crate::eval::EvalError;
use crate::onnx::model::{
    AttributeItem, AttributeProto, AttributeValue, FunctionProto, GraphProto, ModelNames, NodeProto, TensorProto,
};
use crate::source::names::Name;

/// The attributes that a call gives to a function, and the defaults of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallAttributes<'m>(Vec<(Name, GivenAttribute<'m>)>);

/// An attribute, and how many functions were given it by the function around them.
type GivenAttribute<'m> = (&'m AttributeProto, usize);

impl<'m> CallAttributes<'m> {
    /// The attributes of a call.
    pub(super) fn of_call(
        function: &'m FunctionProto,
        node: &'m NodeProto,
        outer: Option<&CallAttributes<'m>>,
    ) -> Self {
        let given = |attribute: &'m AttributeProto| {
            let (given, handed_on) = resolved(attribute, outer)?;
            Some((given, handed_on + usize::from(attribute.reference.is_some())))
        };
        let named = |attribute: &'m AttributeProto| Some((attribute.name?, given(attribute)?));
        let given: Vec<_> = node.attributes.iter().filter_map(named).collect();
        let defaults = function.defaults.iter().filter_map(|default| Some((default.name?, (default, 0))));
        let missing = defaults.filter(|(name, _)| !given.iter().any(|(other, _)| other == name)).collect::<Vec<_>>();
        CallAttributes(given.into_iter().chain(missing).collect())
    }

    fn get(&self, name: Name) -> Option<GivenAttribute<'m>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, given)| *given)
    }
}

/// The attribute that a reference stands for, or the attribute itself; none if the call does not give it.
fn resolved<'m>(attribute: &'m AttributeProto, bound: Option<&CallAttributes<'m>>) -> Option<GivenAttribute<'m>> {
    match attribute.reference {
        Some(reference) => bound?.get(reference),
        None => Some((attribute, 0)),
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
        self.given(name).map(|(attribute, _)| attribute)
    }

    fn given(&self, name: &str) -> Option<GivenAttribute<'m>> {
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

    /// A graph, and how many functions were given it by the function around them.
    pub(super) fn graph(&self, name: &str) -> Result<(&'m GraphProto, usize), EvalError> {
        match self.given(name).map(|(attribute, handed_on)| (&attribute.value, handed_on)) {
            Some((AttributeValue::Graph(graph), handed_on)) => Ok((graph, handed_on)),
            _ => Err(self.wrong(name, "a graph")),
        }
    }
}
