//! A node that goes from one version of an operator to the one before or behind it, and what its rule does to it.

use super::super::simplify::{SimplifyScope, SimplifyStep, StepExtents, given};
use crate::eval::{Budget, Limits};
use crate::graph::Element;

use crate::graph::names::NameId;
use crate::onnx::model::{AttributeItem, AttributeProto, AttributeValue, ModelNames, NodeProto, TensorProto, Values};
pub(super) use crate::onnx::model::{ints_value, text_value};
use crate::onnx::run::{Stores, dtype_of, tensor_of, tensor_proto};
use crate::tensor::{Data, Tensor};

/// The most items of a constant that becomes an attribute.
const MAX_LISTED: i64 = 1024;

/// Why a node cannot be said in another version.
pub(super) type Reason = String;

/// What a rule does, unless the node cannot be said.
pub(super) type Stepped<T = ()> = Result<T, Reason>;

/// The attributes of a new node.
pub(super) type NewAttributes = Vec<(&'static str, AttributeValue)>;

/// A node on its way to another version of its operator.
pub(super) struct OpsetStep<'s, 'm> {
    pub(super) names: &'s mut ModelNames,
    pub(super) scope: &'s SimplifyScope<'m>,
    pub(super) node: NodeProto,
    /// The version of the operator set that the node is of.
    pub(super) from: i64,
    /// The nodes before it and behind it, which are of the version that it goes to.
    pub(super) before: Vec<NodeProto>,
    pub(super) after: Vec<NodeProto>,
}

impl<'m> OpsetStep<'_, 'm> {
    /// The node as rules of simplification see it.
    pub(super) fn view(&self) -> SimplifyStep<'_, 'm> {
        SimplifyStep { names: self.names, scope: self.scope, node: &self.node, version: self.from, uses: &[], start: 0 }
    }

    /// The name of the operator.
    pub(super) fn operator(&self) -> &str {
        self.names.operator(&self.node).1
    }

    /// Makes it a node of another operator.
    pub(super) fn rename(&mut self, operator: &str) {
        self.node.op_type = Some(self.names.texts.intern(operator));
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.node.attribute_place(self.names, name)
    }

    /// Whether an attribute is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// An attribute; none if it is not given.
    pub(super) fn given(&self, name: &str) -> Stepped<Option<&AttributeProto>> {
        let Some(attribute) = self.node.attribute(self.names, name) else { return Ok(None) };
        let other = || format!("the value of `{name}` is that of an attribute of the function around it");
        attribute.plain().map(Some).ok_or_else(other)
    }

    /// The value of an attribute; none if it is not given.
    pub(super) fn value(&self, name: &str) -> Stepped<Option<&AttributeValue>> {
        Ok(self.given(name)?.map(|attribute| &attribute.value))
    }

    /// The value of an attribute as a type has it; none if it is not given.
    pub(super) fn read<T: AttributeItem>(&self, name: &str) -> Stepped<Option<T>> {
        let read = |attribute: &AttributeProto| attribute.read().ok_or_else(|| format!("`{name}` is not {}", T::NAME));
        self.given(name)?.map(read).transpose()
    }

    /// Takes an attribute away. Returns its value; none if it was not given.
    pub(super) fn take(&mut self, name: &str) -> Stepped<Option<AttributeValue>> {
        let value = self.value(name)?.cloned();
        if let Some(at) = self.place(name) {
            self.node.attributes.remove(at);
        }
        Ok(value)
    }

    /// An integer attribute, or its default.
    pub(super) fn int(&self, name: &str, default: i64) -> Stepped<i64> {
        Ok(self.read(name)?.unwrap_or(default))
    }

    /// [`Self::int`], which takes the attribute away.
    pub(super) fn take_int(&mut self, name: &str, default: i64) -> Stepped<i64> {
        let value = self.int(name, default)?;
        self.take(name)?;
        Ok(value)
    }

    /// An attribute with integers; none if it is not given.
    pub(super) fn ints(&self, name: &str) -> Stepped<Option<Vec<i64>>> {
        self.read(name)
    }

    /// A float attribute, or its default.
    pub(super) fn float(&self, name: &str, default: f32) -> Stepped<f32> {
        Ok(self.read(name)?.unwrap_or(default))
    }

    /// A text attribute, or its default.
    pub(super) fn text(&self, name: &str, default: &str) -> Stepped<String> {
        Ok(self.read(name)?.unwrap_or_else(|| default.to_owned()))
    }

    /// Gives an attribute a value.
    pub(super) fn put(&mut self, name: &str, value: AttributeValue) {
        let attribute = AttributeProto::new(&mut self.names.texts, name, value);
        match self.place(name) {
            Some(at) => self.node.attributes[at] = attribute,
            None => self.node.attributes.push(attribute),
        }
    }

    /// Gives a text attribute a value.
    pub(super) fn put_text(&mut self, name: &str, value: &str) {
        self.put(name, text_value(value));
    }

    /// An operand that is given.
    pub(super) fn operand(&self, at: usize) -> Option<NameId> {
        given(&self.node, at)
    }

    /// An operand that has to be given.
    pub(super) fn required(&self, at: usize) -> Stepped<NameId> {
        self.operand(at).ok_or_else(|| format!("operand {at} is missing"))
    }

    /// Gives an operand.
    pub(super) fn give(&mut self, at: usize, name: NameId) {
        let inputs = &mut self.node.inputs;
        inputs.resize(inputs.len().max(at + 1), NameId::ROOT);
        inputs[at] = name;
    }

    /// Leaves an operand out.
    pub(super) fn omit(&mut self, at: usize) {
        if let Some(input) = self.node.inputs.get_mut(at) {
            *input = NameId::ROOT;
        }
        while self.node.inputs.last() == Some(&NameId::ROOT) {
            self.node.inputs.pop();
        }
    }

    /// Whether a result is used.
    pub(super) fn has_result(&self, at: usize) -> bool {
        self.node.outputs.get(at).is_some_and(|name| *name != NameId::ROOT)
    }

    /// The element type of an operand, which has to be known.
    pub(super) fn element(&self, at: usize) -> Stepped<Element> {
        let name = self.required(at)?;
        self.view().element(name).ok_or_else(|| format!("the element type of operand {at} is not known"))
    }

    /// The rank of an operand, which has to be known.
    pub(super) fn rank(&self, at: usize) -> Stepped<i64> {
        let name = self.required(at)?;
        let rank = self.view().rank(name).ok_or_else(|| format!("the rank of operand {at} is not known"))?;
        Ok(rank as i64)
    }

    /// The extents of an operand, whose rank has to be known.
    pub(super) fn shape(&self, at: usize) -> Stepped<StepExtents> {
        let name = self.required(at)?;
        self.view().shape(name).ok_or_else(|| format!("the shape of operand {at} is not known"))
    }

    /// The items of an operand of integers, which have to be known.
    pub(super) fn integers(&self, at: usize) -> Stepped<Vec<i64>> {
        let name = self.required(at)?;
        self.view().integers(name).ok_or_else(|| format!("the items of operand {at} are not known"))
    }

    /// The items of an operand of integers; none if it is not given.
    pub(super) fn optional_integers(&self, at: usize) -> Stepped<Option<Vec<i64>>> {
        if self.operand(at).is_none() { Ok(None) } else { self.integers(at).map(Some) }
    }

    /// The constant that an operand is.
    pub(super) fn known(&self, at: usize) -> Stepped<&TensorProto> {
        let name = self.required(at)?;
        self.scope.constant(name).ok_or_else(|| format!("operand {at} is not a constant"))
    }

    /// The items of an operand of floats, which have to be known, and to have no more digits than an attribute has.
    pub(super) fn floats(&self, at: usize) -> Stepped<Vec<f32>> {
        let constant = self.known(at)?;
        let count = constant.dims.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
        if constant.is_external() || count.is_none_or(|count| count > MAX_LISTED) {
            return Err(format!("operand {at} is too large for an attribute"));
        }
        let budget = Budget::new(Limits::default());
        let tensor = tensor_of(constant, &Stores::new(None), &budget).map_err(|error| error.to_string())?;
        let narrow = |item: &f64| (f64::from(*item as f32).to_bits() == item.to_bits()).then_some(*item as f32);
        let items = match tensor.data() {
            Data::Float32(items) | Data::Narrow(_, items) => Some(items.clone()),
            Data::Float64(items) => items.iter().map(narrow).collect(),
            _ => None,
        };
        items.ok_or_else(|| format!("operand {at} has no floats that an attribute could have"))
    }

    /// A name for a value that the node makes.
    fn fresh(&mut self, operator: &str) -> NameId {
        let of = self.node.outputs.iter().copied().find(|name| *name != NameId::ROOT).unwrap_or(NameId::ROOT);
        let segment = self.names.texts.intern(&operator.to_ascii_lowercase());
        let name = self.names.values.child(of, segment, 0, true);
        self.names.values.mark_used(name);
        name
    }

    fn made(&mut self, operator: &str, inputs: &[NameId], result: NameId, attributes: NewAttributes) -> NodeProto {
        let attributes = attributes
            .into_iter()
            .map(|(name, value)| AttributeProto::new(&mut self.names.texts, name, value))
            .collect();
        NodeProto {
            inputs: Values::from_slice(inputs),
            outputs: Values::from_slice(&[result]),
            op_type: Some(self.names.texts.intern(operator)),
            domain: self.node.domain,
            attributes,
            at: self.node.at,
            origin: self.node.origin,
            ..NodeProto::default()
        }
    }

    /// Adds a node before it. Returns its result.
    pub(super) fn add(&mut self, operator: &str, inputs: &[NameId], attributes: NewAttributes) -> NameId {
        let result = self.fresh(operator);
        let node = self.made(operator, inputs, result, attributes);
        self.before.push(node);
        result
    }

    /// Adds a constant before it. Returns its name.
    pub(super) fn constant(&mut self, shape: &[usize], data: Data) -> Stepped<NameId> {
        let tensor = Tensor::new(shape, data).ok_or("a constant does not fit its shape")?;
        let value = AttributeValue::Tensor(Box::new(tensor_proto(&tensor, None)));
        Ok(self.add("Constant", &[], vec![("value", value)]))
    }

    /// Adds a constant with a list of integers.
    pub(super) fn list(&mut self, items: &[i64]) -> Stepped<NameId> {
        self.constant(&[items.len()], Data::Int64(items.to_vec()))
    }

    /// Adds a constant with one number of an element type.
    pub(super) fn number(&mut self, element: Element, value: f32) -> Stepped<NameId> {
        let dtype = dtype_of(element as i32).ok_or("there are no constants of the element type")?;
        self.constant(&[], Data::from_floats(dtype, std::iter::once(f64::from(value))))
    }

    /// Lets another node make a result, of what the node makes now and further operands.
    pub(super) fn then(&mut self, at: usize, operator: &str, further: &[NameId], attributes: NewAttributes) {
        let Some(result) = self.node.outputs.get(at).copied().filter(|name| *name != NameId::ROOT) else { return };
        let inner = self.fresh(operator);
        self.node.outputs[at] = inner;
        let inputs: Vec<NameId> = [inner].iter().chain(further).copied().collect();
        let node = self.made(operator, &inputs, result, attributes);
        self.after.push(node);
    }
}
