//! Decodes protobuf messages to models.
//!
//! Functions add the fields of an encoded message to a message, because a field that is one message may occur in
//! several parts, which readers of protobuf merge. Of a field that is one number or text the last value counts. A field
//! in another encoding than its message declares is unknown and kept.

use std::borrow::Cow;

use bytes::Bytes;

use super::fields::{
    attribute, dim, element, entry, function, graph, map, model, node, opaque, opset, shape, tensor, tensor_type,
    type_proto, value_info,
};
use super::reader::{MessageReader, Payload, WireError};
use super::texts;
use crate::graph::names::NameId;
use crate::onnx::contents::{Contents, FieldBytes};
use crate::onnx::model::{
    AttributeProto, AttributeValue, Dim, Extent, Fields, FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto,
    OperatorSet, ShapeProto, StringEntry, TensorProto, TensorType, TypeForm, TypeProto, ValueInfo, Wire,
};
use crate::room;
use crate::source::names::Name;

type DecodeResult<T> = Result<T, WireError>;

/// Decodes a model.
pub(crate) fn decode(file: &Contents) -> DecodeResult<Decoded> {
    if file.len() == 0 {
        return Err(WireError { message: "the file is empty".to_owned(), at: 0 });
    }
    let mut decoder = Decoder { names: ModelNames::default(), not_utf8: None };
    let mut model = decoder.made(MessageReader::new(file), Decoder::model)?;
    model.names = decoder.names;
    Ok(Decoded { model, not_utf8: decoder.not_utf8 })
}

/// Decodes a graph in a message that stays encoded, with its names.
pub(crate) fn decode_graph(message: &Bytes) -> DecodeResult<(GraphProto, ModelNames)> {
    decode_apart(message, Decoder::graph)
}

/// Decodes a tensor in a message that stays encoded, with its names.
pub(crate) fn decode_tensor(message: &Bytes) -> DecodeResult<(TensorProto, ModelNames)> {
    decode_apart(message, Decoder::tensor)
}

/// Decodes a pair of strings that stays encoded; none if it is malformed.
pub(crate) fn decode_entry(message: &FieldBytes) -> Option<StringEntry> {
    decode_apart(message.held()?, Decoder::entry).ok().map(|(entry, _)| entry)
}

fn decode_apart<T: Default>(
    message: &Bytes,
    read: impl FnOnce(&mut Decoder, MessageReader, &mut T) -> DecodeResult<()>,
) -> DecodeResult<(T, ModelNames)> {
    let mut decoder = Decoder { names: ModelNames::default(), not_utf8: None };
    let message = Contents::from(message.clone());
    let found = decoder.made(MessageReader::new(&message), read)?;
    Ok((found, decoder.names))
}

/// A model that was decoded.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) model: ModelProto,
    /// The first text that is not UTF-8, see [`texts`].
    pub(crate) not_utf8: Option<Box<str>>,
}

struct Decoder {
    names: ModelNames,
    not_utf8: Option<Box<str>>,
}

/// Keeps a field that is not interpreted.
fn keep(rest: &mut Fields, reader: &MessageReader, number: u32, payload: Payload) {
    rest.get_or_insert_default().push(reader.keep(number, payload));
}

fn number(reader: &MessageReader, payload: &Payload) -> DecodeResult<Option<i32>> {
    Ok(Some(reader.int(payload)? as i32))
}

impl Decoder {
    /// A new message with the fields of an encoded one.
    fn made<T: Default>(
        &mut self,
        reader: MessageReader,
        read: impl FnOnce(&mut Self, MessageReader, &mut T) -> DecodeResult<()>,
    ) -> DecodeResult<T> {
        let mut found = T::default();
        read(self, reader, &mut found)?;
        Ok(found)
    }

    /// A new item of a repeated field.
    fn item<T: Default>(
        &mut self,
        reader: &MessageReader,
        payload: &Payload,
        read: impl FnOnce(&mut Self, MessageReader, &mut T) -> DecodeResult<()>,
    ) -> DecodeResult<T> {
        self.made(reader.message(payload)?, read)
    }

    fn text(&mut self, reader: &MessageReader, payload: &Payload) -> DecodeResult<Option<Box<str>>> {
        let text = reader.text(payload)?;
        let text = self.note(text);
        Ok(Some(text.into()))
    }

    fn name(&mut self, reader: &MessageReader, payload: &Payload) -> DecodeResult<Name> {
        let text = reader.text(payload)?;
        let text = self.note(text);
        Ok(self.names.texts.intern(&text))
    }

