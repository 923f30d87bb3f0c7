//! The nodes of an expanded loop other than the copies of its body: constants, items of values, and stacks of them.

use bytes::Bytes;

use super::copy::{CopyTarget, Expand, Expansion, InlinedCall};
use super::known::Scalar;
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::model::{AttributeProto, AttributeValue, EncodedField, NodeProto, TensorProto, Values, Wire};
use crate::onnx::protobuf::fields::tensor as tensor_fields;

/// The first version in which the axes of `Unsqueeze` are an operand.
const AXES_ARE_OPERANDS: i64 = 13;

impl Expansion<'_> {
    /// Adds a node of the standard domain.
    pub(super) fn operation(
        &mut self,
        operator: &str,
        inputs: &[NameId],
        output: NameId,
        attributes: Vec<AttributeProto>,
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<()> {
        let texts = &mut self.names.texts;
        let node = NodeProto {
            inputs: Values::from_slice(inputs),
            outputs: Values::from_slice(&[output]),
            op_type: Some(texts.intern(operator)),
            domain: Some(texts.intern("")),
            attributes,
            rest: call.metadata.clone(),
            at: call.at,
            origin: call.origin,
            ..NodeProto::default()
        };
        self.add_copy(node, target)
    }

    /// Copies a value to a result, unless the result is omitted.
    pub(super) fn copy_value(
        &mut self,
        value: NameId,
        result: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<()> {
        if result == NameId::ROOT {
            return Ok(());
        }
        self.operation("Identity", &[value], result, Vec::new(), call, target)
    }

    /// Adds a constant tensor.
    pub(super) fn add_constant(
        &mut self,
        tensor: TensorProto,
        result: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<()> {
        let value = AttributeValue::Tensor(Box::new(tensor));
        let attribute = AttributeProto::new(&mut self.names.texts, "value", value);
        self.operation("Constant", &[], result, vec![attribute], call, target)
    }

    /// Adds a constant for a name of a body.
    pub(super) fn constant(
        &mut self,
        value: Scalar,
        name: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<NameId> {
        let result = self.fresh(call, name);
        self.add_scalar(value, result, call, target)?;
        Ok(result)
    }

    /// Adds a constant of rank 0.
    pub(super) fn add_scalar(
        &mut self,
        value: Scalar,
        result: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<()> {
        self.add_constant(tensor_of(value, &[]), result, call, target)
    }

    /// Adds the item of a value at an index along an axis.
    pub(super) fn item(
        &mut self,
        value: NameId,
        axis: i64,
        index: i64,
        formal: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
    ) -> Expand<NameId> {
        let item = self.fresh(call, formal);
        let segment = self.names.texts.intern("index");
        let at = self.child(item, segment, 0);
        self.add_constant(tensor_of(Scalar::Int(index), &[]), at, call, target)?;
        let axis = AttributeProto::new(&mut self.names.texts, "axis", AttributeValue::Int(axis));
        self.operation("Gather", &[value, at], item, vec![axis], call, target)?;
        Ok(item)
    }

    /// Stacks items along a new axis.
    pub(super) fn stack(
        &mut self,
        items: &Values,
        axis: i64,
        result: NameId,
        call: &InlinedCall,
        target: &mut CopyTarget,
        imports: &mut Imports,
    ) -> Expand<()> {
        let as_operand = imports.version_read(self.names, None) >= AXES_ARE_OPERANDS;
        let axes = match as_operand {
            false => None,
            true => {
                let segment = self.names.texts.intern("axes");
                let axes = self.child(result, segment, 0);
                self.add_constant(tensor_of(Scalar::Int(axis), &[1]), axes, call, target)?;
                Some(axes)
            }
        };
        let mut parts = Values::new();
        for (i, &item) in items.iter().enumerate() {
            let segment = self.names.texts.intern("item");
            let part = if items.len() == 1 { result } else { self.child(result, segment, i as u32 + 1) };
            let (inputs, attributes): (Values, Vec<AttributeProto>) = match axes {
                Some(axes) => (Values::from_slice(&[item, axes]), Vec::new()),
                None => {
                    let axes = AttributeProto::new(&mut self.names.texts, "axes", AttributeValue::Ints(vec![axis]));
                    (Values::from_slice(&[item]), vec![axes])
                }
            };
            self.operation("Unsqueeze", &inputs, part, attributes, call, target)?;
            parts.push(part);
        }
        self.known.set_extent(result, axis, items.len() as i64);
        if items.len() == 1 {
            return Ok(());
        }
        let axis = AttributeProto::new(&mut self.names.texts, "axis", AttributeValue::Int(axis));
        self.operation("Concat", &parts, result, vec![axis], call, target)
    }
}

/// A tensor of one element.
fn tensor_of(value: Scalar, dims: &[i64]) -> TensorProto {
    let (data_type, raw) = match value {
        Scalar::Int(value) => (7, Bytes::copy_from_slice(&value.to_le_bytes())),
        Scalar::Int32(value) => (6, Bytes::copy_from_slice(&value.to_le_bytes())),
        Scalar::Bool(value) => (9, Bytes::copy_from_slice(&[u8::from(value)])),
    };
    let raw = EncodedField { number: tensor_fields::RAW_DATA, wire: Wire::Bytes, bytes: raw.into() };
    TensorProto {
        dims: dims.into(),
        data_type: Some(data_type),
        rest: Some(Box::new(vec![raw])),
        ..TensorProto::default()
    }
}
