//! A call of a standard operator that has a function body.

use super::facts::OperandTypes;
use super::needs::BodyNeeds;
use super::template::UNKNOWN;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::infer::{TensorExtents, TensorFacts, ValueType};
use crate::onnx::model::{AttributeItem, AttributeProto, AttributeValue, ModelNames, NodeProto};
use crate::onnx::types::ElementType;

/// A call of a standard operator.
#[derive(Clone, Copy)]
pub(super) struct StandardCall<'c> {
    pub(super) names: &'c ModelNames,
    pub(super) node: &'c NodeProto,
    /// The version of the operator set that the graph around it imports.
    pub(super) version: i64,
    pub(super) types: &'c dyn OperandTypes,
    /// What the row says that the body depends on: no more may be asked.
    pub(super) needs: BodyNeeds,
    /// The domain of the functions that bodies become.
    pub(super) domain: &'c str,
}

/// The value of an attribute that a builder needs is not known: it is a reference, or of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotKnown;

/// The result of building a body.
pub(super) type Build<T> = Result<T, NotKnown>;

/// The element type with a number.
pub(super) fn element_numbered(number: i64) -> Build<&'static ElementType> {
    i32::try_from(number).ok().and_then(ElementType::numbered).ok_or(NotKnown)
}

impl StandardCall<'_> {
    /// Whether an operand is given.
    pub(super) fn has_input(&self, i: usize) -> bool {
        self.node.inputs.get(i).is_some_and(|input| *input != NameId::ROOT)
    }

    /// Whether a result is used.
    pub(super) fn has_output(&self, i: usize) -> bool {
        self.node.outputs.get(i).is_some_and(|output| *output != NameId::ROOT)
    }

    /// The type of an operand.
    pub(super) fn value_type(&self, i: usize) -> Option<&ValueType> {
        self.node.inputs.get(i).and_then(|input| self.types.of_value(*input))
    }

    /// What is known of an operand, if it is a tensor.
    fn operand(&self, i: usize) -> Build<&TensorFacts> {
        self.value_type(i).and_then(|ty| ty.as_tensor()).ok_or(NotKnown)
    }

    /// The element type of an operand.
    pub(super) fn element(&self, i: usize) -> Build<&'static ElementType> {
        debug_assert!(self.needs > BodyNeeds::Nothing, "the row of this body does not say that it depends on types");
        let element = self.operand(i)?.element.ok_or(NotKnown)?;
        ElementType::numbered(element as i32).ok_or(NotKnown)
    }

    /// The name of the element type of an operand for templates.
    pub(super) fn element_name(&self, i: usize) -> &'static str {
        self.element(i).map_or(UNKNOWN, |element| element.name)
    }

    /// The extents of an operand.
    fn shape(&self, i: usize) -> Build<&TensorExtents> {
        debug_assert_eq!(self.needs, BodyNeeds::Types, "the row of this body does not say that it depends on shapes");
        self.operand(i)?.shape.as_ref().ok_or(NotKnown)
    }

    /// The rank of an operand.
    pub(super) fn rank(&self, i: usize) -> Build<i64> {
        Ok(self.shape(i)?.len() as i64)
    }

    /// The extent of an operand along an axis, if it is a number.
    pub(super) fn extent(&self, i: usize, axis: usize) -> Build<i64> {
        self.shape(i)?.get(axis).and_then(|extent| extent.known()).ok_or(NotKnown)
    }

    /// Whether extents of two operands, each with its axis, are known to be the same.
    pub(super) fn is_same_extent(&self, a: (usize, usize), b: (usize, usize)) -> bool {
        let extent =
            |(i, axis): (usize, usize)| self.shape(i).ok()?.get(axis).filter(|extent| **extent != Dim::Unknown);
        extent(a).is_some() && extent(a) == extent(b)
    }

    /// Whether all items of an operand of integers are known to be a number.
    pub(super) fn all_items_are(&self, i: usize, number: i64) -> bool {
        let items = self.operand(i).ok().and_then(|facts| facts.items.as_ref());
        items.is_some_and(|items| items.iter().all(|item| item.known() == Some(number)))
    }

    /// The only item of an operand of integers.
    pub(super) fn item(&self, i: usize) -> Build<i64> {
        match self.operand(i)?.items.as_deref() {
            Some([item]) => item.known().ok_or(NotKnown),
            _ => Err(NotKnown),
        }
    }

    /// The name of the operator.
    pub(super) fn operator(&self) -> &str {
        self.names.operator(self.node).1
    }

    /// These attributes as the text notation has them, as far as they are given; empty if none is.
    pub(super) fn attributes(&self, names: &[&str]) -> Build<String> {
        let mut texts = Vec::new();
        for name in names {
            let Some(attribute) = self.attribute(name)? else { continue };
            texts.push(match &attribute.value {
                AttributeValue::Int(value) => format!("{name}: int = {value}"),
                AttributeValue::Float(value) if value.is_finite() => format!("{name}: float = {value:e}"),
                AttributeValue::Ints(values) => {
                    let items: Vec<String> = values.iter().map(i64::to_string).collect();
                    format!("{name}: ints = [{}]", items.join(", "))
                }
                AttributeValue::String(value) => {
                    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                    let text = std::str::from_utf8(value).ok().filter(|_| value.iter().all(plain)).ok_or(NotKnown)?;
                    format!("{name}: string = \"{text}\"")
                }
                // Files omit zeros and empty lists.
                AttributeValue::None => continue,
                _ => return Err(NotKnown),
            });
        }
        Ok(if texts.is_empty() { String::new() } else { format!(" <{}>", texts.join(", ")) })
    }

    /// What is known of an attribute: whether it is given, and its value.
    fn attribute(&self, name: &str) -> Build<Option<&AttributeProto>> {
        self.node.attribute(self.names, name).map(|attribute| attribute.plain().ok_or(NotKnown)).transpose()
    }

    /// Whether an attribute is given.
    pub(super) fn has_attribute(&self, name: &str) -> bool {
        !matches!(self.attribute(name), Ok(None))
    }

    /// The value of an attribute as a type has it; none if it is not given.
    pub(super) fn read<T: AttributeItem>(&self, name: &str) -> Build<Option<T>> {
        self.attribute(name)?.map(|attribute| attribute.read().ok_or(NotKnown)).transpose()
    }

    /// An integer attribute.
    pub(super) fn int(&self, name: &str, default: i64) -> Build<i64> {
        Ok(self.read(name)?.unwrap_or(default))
    }

    /// A float attribute; none if it is not given.
    pub(super) fn float(&self, name: &str) -> Build<Option<f32>> {
        self.read(name)
    }

    /// A list of integers; none if it is not given.
    pub(super) fn ints(&self, name: &str) -> Build<Option<Vec<i64>>> {
        self.read(name)
    }

    /// A text attribute.
    pub(super) fn text(&self, name: &str, default: &str) -> Build<String> {
        Ok(self.read(name)?.unwrap_or_else(|| default.to_owned()))
    }
}