    /// Notes a text that is not UTF-8. Texts as they are in the file are UTF-8, and nothing is looked for in them.
    fn note<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        if let Cow::Owned(owned) = &text
            && self.not_utf8.is_none()
            && texts::written(owned).is_none()
        {
            self.not_utf8 = Some(owned.as_str().into());
        }
        text
    }

    fn value(&mut self, reader: &MessageReader, payload: &Payload) -> DecodeResult<NameId> {
        let name = self.name(reader, payload)?;
        Ok(self.names.value(name))
    }

    fn model(&mut self, mut reader: MessageReader, found: &mut ModelProto) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (model::IR_VERSION, Wire::Varint) => found.ir_version = Some(reader.int(&payload)?),
                (model::PRODUCER_NAME, Wire::Bytes) => found.producer_name = self.text(&reader, &payload)?,
                (model::PRODUCER_VERSION, Wire::Bytes) => found.producer_version = self.text(&reader, &payload)?,
                (model::DOMAIN, Wire::Bytes) => found.domain = self.text(&reader, &payload)?,
                (model::MODEL_VERSION, Wire::Varint) => found.model_version = Some(reader.int(&payload)?),
                (model::DOC_STRING, Wire::Bytes) => found.doc_string = self.text(&reader, &payload)?,
                (model::GRAPH, Wire::Bytes) => {
                    self.graph(reader.message(&payload)?, found.graph.get_or_insert_default())?;
                }
                (model::OPSET_IMPORT, Wire::Bytes) => found.opsets.push(self.item(&reader, &payload, Self::opset)?),
                (model::METADATA, Wire::Bytes) => found.metadata.push(self.item(&reader, &payload, Self::entry)?),
                (model::FUNCTIONS, Wire::Bytes) => {
                    found.functions.push(self.item(&reader, &payload, Self::function)?)
                }
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn entry(&mut self, mut reader: MessageReader, found: &mut StringEntry) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (entry::KEY, Wire::Bytes) => found.key = self.text(&reader, &payload)?,
                (entry::VALUE, Wire::Bytes) => found.value = self.text(&reader, &payload)?,
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn opset(&mut self, mut reader: MessageReader, found: &mut OperatorSet) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (opset::DOMAIN, Wire::Bytes) => found.domain = Some(self.name(&reader, &payload)?),
                (opset::VERSION, Wire::Varint) => found.version = Some(reader.int(&payload)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn graph(&mut self, mut reader: MessageReader, found: &mut GraphProto) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (graph::NODE, Wire::Bytes) => {
                    room::push(&mut found.nodes, self.item(&reader, &payload, Self::node)?);
                }
                (graph::NAME, Wire::Bytes) => found.name = Some(self.name(&reader, &payload)?),
                (graph::INITIALIZER, Wire::Bytes) => {
                    found.initializers.push(self.item(&reader, &payload, Self::tensor)?);
                }
                (graph::INPUT, Wire::Bytes) => found.inputs.push(self.item(&reader, &payload, Self::value_info)?),
                (graph::OUTPUT, Wire::Bytes) => found.outputs.push(self.item(&reader, &payload, Self::value_info)?),
                (graph::VALUE_INFO, Wire::Bytes) => {
                    found.value_info.push(self.item(&reader, &payload, Self::value_info)?);
                }
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn node(&mut self, mut reader: MessageReader, found: &mut NodeProto) -> DecodeResult<()> {
        found.at = reader.position();
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (node::INPUT, Wire::Bytes) => found.inputs.push(self.value(&reader, &payload)?),
                (node::OUTPUT, Wire::Bytes) => found.outputs.push(self.value(&reader, &payload)?),
                (node::NAME, Wire::Bytes) => found.name = Some(self.value(&reader, &payload)?),
                (node::OP_TYPE, Wire::Bytes) => found.op_type = Some(self.name(&reader, &payload)?),
                (node::ATTRIBUTE, Wire::Bytes) => {
                    room::push_few(&mut found.attributes, self.item(&reader, &payload, Self::attribute)?);
                }
                (node::DOMAIN, Wire::Bytes) => found.domain = Some(self.name(&reader, &payload)?),
                (node::OVERLOAD, Wire::Bytes) => found.overload = Some(self.name(&reader, &payload)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn attribute(&mut self, mut reader: MessageReader, found: &mut AttributeProto) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (attribute::NAME, Wire::Bytes) => found.name = Some(self.name(&reader, &payload)?),
                (attribute::TYPE, Wire::Varint) => found.kind = number(&reader, &payload)?,
                (attribute::REF_ATTR_NAME, Wire::Bytes) => found.reference = Some(self.name(&reader, &payload)?),
                _ => match self.attribute_value(&reader, field, &payload, &mut found.value)? {
                    Kept::Value => {}
                    Kept::Field => keep(&mut found.rest, &reader, field, payload),
                },
            }
        }
        Ok(())
    }

    /// Reads a field that is a value of an attribute, or an item of a list. All values of an attribute have one
    /// type.
    fn attribute_value(
        &mut self,
        reader: &MessageReader,
        field: u32,
        payload: &Payload,
        value: &mut AttributeValue,
    ) -> DecodeResult<Kept> {
        use AttributeValue as V;
        // The value of this kind that the attribute has, which is empty at first.
        macro_rules! own {
            ($variant:ident) => {{
                if value.is_empty() {
                    *value = V::$variant(Default::default());
                }
                match value {
                    V::$variant(own) => own,
                    _ => return Err(reader.error("an attribute has several values")),
                }
            }};
        }
        match (field, payload.wire()) {
            (attribute::FLOAT, Wire::Fixed32) => *own!(Float) = reader.float(payload)?,
            (attribute::INT, Wire::Varint) => *own!(Int) = reader.int(payload)?,
            (attribute::STRING, Wire::Bytes) => **own!(String) = reader.bytes(payload)?,
            (attribute::TENSOR, Wire::Bytes) => self.tensor(reader.message(payload)?, own!(Tensor))?,
            (attribute::GRAPH, Wire::Bytes) => self.graph(reader.message(payload)?, own!(Graph))?,
            (attribute::TYPE_PROTO, Wire::Bytes) => self.type_proto(reader.message(payload)?, own!(Type))?,
            (attribute::FLOATS, Wire::Fixed32 | Wire::Bytes) => {
                let floats = own!(Floats);
                reader.floats(payload, |float| floats.push(float))?;
            }
            (attribute::INTS, Wire::Varint | Wire::Bytes) => {
                let ints = own!(Ints);
                reader.ints(payload, |int| ints.push(int))?;
            }
            (attribute::STRINGS, Wire::Bytes) => own!(Strings).push(reader.bytes(payload)?),
            (attribute::TENSORS, Wire::Bytes) => own!(Tensors).push(self.item(reader, payload, Self::tensor)?),
            (attribute::GRAPHS, Wire::Bytes) => own!(Graphs).push(self.item(reader, payload, Self::graph)?),
            (attribute::TYPE_PROTOS, Wire::Bytes) => own!(Types).push(self.item(reader, payload, Self::type_proto)?),
            _ => return Ok(Kept::Field),
        }
        Ok(Kept::Value)
    }

    fn tensor(&mut self, mut reader: MessageReader, found: &mut TensorProto) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (tensor::DIMS, Wire::Varint | Wire::Bytes) => {
                    reader.ints(&payload, |extent| found.dims.push(extent))?;
                }
                (tensor::DATA_TYPE, Wire::Varint) => found.data_type = number(&reader, &payload)?,
                (tensor::NAME, Wire::Bytes) => found.name = Some(self.value(&reader, &payload)?),
                (tensor::EXTERNAL_DATA, Wire::Bytes) => {
                    found.external.push(self.item(&reader, &payload, Self::entry)?);
                }
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn value_info(&mut self, mut reader: MessageReader, found: &mut ValueInfo) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (value_info::NAME, Wire::Bytes) => found.name = Some(self.value(&reader, &payload)?),
                (value_info::TYPE, Wire::Bytes) => {
                    self.type_proto(reader.message(&payload)?, found.ty.get_or_insert_default())?;
                }
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    /// Reads a type. It has one form: the last one counts, and parts of one form are merged.
    fn type_proto(&mut self, mut reader: MessageReader, found: &mut TypeProto) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (
                    type_proto::TENSOR
                    | type_proto::SPARSE_TENSOR
                    | type_proto::SEQUENCE
                    | type_proto::OPTIONAL
                    | type_proto::MAP
                    | type_proto::OPAQUE,
                    Wire::Bytes,
                ) => self.type_form(field, reader.message(&payload)?, &mut found.form)?,
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn type_form(&mut self, field: u32, reader: MessageReader, form: &mut TypeForm) -> DecodeResult<()> {
        use TypeForm as F;
        if form.field() != field {
            *form = match field {
                type_proto::TENSOR => F::Tensor(TensorType::default()),
                type_proto::SPARSE_TENSOR => F::SparseTensor(TensorType::default()),
                type_proto::SEQUENCE => F::Sequence(None, None),
                type_proto::OPTIONAL => F::Optional(None, None),
                type_proto::MAP => F::Map { key: None, value: None, rest: None },
                _ => F::Opaque { domain: None, name: None, rest: None },
            };
        }
        match form {
            F::None => Ok(()),
            F::Tensor(ty) | F::SparseTensor(ty) => self.tensor_type(reader, ty),
            F::Sequence(ty, rest) | F::Optional(ty, rest) => self.element_type(reader, ty, rest),
            F::Map { key, value, rest } => self.map_type(reader, key, value, rest),
            F::Opaque { domain, name, rest } => self.opaque_type(reader, domain, name, rest),
        }
    }

    fn element_type(
        &mut self,
        mut reader: MessageReader,
        ty: &mut Option<Box<TypeProto>>,
        rest: &mut Fields,
    ) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (element::TYPE, Wire::Bytes) => {
                    self.type_proto(reader.message(&payload)?, ty.get_or_insert_default())?;
                }
                _ => keep(rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn map_type(
        &mut self,
        mut reader: MessageReader,
        key: &mut Option<i32>,
        value: &mut Option<Box<TypeProto>>,
        rest: &mut Fields,
    ) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (map::KEY, Wire::Varint) => *key = number(&reader, &payload)?,
                (map::VALUE, Wire::Bytes) => {
                    self.type_proto(reader.message(&payload)?, value.get_or_insert_default())?;
                }
                _ => keep(rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn opaque_type(
        &mut self,
        mut reader: MessageReader,
        domain: &mut Option<Name>,
        name: &mut Option<Name>,
        rest: &mut Fields,
    ) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (opaque::DOMAIN, Wire::Bytes) => *domain = Some(self.name(&reader, &payload)?),
                (opaque::NAME, Wire::Bytes) => *name = Some(self.name(&reader, &payload)?),
                _ => keep(rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn tensor_type(&mut self, mut reader: MessageReader, found: &mut TensorType) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (tensor_type::ELEMENT, Wire::Varint) => found.element = number(&reader, &payload)?,
                (tensor_type::SHAPE, Wire::Bytes) => {
                    self.shape(reader.message(&payload)?, found.shape.get_or_insert_default())?;
                }
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn shape(&mut self, mut reader: MessageReader, found: &mut ShapeProto) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (shape::DIM, Wire::Bytes) => found.dims.push(self.item(&reader, &payload, Self::dim)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn dim(&mut self, mut reader: MessageReader, found: &mut Dim) -> DecodeResult<()> {
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (dim::VALUE, Wire::Varint) => found.extent = Extent::Value(reader.int(&payload)?),
                (dim::PARAM, Wire::Bytes) => found.extent = Extent::Symbol(self.name(&reader, &payload)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }

    fn function(&mut self, mut reader: MessageReader, found: &mut FunctionProto) -> DecodeResult<()> {
        found.at = reader.position();
        while let Some((field, payload)) = reader.field()? {
            match (field, payload.wire()) {
                (function::NAME, Wire::Bytes) => found.name = Some(self.name(&reader, &payload)?),
                (function::INPUT, Wire::Bytes) => found.inputs.push(self.value(&reader, &payload)?),
                (function::OUTPUT, Wire::Bytes) => found.outputs.push(self.value(&reader, &payload)?),
                (function::ATTRIBUTE, Wire::Bytes) => found.attributes.push(self.name(&reader, &payload)?),
                (function::ATTRIBUTE_PROTO, Wire::Bytes) => {
                    found.defaults.push(self.item(&reader, &payload, Self::attribute)?);
                }
                (function::NODE, Wire::Bytes) => found.nodes.push(self.item(&reader, &payload, Self::node)?),
                (function::DOC_STRING, Wire::Bytes) => found.doc_string = self.text(&reader, &payload)?,
                (function::OPSET_IMPORT, Wire::Bytes) => {
                    found.opsets.push(self.item(&reader, &payload, Self::opset)?)
                }
                (function::DOMAIN, Wire::Bytes) => found.domain = Some(self.name(&reader, &payload)?),
                (function::OVERLOAD, Wire::Bytes) => found.overload = Some(self.name(&reader, &payload)?),
                (function::VALUE_INFO, Wire::Bytes) => {
                    found.value_info.push(self.item(&reader, &payload, Self::value_info)?);
                }
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(())
    }
}

/// Whether a field of an attribute is a value.
enum Kept {
    Value,
    Field,
}

impl AttributeValue {
    /// Whether there is no value yet; an empty list is none in protobuf.
    fn is_empty(&self) -> bool {
        match self {
            AttributeValue::None => true,
            AttributeValue::Floats(items) => items.is_empty(),
            AttributeValue::Ints(items) => items.is_empty(),
            _ => false,
        }
    }
}
