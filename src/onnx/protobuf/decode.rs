//! Decodes protobuf messages to models.
//!
//! Functions add the fields of an encoded message to a message, because a field that is one message may occur in
//! several parts, which readers of protobuf merge. Of a field that is one number or text the last value counts. A field
//! in another encoding than its message declares is unknown and kept.

use bytes::Bytes;

use super::fields::{
    attribute, dim, element, entry, function, graph, map, model, node, opaque, opset, shape, tensor, tensor_type,
    type_proto, value_info,
};
use super::reader::{MessageReader, WireError};
use super::texts;
use crate::graph::names::NameId;
use crate::onnx::contents::{Contents, FieldBytes};
use crate::onnx::model::{
    AttributeProto, AttributeValue, Dim, Extent, Fields, FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto,
    OperatorSet, ShapeProto, StringEntry, TensorProto, TensorType, TypeForm, TypeProto, ValueInfo, Wire,
};
use crate::room;
use crate::source::names::Name;

type DecodeResult<T> = Result<T, Box<WireError>>;

/// Decodes a model.
pub(crate) fn decode(file: &Contents) -> DecodeResult<Decoded> {
    if file.len() == 0 {
        return Err(Box::new(WireError { message: "the file is empty".to_owned(), at: 0 }));
    }
    let mut decoder = Decoder::new(file);
    let mut model = ModelProto::default();
    decoder.model(&mut model)?;
    model.names = decoder.names;
    Ok(Decoded { model, not_utf8: decoder.not_utf8 })
}

/// Decodes a graph in a message that stays encoded, with its names.
pub(crate) fn decode_graph(message: &Bytes) -> DecodeResult<(GraphProto, ModelNames)> {
    decode_apart(message, |decoder, found| decoder.graph(found))
}

/// Decodes a tensor in a message that stays encoded, with its names.
pub(crate) fn decode_tensor(message: &Bytes) -> DecodeResult<(TensorProto, ModelNames)> {
    decode_apart(message, |decoder, found| decoder.tensor(found))
}

/// Decodes a pair of strings that stays encoded; none if it is malformed.
pub(crate) fn decode_entry(message: &FieldBytes) -> Option<StringEntry> {
    decode_apart(message.held()?, |decoder, found| decoder.entry(found)).ok().map(|(entry, _)| entry)
}

fn decode_apart<T: Default>(
    message: &Bytes,
    read: impl FnOnce(&mut Decoder, &mut T) -> DecodeResult<()>,
) -> DecodeResult<(T, ModelNames)> {
    let message = Contents::from(message.clone());
    let mut decoder = Decoder::new(&message);
    let mut found = T::default();
    read(&mut decoder, &mut found)?;
    Ok((found, decoder.names))
}

/// A model that was decoded.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) model: ModelProto,
    /// The first text that is not UTF-8, see [`texts`].
    pub(crate) not_utf8: Option<Box<str>>,
}

/// Reads the fields of a message by their numbers and encodings, and keeps others.
macro_rules! fields {
    ($self:ident, $rest:expr; $($field:pat => $read:expr,)*) => {{
        while let Some(field) = $self.reader.next()? {
            match field {
                $($field => $read,)*
                _ => $self.keep(&mut $rest),
            }
        }
        Ok(())
    }};
}

struct Decoder<'f> {
    reader: MessageReader<'f>,
    names: ModelNames,
    not_utf8: Option<Box<str>>,
}

impl<'f> Decoder<'f> {
    fn new(file: &'f Contents) -> Self {
        Decoder { reader: MessageReader::new(file), names: ModelNames::default(), not_utf8: None }
    }

    /// Adds the fields of the message in the current field to a message.
    #[inline]
    fn message<T>(
        &mut self,
        found: &mut T,
        read: impl FnOnce(&mut Self, &mut T) -> DecodeResult<()>,
    ) -> DecodeResult<()> {
        let outer = self.reader.enter()?;
        read(self, found)?;
        self.reader.leave(outer);
        Ok(())
    }

