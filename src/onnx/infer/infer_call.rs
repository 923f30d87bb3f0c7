//! A node as the rules of operators see it: operands, attributes, and what is found about the results.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::declared::of_constant;
use super::facts::{KnownItems, TensorExtents, TensorFacts, ValueType};
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::elements::Elements;
use crate::onnx::model::{AttributeProto, AttributeValue, ModelNames, NodeProto, TensorProto, ValueInfo};
use crate::onnx::types::AttributeType;
use crate::source::names::Name;

/// The largest number of items that are followed through operators.
pub(crate) const MAX_ITEMS: usize = 64;

/// [`MAX_ITEMS`] as a count of a constant.
const MAX_SHORT: i64 = MAX_ITEMS as i64;

/// The largest number of items of a constant of integers that a rule reads, and of one of floats: these are factors and
/// bounds, or weights, which decide nothing.
const MAX_CONSTANT: i64 = 1 << 16;
const MAX_FLOATS: i64 = 64;

/// The largest rank that results have.
const MAX_RANK: usize = 1024;

/// A value that an operator may read.
#[derive(Clone, Debug, Default)]
pub(super) struct Known<'m> {
    pub(super) ty: ValueType,
    /// The constant, if it is one that rules read.
    pub(super) constant: Option<&'m TensorProto>,
}

impl<'m> Known<'m> {
    /// A value that may be a constant.
    pub(super) fn new(ty: ValueType, constant: Option<&'m TensorProto>) -> Self {
        Known { ty, constant: constant.filter(|constant| is_read(constant)) }
    }

    /// A constant; the items of a short one of integers or truth values are part of its type.
    pub(super) fn of_constant(constant: &'m TensorProto) -> Self {
        let mut known = Known::new(of_constant(constant), Some(constant));
        if let (ValueType::Tensor(facts), Some(0..=MAX_SHORT)) = (&mut known.ty, count_of(constant)) {
            facts.items = integers(constant).map(|items| items.into_iter().map(Dim::Int).collect());
        }
        known
    }
}

/// The attributes that a call gives a function, by name.
pub(super) type Bindings<'m> = FxHashMap<Name, &'m AttributeProto>;

/// A node, and what its rule has found.
pub(crate) struct InferCall<'c, 'm> {
    pub(super) names: &'c ModelNames,
    pub(super) node: &'m NodeProto,
    /// The version of the operator set of the node.
    pub(super) version: i64,
    pub(super) operands: SmallVec<[Option<&'c Known<'m>>; 4]>,
    /// The inputs of the function around the node that its call omits.
    pub(super) absent: &'c FxHashSet<NameId>,
    pub(super) bindings: &'c Bindings<'m>,
    pub(super) results: SmallVec<[ValueType; 2]>,
    /// Whether somebody reads why a node cannot run.
    pub(super) tells: bool,
}

