//! Decodes protobuf messages to models.

use bytes::Bytes;

use super::fields::{
    attribute, dim, element, entry, function, graph, map, model, node, opaque, opset, shape, tensor, tensor_type,
    type_proto, value_info,
};
use super::reader::{Payload, Reader, WireError};
use crate::graph::names::NameId;
use crate::onnx::model::{
    Attribute, AttributeValue, Dim, Entry, Extent, Fields, Function, Graph, Model, ModelNames, Node, OperatorSet,
    Shape, Tensor, TensorType, Type, TypeForm, ValueInfo,
};
use crate::room;
use crate::source::names::Name;

type Read<T> = Result<T, WireError>;

/// Decodes a model.
pub(crate) fn decode(file: &Bytes) -> Read<Model> {
    let mut decoder = Decoder { names: ModelNames::default() };
    let mut model = decoder.model(Reader::new(file))?;
    model.names = decoder.names;
    Ok(model)
}

/// Decodes a tensor that is in a field that was kept. Its name belongs to no model.
pub(crate) fn tensor(message: &Bytes) -> Read<Tensor> {
    let mut decoder = Decoder { names: ModelNames::default() };
    decoder.tensor(Reader::new(message))
}

struct Decoder {
    names: ModelNames,
}

/// Keeps a field that is not interpreted.
fn keep(rest: &mut Fields, reader: &Reader, number: u32, payload: Payload) {
    rest.get_or_insert_default().push(reader.keep(number, payload));
}

/// Sets a field that is one message. Programs differ in what several ones mean.
fn set<T>(field: &mut Option<T>, reader: &Reader, message: T) -> Read<()> {
    match field.replace(message) {
        None => Ok(()),
        Some(_) => Err(reader.error("a field that is one message is given twice")),
    }
}

fn text(reader: &Reader, payload: &Payload) -> Read<Option<Box<str>>> {
    Ok(Some(reader.text(payload)?.into()))
}

fn number(reader: &Reader, payload: &Payload) -> Read<Option<i32>> {
    Ok(Some(reader.int(payload)? as i32))
}

impl Decoder {
    fn name(&mut self, reader: &Reader, payload: &Payload) -> Read<Name> {
        Ok(self.names.texts.intern(reader.text(payload)?))
    }

    fn value(&mut self, reader: &Reader, payload: &Payload) -> Read<NameId> {
        let name = self.name(reader, payload)?;
        Ok(self.names.value(name))
    }