    /// Adds the message in the current field, an item of a repeated field, to a list. It is decoded in the list, so that
    /// it is not copied.
    #[inline]
    fn item<T: Default>(
        &mut self,
        list: &mut Vec<T>,
        push: impl FnOnce(&mut Vec<T>, T),
        read: impl FnOnce(&mut Self, &mut T) -> DecodeResult<()>,
    ) -> DecodeResult<()> {
        push(list, T::default());
        list.last_mut().map_or(Ok(()), |item| self.message(item, read))
    }

    /// Keeps a field that is not interpreted.
    #[cold]
    fn keep(&self, rest: &mut Fields) {
        rest.get_or_insert_default().push(self.reader.keep());
    }

    fn number(&self) -> DecodeResult<Option<i32>> {
        Ok(Some(self.reader.int()? as i32))
    }

    fn text(&mut self) -> DecodeResult<Option<Box<str>>> {
        let bytes = self.reader.slice()?;
        Ok(Some(match texts::plain(bytes) {
            Some(text) => text.into(),
            None => self.escaped(bytes).into(),
        }))
    }

    fn name(&mut self) -> DecodeResult<Name> {
        let bytes = self.reader.slice()?;
        Ok(match texts::plain(bytes) {
            Some(text) => self.names.texts.intern(text),
            None => {
                let text = self.escaped(bytes);
                self.names.texts.intern(&text)
            }
        })
    }

    fn value(&mut self) -> DecodeResult<NameId> {
        let name = self.name()?;
        Ok(self.names.value(name))
    }

    /// The representation of bytes that are not their own, see [`texts`]. Notes a text that is not UTF-8.
    #[cold]
    fn escaped(&mut self, bytes: &[u8]) -> String {
        let text = texts::escape(bytes);
        if self.not_utf8.is_none() && texts::written(&text).is_none() {
            self.not_utf8 = Some(text.as_str().into());
        }
        text
    }

    fn model(&mut self, found: &mut ModelProto) -> DecodeResult<()> {
        fields! { self, found.rest;
            (model::IR_VERSION, Wire::Varint) => found.ir_version = Some(self.reader.int()?),
            (model::PRODUCER_NAME, Wire::Bytes) => found.producer_name = self.text()?,
            (model::PRODUCER_VERSION, Wire::Bytes) => found.producer_version = self.text()?,
            (model::DOMAIN, Wire::Bytes) => found.domain = self.text()?,
            (model::MODEL_VERSION, Wire::Varint) => found.model_version = Some(self.reader.int()?),
            (model::DOC_STRING, Wire::Bytes) => found.doc_string = self.text()?,
            (model::GRAPH, Wire::Bytes) => self.message(found.graph.get_or_insert_default(), Self::graph)?,
            (model::OPSET_IMPORT, Wire::Bytes) => self.item(&mut found.opsets, Vec::push, Self::opset)?,
            (model::METADATA, Wire::Bytes) => self.item(&mut found.metadata, Vec::push, Self::entry)?,
            (model::FUNCTIONS, Wire::Bytes) => self.item(&mut found.functions, Vec::push, Self::function)?,
        }
    }

    fn entry(&mut self, found: &mut StringEntry) -> DecodeResult<()> {
        fields! { self, found.rest;
            (entry::KEY, Wire::Bytes) => found.key = self.text()?,
            (entry::VALUE, Wire::Bytes) => found.value = self.text()?,
        }
    }

    fn opset(&mut self, found: &mut OperatorSet) -> DecodeResult<()> {
        fields! { self, found.rest;
            (opset::DOMAIN, Wire::Bytes) => found.domain = Some(self.name()?),
            (opset::VERSION, Wire::Varint) => found.version = Some(self.reader.int()?),
        }
    }

    fn graph(&mut self, found: &mut GraphProto) -> DecodeResult<()> {
        fields! { self, found.rest;
            (graph::NODE, Wire::Bytes) => self.item(&mut found.nodes, room::push, Self::node)?,
            (graph::NAME, Wire::Bytes) => found.name = Some(self.name()?),
            (graph::INITIALIZER, Wire::Bytes) => self.item(&mut found.initializers, Vec::push, Self::tensor)?,
            (graph::INPUT, Wire::Bytes) => self.item(&mut found.inputs, Vec::push, Self::value_info)?,
            (graph::OUTPUT, Wire::Bytes) => self.item(&mut found.outputs, Vec::push, Self::value_info)?,
            (graph::VALUE_INFO, Wire::Bytes) => self.item(&mut found.value_info, Vec::push, Self::value_info)?,
        }
    }