impl<'m> InferCall<'_, 'm> {
    /// The version of the operator set.
    pub(crate) fn version(&self) -> i64 {
        self.version
    }

    /// Whether somebody reads why a node cannot run.
    pub(super) fn tells(&self) -> bool {
        self.tells
    }

    /// The number of operands, omitted ones included.
    pub(crate) fn operand_count(&self) -> usize {
        self.operands.len()
    }

    /// The number of results, omitted ones included.
    pub(crate) fn result_count(&self) -> usize {
        self.results.len()
    }

    /// The name of an operand.
    pub(crate) fn operand_name(&self, operand: usize) -> String {
        self.names.spelled(self.node.inputs.get(operand).copied().unwrap_or(NameId::ROOT))
    }

    /// Whether an operand is given. A given operand may be unknown.
    pub(crate) fn has(&self, operand: usize) -> bool {
        self.node.inputs.get(operand).is_some_and(|name| *name != NameId::ROOT && !self.absent.contains(name))
    }

    fn known(&self, operand: usize) -> Option<&Known<'m>> {
        *self.operands.get(operand)?
    }

    /// Whether an operand is a constant that rules read.
    pub(crate) fn is_constant(&self, operand: usize) -> bool {
        self.known(operand).is_some_and(|known| known.constant.is_some())
    }

    /// The type of an operand.
    pub(crate) fn operand(&self, operand: usize) -> Option<&ValueType> {
        Some(&self.known(operand)?.ty)
    }

    /// The element type of an operand.
    pub(crate) fn element(&self, operand: usize) -> Option<Element> {
        self.operand(operand)?.element()
    }

    /// The shape of an operand.
    pub(crate) fn shape(&self, operand: usize) -> Option<TensorExtents> {
        self.operand(operand)?.shape().cloned()
    }

    /// The extents of an operand.
    pub(crate) fn extents(&self, operand: usize) -> Option<&[Dim]> {
        Some(self.operand(operand)?.shape()?)
    }

    /// The rank of an operand.
    pub(crate) fn rank(&self, operand: usize) -> Option<usize> {
        Some(self.extents(operand)?.len())
    }

    /// An extent of an operand; unknown if there is none.
    pub(crate) fn extent(&self, operand: usize, axis: usize) -> Dim {
        self.extents(operand).and_then(|extents| extents.get(axis)).cloned().unwrap_or(Dim::Unknown)
    }

    /// How many axes a shape has that an operand lists, if only their number is known. What is declared may be any number:
    /// there are no results with more than [`MAX_RANK`] axes.
    pub(crate) fn listed_axes(&self, operand: usize) -> Option<usize> {
        let [extent] = self.extents(operand)? else { return None };
        usize::try_from(extent.known()?).ok().filter(|axes| *axes <= MAX_RANK)
    }

    /// The extent that these axes of operands share.
    pub(crate) fn shared(&self, axes: &[(usize, usize)]) -> Dim {
        let extents = axes.iter().map(|(operand, axis)| self.extent(*operand, *axis));
        extents.fold(Dim::Unknown, |shared, extent| shared.clone().unify(extent).unwrap_or(shared))
    }

    /// The items of an operand of integers or truth values; each may be unknown.
    pub(crate) fn items(&self, operand: usize) -> Option<KnownItems> {
        let known = self.known(operand)?;
        if let Some(items) = known.ty.as_tensor().and_then(|facts| facts.items.as_ref()) {
            return Some(items.clone());
        }
        Some(integers(known.constant?)?.into_iter().map(Dim::Int).collect())
    }

    /// The items of an operand of integers, if all are known.
    pub(crate) fn integers(&self, operand: usize) -> Option<Vec<i64>> {
        self.items(operand)?.iter().map(Dim::known).collect()
    }

    /// The only item of an operand.
    pub(crate) fn item(&self, operand: usize) -> Dim {
        match self.items(operand).as_deref() {
            Some([item]) => item.clone(),
            _ => Dim::Unknown,
        }
    }

    /// The items of a constant operand of floats.
    pub(crate) fn floats(&self, operand: usize) -> Option<Vec<f64>> {
        let tensor = self.known(operand)?.constant.filter(|tensor| is_read(tensor))?;
        match Elements::of(tensor).ok()? {
            Elements::Floats(items) => Some(items.into_iter().map(f64::from).collect()),
            Elements::Doubles(items) => Some(items),
            _ => None,
        }
    }

    fn attribute_of(&self, name: &str) -> Option<&'m AttributeProto> {
        let attribute = self.node.attribute(self.names, name)?;
        match attribute.reference {
            Some(reference) => self.bindings.get(&reference).copied(),
            None => Some(attribute),
        }
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'m, AttributeValue>> {
        let attribute = self.attribute_of(name)?;
        match attribute.value {
            AttributeValue::None => match attribute.kind.and_then(AttributeType::numbered)? {
                AttributeType::Ints => Some(Cow::Owned(AttributeValue::Ints(Vec::new()))),
                kind => AttributeValue::implied(kind).map(Cow::Owned),
            },
            _ => Some(Cow::Borrowed(&attribute.value)),
        }
    }

    /// An attribute with an integer.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.attribute_of(name)?.read()
    }

    /// An attribute with an integer, or its default.
    pub(crate) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    /// An attribute with integers.
    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.attribute_of(name)?.read()
    }

    /// An attribute with floats.
    pub(crate) fn floats_of(&self, name: &str) -> Option<Vec<f32>> {
        match self.attribute(name)?.as_ref() {
            AttributeValue::Floats(values) => Some(values.clone()),
            _ => None,
        }
    }

    /// The number of items of an attribute with a list.
    pub(crate) fn list_length(&self, name: &str) -> Option<usize> {
        match self.attribute(name)?.as_ref() {
            AttributeValue::Ints(values) => Some(values.len()),
            AttributeValue::Floats(values) => Some(values.len()),
            AttributeValue::Strings(values) => Some(values.len()),
            _ => None,
        }
    }

    /// An attribute with a tensor.
    pub(crate) fn tensor(&self, name: &str) -> Option<&'m TensorProto> {
        match &self.attribute_of(name)?.value {
            AttributeValue::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// An attribute with a type.
    pub(crate) fn declared_type(&self, name: &str) -> Option<ValueType> {
        match &self.attribute_of(name)?.value {
            AttributeValue::Type(ty) => Some(super::declared::declared(self.names, ty)),
            _ => None,
        }
    }

    /// The types that the graph in an attribute declares for its first input and its first output.
    pub(crate) fn ends_of_graph(&self, name: &str) -> Option<[ValueType; 2]> {
        let AttributeValue::Graph(graph) = &self.attribute_of(name)?.value else { return None };
        let first = |values: &[ValueInfo]| {
            let declared = |ty| super::declared::declared(self.names, ty);
            values.first().and_then(|value| value.ty.as_ref()).map_or(ValueType::Unknown, declared)
        };
        Some([first(&graph.inputs), first(&graph.outputs)])
    }

    /// An attribute with a text; empty if it is not given.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'m, str>> {
        match self.attribute(name)? {
            Cow::Borrowed(AttributeValue::String(bytes)) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(AttributeValue::String(_)) => Some(Cow::Borrowed("")),
            _ => None,
        }
    }

    /// Whether an attribute has a value.
    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        self.attribute_of(name).is_some()
    }

    /// The facts of a result. It becomes a tensor if it is of unknown type.
    fn facts(&mut self, result: usize) -> Option<&mut TensorFacts> {
        let ty = self.results.get_mut(result)?;
        if *ty == ValueType::Unknown {
            *ty = ValueType::Tensor(TensorFacts::default());
        }
        match ty {
            ValueType::Tensor(facts) => Some(facts),
            _ => None,
        }
    }

    /// The element type of a result as it is found so far.
    pub(crate) fn result_element(&self, result: usize) -> Option<Element> {
        self.results.get(result)?.element()
    }

    /// The shape of a result as it is found so far.
    pub(crate) fn result_shape(&self, result: usize) -> Option<&TensorExtents> {
        self.results.get(result)?.shape()
    }

    /// Sets the shape of a result, if there is such a result.
    pub(crate) fn give(&mut self, result: usize, shape: impl Into<TensorExtents>) {
        let mut shape = shape.into();
        // A negative extent is that of an invalid model.
        if shape.iter().any(|extent| matches!(extent, Dim::Int(..=-1))) {
            let valid = |extent: &Dim| if matches!(extent, Dim::Int(..=-1)) { Dim::Unknown } else { extent.clone() };
            shape = shape.iter().map(valid).collect();
        }
        if let Some(facts) = self.facts(result).filter(|_| shape.len() <= MAX_RANK) {
            facts.shape = Some(shape);
        }
    }

    /// Sets the element type of a result.
    pub(crate) fn give_element(&mut self, result: usize, element: Element) {
        if let Some(facts) = self.facts(result) {
            facts.element = Some(element);
        }
    }

    /// Sets the items of a result. Those that do not fit in 32 bits wrap around when the model runs: they are not known.
    pub(crate) fn give_items(&mut self, result: usize, items: impl Into<KnownItems>) {
        let mut items = items.into();
        let is_narrow = self.result_element(result) == Some(Element::Int32);
        let fits = |item: &Dim| item.known().is_none_or(|item| i32::try_from(item).is_ok());
        if is_narrow && !items.iter().all(fits) {
            items = items.iter().map(|item| if fits(item) { item.clone() } else { Dim::Unknown }).collect();
        }
        if let Some(facts) = self.facts(result).filter(|_| items.len() <= MAX_ITEMS) {
            facts.items = Some(items);
        }
    }

    /// Sets the type of a result.
    pub(crate) fn give_type(&mut self, result: usize, ty: ValueType) {
        if let Some(result) = self.results.get_mut(result) {
            *result = ty;
        }
    }
}

/// The number of items of a constant.
fn count_of(tensor: &TensorProto) -> Option<i64> {
    tensor.dims.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent))
}

/// Whether rules read a constant.
fn is_read(tensor: &TensorProto) -> bool {
    let most = if whole(tensor).is_some() { MAX_CONSTANT } else { MAX_FLOATS };
    !tensor.is_external() && count_of(tensor).is_some_and(|count| (0..=most).contains(&count))
}

/// The type of a constant of integers or truth values.
fn whole(tensor: &TensorProto) -> Option<Element> {
    Element::numbered(tensor.data_type?.into()).filter(|element| element.is_whole())
}

/// The items of a constant of integers or truth values.
pub(in crate::onnx) fn integers(tensor: &TensorProto) -> Option<Vec<i64>> {
    whole(tensor).filter(|_| is_read(tensor))?;
    match Elements::of(tensor).ok()? {
        Elements::Ints(items) => Some(items),
        Elements::Unsigned(items) => items.into_iter().map(|item| i64::try_from(item).ok()).collect(),
        _ => None,
    }
}