    fn model(&mut self, mut reader: Reader) -> Read<Model> {
        let mut found = Model::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                model::IR_VERSION => found.ir_version = Some(reader.int(&payload)?),
                model::PRODUCER_NAME => found.producer_name = text(&reader, &payload)?,
                model::PRODUCER_VERSION => found.producer_version = text(&reader, &payload)?,
                model::DOMAIN => found.domain = text(&reader, &payload)?,
                model::MODEL_VERSION => found.model_version = Some(reader.int(&payload)?),
                model::DOC_STRING => found.doc_string = text(&reader, &payload)?,
                model::GRAPH => set(&mut found.graph, &reader, self.graph(reader.message(&payload)?)?)?,
                model::OPSET_IMPORT => found.opsets.push(self.opset(reader.message(&payload)?)?),
                model::METADATA => found.metadata.push(read_entry(reader.message(&payload)?)?),
                model::FUNCTIONS => found.functions.push(self.function(reader.message(&payload)?)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn opset(&mut self, mut reader: Reader) -> Read<OperatorSet> {
        let mut found = OperatorSet::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                opset::DOMAIN => found.domain = Some(self.name(&reader, &payload)?),
                opset::VERSION => found.version = Some(reader.int(&payload)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn graph(&mut self, mut reader: Reader) -> Read<Graph> {
        let mut found = Graph::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                graph::NODE => room::push(&mut found.nodes, self.node(reader.message(&payload)?)?),
                graph::NAME => found.name = Some(self.name(&reader, &payload)?),
                graph::INITIALIZER => found.initializers.push(self.tensor(reader.message(&payload)?)?),
                graph::INPUT => found.inputs.push(self.value_info(reader.message(&payload)?)?),
                graph::OUTPUT => found.outputs.push(self.value_info(reader.message(&payload)?)?),
                graph::VALUE_INFO => found.value_info.push(self.value_info(reader.message(&payload)?)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn node(&mut self, mut reader: Reader) -> Read<Node> {
        let mut found = Node { at: reader.position(), ..Node::default() };
        while let Some((field, payload)) = reader.field()? {
            match field {
                node::INPUT => found.inputs.push(self.value(&reader, &payload)?),
                node::OUTPUT => found.outputs.push(self.value(&reader, &payload)?),
                node::NAME => found.name = Some(self.value(&reader, &payload)?),
                node::OP_TYPE => found.op_type = Some(self.name(&reader, &payload)?),
                node::ATTRIBUTE => {
                    room::push_few(&mut found.attributes, self.attribute(reader.message(&payload)?)?);
                }
                node::DOMAIN => found.domain = Some(self.name(&reader, &payload)?),
                node::OVERLOAD => found.overload = Some(self.name(&reader, &payload)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn attribute(&mut self, mut reader: Reader) -> Read<Attribute> {
        let mut found =
            Attribute { name: None, kind: None, value: AttributeValue::None, reference: None, rest: Fields::None };
        while let Some((field, payload)) = reader.field()? {
            match field {
                attribute::NAME => found.name = Some(self.name(&reader, &payload)?),
                attribute::TYPE => found.kind = number(&reader, &payload)?,
                attribute::REF_ATTR_NAME => found.reference = Some(self.name(&reader, &payload)?),
                _ => match self.attribute_value(&reader, field, &payload, &mut found.value)? {
                    Kept::Value => {}
                    Kept::Field => keep(&mut found.rest, &reader, field, payload),
                },
            }
        }
        Ok(found)
    }

    /// Reads a field that is a value of an attribute, or an item of a list. All values of an attribute have one
    /// type.
    fn attribute_value(
        &mut self,
        reader: &Reader,
        field: u32,
        payload: &Payload,
        value: &mut AttributeValue,
    ) -> Read<Kept> {
        macro_rules! items {
            ($variant:ident, |$items:ident| $add:expr) => {{
                if *value == AttributeValue::None {
                    *value = AttributeValue::$variant(Vec::new());
                }
                let AttributeValue::$variant($items) = value else { return Err(several(reader)) };
                $add
            }};
        }
        let single = match field {
            attribute::FLOAT => AttributeValue::Float(reader.float(payload)?),
            attribute::INT => AttributeValue::Int(reader.int(payload)?),
            attribute::STRING => AttributeValue::String(Box::new(reader.bytes(payload)?)),
            attribute::TENSOR => AttributeValue::Tensor(Box::new(self.tensor(reader.message(payload)?)?)),
            attribute::GRAPH => AttributeValue::Graph(Box::new(self.graph(reader.message(payload)?)?)),
            attribute::TYPE_PROTO => AttributeValue::Type(Box::new(self.type_proto(reader.message(payload)?)?)),
            attribute::FLOATS => {
                items!(Floats, |items| reader.floats(payload, |float| items.push(float))?);
                return Ok(Kept::Value);
            }
            attribute::INTS => {
                items!(Ints, |items| reader.ints(payload, |int| items.push(int))?);
                return Ok(Kept::Value);
            }
            attribute::STRINGS => {
                items!(Strings, |items| items.push(reader.bytes(payload)?));
                return Ok(Kept::Value);
            }
            attribute::TENSORS => {
                items!(Tensors, |items| items.push(self.tensor(reader.message(payload)?)?));
                return Ok(Kept::Value);
            }
            attribute::GRAPHS => {
                items!(Graphs, |items| items.push(self.graph(reader.message(payload)?)?));
                return Ok(Kept::Value);
            }
            attribute::TYPE_PROTOS => {
                items!(Types, |items| items.push(self.type_proto(reader.message(payload)?)?));
                return Ok(Kept::Value);
            }
            _ => return Ok(Kept::Field),
        };
        let is_message =
            matches!(single, AttributeValue::Tensor(_) | AttributeValue::Graph(_) | AttributeValue::Type(_));
        let is_other = std::mem::discriminant(value) != std::mem::discriminant(&single);
        if *value != AttributeValue::None && (is_message || is_other) {
            return Err(several(reader));
        }
        *value = single;
        Ok(Kept::Value)
    }

    fn tensor(&mut self, mut reader: Reader) -> Read<Tensor> {
        let mut found = Tensor::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                tensor::DIMS => reader.ints(&payload, |extent| found.dims.push(extent))?,
                tensor::DATA_TYPE => found.data_type = number(&reader, &payload)?,
                tensor::NAME => found.name = Some(self.value(&reader, &payload)?),
                tensor::EXTERNAL_DATA => found.external.push(read_entry(reader.message(&payload)?)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn value_info(&mut self, mut reader: Reader) -> Read<ValueInfo> {
        let mut found = ValueInfo::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                value_info::NAME => found.name = Some(self.value(&reader, &payload)?),
                value_info::TYPE => set(&mut found.ty, &reader, self.type_proto(reader.message(&payload)?)?)?,
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn type_proto(&mut self, mut reader: Reader) -> Read<Type> {
        let mut found = Type::default();
        while let Some((field, payload)) = reader.field()? {
            let form = match field {
                type_proto::TENSOR => TypeForm::Tensor(self.tensor_type(reader.message(&payload)?)?),
                type_proto::SPARSE_TENSOR => TypeForm::SparseTensor(self.tensor_type(reader.message(&payload)?)?),
                type_proto::SEQUENCE => {
                    let (element, rest) = self.element_type(reader.message(&payload)?)?;
                    TypeForm::Sequence(element, rest)
                }
                type_proto::OPTIONAL => {
                    let (element, rest) = self.element_type(reader.message(&payload)?)?;
                    TypeForm::Optional(element, rest)
                }
                type_proto::MAP => self.map_type(reader.message(&payload)?)?,
                type_proto::OPAQUE => self.opaque_type(reader.message(&payload)?)?,
                _ => {
                    keep(&mut found.rest, &reader, field, payload);
                    continue;
                }
            };
            if found.form != TypeForm::None {
                return Err(reader.error("a type has several forms"));
            }
            found.form = form;
        }
        Ok(found)
    }

    fn element_type(&mut self, mut reader: Reader) -> Read<(Option<Box<Type>>, Fields)> {
        let mut found = (None, Fields::None);
        while let Some((field, payload)) = reader.field()? {
            match field {
                element::TYPE => set(&mut found.0, &reader, Box::new(self.type_proto(reader.message(&payload)?)?))?,
                _ => keep(&mut found.1, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn map_type(&mut self, mut reader: Reader) -> Read<TypeForm> {
        let (mut key, mut value, mut rest) = (None, None, Fields::None);
        while let Some((field, payload)) = reader.field()? {
            match field {
                map::KEY => key = number(&reader, &payload)?,
                map::VALUE => set(&mut value, &reader, Box::new(self.type_proto(reader.message(&payload)?)?))?,
                _ => keep(&mut rest, &reader, field, payload),
            }
        }
        Ok(TypeForm::Map { key, value, rest })
    }

    fn opaque_type(&mut self, mut reader: Reader) -> Read<TypeForm> {
        let (mut domain, mut name, mut rest) = (None, None, Fields::None);
        while let Some((field, payload)) = reader.field()? {
            match field {
                opaque::DOMAIN => domain = Some(self.name(&reader, &payload)?),
                opaque::NAME => name = Some(self.name(&reader, &payload)?),
                _ => keep(&mut rest, &reader, field, payload),
            }
        }
        Ok(TypeForm::Opaque { domain, name, rest })
    }

    fn tensor_type(&mut self, mut reader: Reader) -> Read<TensorType> {
        let mut found = TensorType::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                tensor_type::ELEMENT => found.element = number(&reader, &payload)?,
                tensor_type::SHAPE => set(&mut found.shape, &reader, self.shape(reader.message(&payload)?)?)?,
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn shape(&mut self, mut reader: Reader) -> Read<Shape> {
        let mut found = Shape::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                shape::DIM => found.dims.push(self.dim(reader.message(&payload)?)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn dim(&mut self, mut reader: Reader) -> Read<Dim> {
        let mut found = Dim::default();
        while let Some((field, payload)) = reader.field()? {
            match field {
                dim::VALUE => found.extent = Extent::Value(reader.int(&payload)?),
                dim::PARAM => found.extent = Extent::Symbol(self.name(&reader, &payload)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }

    fn function(&mut self, mut reader: Reader) -> Read<Function> {
        let mut found = Function { at: reader.position(), ..Function::default() };
        while let Some((field, payload)) = reader.field()? {
            match field {
                function::NAME => found.name = Some(self.name(&reader, &payload)?),
                function::INPUT => found.inputs.push(self.value(&reader, &payload)?),
                function::OUTPUT => found.outputs.push(self.value(&reader, &payload)?),
                function::ATTRIBUTE => found.attributes.push(self.name(&reader, &payload)?),
                function::ATTRIBUTE_PROTO => found.defaults.push(self.attribute(reader.message(&payload)?)?),
                function::NODE => found.nodes.push(self.node(reader.message(&payload)?)?),
                function::DOC_STRING => found.doc_string = text(&reader, &payload)?,
                function::OPSET_IMPORT => found.opsets.push(self.opset(reader.message(&payload)?)?),
                function::DOMAIN => found.domain = Some(self.name(&reader, &payload)?),
                function::OVERLOAD => found.overload = Some(self.name(&reader, &payload)?),
                function::VALUE_INFO => found.value_info.push(self.value_info(reader.message(&payload)?)?),
                _ => keep(&mut found.rest, &reader, field, payload),
            }
        }
        Ok(found)
    }
}

/// Whether a field of an attribute is a value.
enum Kept {
    Value,
    Field,
}

fn several(reader: &Reader) -> WireError {
    reader.error("an attribute has several values")
}

fn read_entry(mut reader: Reader) -> Read<Entry> {
    let mut found = Entry::default();
    while let Some((field, payload)) = reader.field()? {
        match field {
            entry::KEY => found.key = text(&reader, &payload)?,
            entry::VALUE => found.value = text(&reader, &payload)?,
            _ => keep(&mut found.rest, &reader, field, payload),
        }
    }
    Ok(found)
}