    fn node(&mut self, found: &mut NodeProto) -> DecodeResult<()> {
        found.at = self.reader.position();
        fields! { self, found.rest;
            (node::INPUT, Wire::Bytes) => found.inputs.push(self.value()?),
            (node::OUTPUT, Wire::Bytes) => found.outputs.push(self.value()?),
            (node::NAME, Wire::Bytes) => found.name = Some(self.value()?),
            (node::OP_TYPE, Wire::Bytes) => found.op_type = Some(self.name()?),
            (node::ATTRIBUTE, Wire::Bytes) => self.item(&mut found.attributes, room::push_few, Self::attribute)?,
            (node::DOMAIN, Wire::Bytes) => found.domain = Some(self.name()?),
            (node::OVERLOAD, Wire::Bytes) => found.overload = Some(self.name()?),
        }
    }

    /// Reads an attribute. All its values have one type.
    fn attribute(&mut self, found: &mut AttributeProto) -> DecodeResult<()> {
        // The value of this kind that the attribute has, which is empty at first.
        macro_rules! own {
            ($variant:ident) => {{
                if found.value.is_empty() {
                    found.value = AttributeValue::$variant(Default::default());
                }
                match &mut found.value {
                    AttributeValue::$variant(own) => own,
                    _ => return Err(self.reader.error("an attribute has several values")),
                }
            }};
        }
        fields! { self, found.rest;
            (attribute::NAME, Wire::Bytes) => found.name = Some(self.name()?),
            (attribute::TYPE, Wire::Varint) => found.kind = self.number()?,
            (attribute::REF_ATTR_NAME, Wire::Bytes) => found.reference = Some(self.name()?),
            (attribute::FLOAT, Wire::Fixed32) => *own!(Float) = self.reader.float()?,
            (attribute::INT, Wire::Varint) => *own!(Int) = self.reader.int()?,
            (attribute::STRING, Wire::Bytes) => **own!(String) = self.reader.bytes()?,
            (attribute::TENSOR, Wire::Bytes) => self.message(own!(Tensor).as_mut(), Self::tensor)?,
            (attribute::GRAPH, Wire::Bytes) => self.message(own!(Graph).as_mut(), Self::graph)?,
            (attribute::TYPE_PROTO, Wire::Bytes) => self.message(own!(Type).as_mut(), Self::type_proto)?,
            (attribute::FLOATS, Wire::Fixed32 | Wire::Bytes) => {
                let floats = own!(Floats);
                self.reader.floats(|float| floats.push(float))?;
            },
            (attribute::INTS, Wire::Varint | Wire::Bytes) => {
                let ints = own!(Ints);
                self.reader.ints(|int| ints.push(int))?;
            },
            (attribute::STRINGS, Wire::Bytes) => own!(Strings).push(self.reader.bytes()?),
            (attribute::TENSORS, Wire::Bytes) => self.item(own!(Tensors), Vec::push, Self::tensor)?,
            (attribute::GRAPHS, Wire::Bytes) => self.item(own!(Graphs), Vec::push, Self::graph)?,
            (attribute::TYPE_PROTOS, Wire::Bytes) => self.item(own!(Types), Vec::push, Self::type_proto)?,
        }
    }

    fn tensor(&mut self, found: &mut TensorProto) -> DecodeResult<()> {
        fields! { self, found.rest;
            (tensor::DIMS, Wire::Varint | Wire::Bytes) => self.reader.ints(|extent| found.dims.push(extent))?,
            (tensor::DATA_TYPE, Wire::Varint) => found.data_type = self.number()?,
            (tensor::NAME, Wire::Bytes) => found.name = Some(self.value()?),
            (tensor::EXTERNAL_DATA, Wire::Bytes) => self.item(&mut found.external, Vec::push, Self::entry)?,
        }
    }

    fn value_info(&mut self, found: &mut ValueInfo) -> DecodeResult<()> {
        fields! { self, found.rest;
            (value_info::NAME, Wire::Bytes) => found.name = Some(self.value()?),
            (value_info::TYPE, Wire::Bytes) => self.message(found.ty.get_or_insert_default(), Self::type_proto)?,
        }
    }

    /// Reads a type. It has one form: the last one counts, and parts of one form are merged.
    fn type_proto(&mut self, found: &mut TypeProto) -> DecodeResult<()> {
        fields! { self, found.rest;
            (
                form @ (type_proto::TENSOR
                | type_proto::SPARSE_TENSOR
                | type_proto::SEQUENCE
                | type_proto::OPTIONAL
                | type_proto::MAP
                | type_proto::OPAQUE),
                Wire::Bytes,
            ) => self.message(&mut found.form, |this, found| this.type_form(form, found))?,
        }
    }

    fn type_form(&mut self, field: u32, form: &mut TypeForm) -> DecodeResult<()> {
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
            F::Tensor(found) | F::SparseTensor(found) => fields! { self, found.rest;
                (tensor_type::ELEMENT, Wire::Varint) => found.element = self.number()?,
                (tensor_type::SHAPE, Wire::Bytes) => self.message(found.shape.get_or_insert_default(), Self::shape)?,
            },
            F::Sequence(ty, rest) | F::Optional(ty, rest) => fields! { self, *rest;
                (element::TYPE, Wire::Bytes) => self.message(ty.get_or_insert_default().as_mut(), Self::type_proto)?,
            },
            F::Map { key, value, rest } => fields! { self, *rest;
                (map::KEY, Wire::Varint) => *key = self.number()?,
                (map::VALUE, Wire::Bytes) => self.message(value.get_or_insert_default().as_mut(), Self::type_proto)?,
            },
            F::Opaque { domain, name, rest } => fields! { self, *rest;
                (opaque::DOMAIN, Wire::Bytes) => *domain = Some(self.name()?),
                (opaque::NAME, Wire::Bytes) => *name = Some(self.name()?),
            },
        }
    }

    fn shape(&mut self, found: &mut ShapeProto) -> DecodeResult<()> {
        fields! { self, found.rest;
            (shape::DIM, Wire::Bytes) => self.item(&mut found.dims, Vec::push, Self::dim)?,
        }
    }

    fn dim(&mut self, found: &mut Dim) -> DecodeResult<()> {
        fields! { self, found.rest;
            (dim::VALUE, Wire::Varint) => found.extent = Extent::Value(self.reader.int()?),
            (dim::PARAM, Wire::Bytes) => found.extent = Extent::Symbol(self.name()?),
        }
    }

    fn function(&mut self, found: &mut FunctionProto) -> DecodeResult<()> {
        found.at = self.reader.position();
        fields! { self, found.rest;
            (function::NAME, Wire::Bytes) => found.name = Some(self.name()?),
            (function::INPUT, Wire::Bytes) => found.inputs.push(self.value()?),
            (function::OUTPUT, Wire::Bytes) => found.outputs.push(self.value()?),
            (function::ATTRIBUTE, Wire::Bytes) => found.attributes.push(self.name()?),
            (function::ATTRIBUTE_PROTO, Wire::Bytes) => self.item(&mut found.defaults, Vec::push, Self::attribute)?,
            (function::NODE, Wire::Bytes) => self.item(&mut found.nodes, Vec::push, Self::node)?,
            (function::DOC_STRING, Wire::Bytes) => found.doc_string = self.text()?,
            (function::OPSET_IMPORT, Wire::Bytes) => self.item(&mut found.opsets, Vec::push, Self::opset)?,
            (function::DOMAIN, Wire::Bytes) => found.domain = Some(self.name()?),
            (function::OVERLOAD, Wire::Bytes) => found.overload = Some(self.name()?),
            (function::VALUE_INFO, Wire::Bytes) => self.item(&mut found.value_info, Vec::push, Self::value_info)?,
        }
    }
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
