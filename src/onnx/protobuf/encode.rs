//! Encodes models to protobuf messages. Fields are in the order of their numbers, as other programs write them. Kept
//! fields of all numbers are written, since a field in another encoding than its message declares is kept, too.

use std::io;

use super::fields::{
    attribute, dim, element, entry, function, graph, map, model, node, opaque, opset, shape, tensor, tensor_type,
    type_proto, value_info,
};
use super::writer::{self, MessageWriter};
use crate::graph::names::{NameId, SpelledLengths, Spellings};
use crate::onnx::model::{
    AttributeProto, AttributeValue, Dim, Extent, Fields, FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto,
    OperatorSet, ShapeProto, StringEntry, TensorProto, TypeForm, TypeProto, ValueInfo,
};
use crate::sink::ByteSink;
use crate::source::names::Name;

/// The exclusive upper bound of field numbers.
const END: u32 = 1 << 29;

/// A model or a part of one that can be encoded separately.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EncodedPart<'m> {
    Model(&'m ModelProto),
    Graph(&'m GraphProto),
    Function(&'m FunctionProto),
    Node(&'m NodeProto),
}

/// A part of a graph whose bytes can be counted separately.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CountedPart<'m> {
    Node(&'m NodeProto),
    Initializer(&'m TensorProto),
}

/// Encodes a model or a part of one; none if it is too long for protobuf.
pub(crate) fn encode(names: &ModelNames, part: EncodedPart) -> Option<Vec<u8>> {
    let mut spelled = Spelled::new(names, writes_plain_texts(names));
    writer::to_vec(|out| add(names, part, &mut spelled, out))
}

/// Writes a model or a part of one, without having its bytes in memory.
///
/// # Errors
///
/// The output fails, or the model is too long for protobuf.
pub(crate) fn write(names: &ModelNames, part: EncodedPart, out: &mut dyn ByteSink) -> io::Result<()> {
    let mut spelled = Spelled::new(names, writes_plain_texts(names));
    writer::write(out, |out| add(names, part, &mut spelled, out))
}

/// The bytes of a part of a graph in the message of the graph, those of its field included. `is_plain` is what
/// [`writes_plain_texts`] says: it looks at all names, which takes too long for each part.
pub(crate) fn written_bytes(names: &ModelNames, part: CountedPart, is_plain: bool) -> u64 {
    let mut spelled = Spelled::new(names, is_plain);
    writer::measured(|out| {
        let mut encoder = Encoder { names, out, spelled: &mut spelled };
        match part {
            CountedPart::Node(node) => encoder.message(graph::NODE, node, Encoder::node),
            CountedPart::Initializer(tensor) => encoder.message(graph::INITIALIZER, tensor, Encoder::tensor),
        }
    })
}

/// Whether all names are written as they are in memory, see [`super::texts`].
pub(crate) fn writes_plain_texts(names: &ModelNames) -> bool {
    !super::texts::represents(names.texts.joined())
}

/// The spellings of values, and their lengths.
struct Spelled<'m> {
    spellings: Spellings<'m>,
    lengths: SpelledLengths<'m>,
    /// Whether all texts are written as they are, so that their lengths are those in the file.
    is_plain: bool,
}

impl<'m> Spelled<'m> {
    fn new(names: &'m ModelNames, is_plain: bool) -> Self {
        let (values, texts) = (&names.values, &names.texts);
        Spelled { spellings: Spellings::new(values, texts), lengths: SpelledLengths::new(values, texts), is_plain }
    }
}

fn add<'m>(names: &'m ModelNames, part: EncodedPart, spelled: &mut Spelled<'m>, out: &mut MessageWriter) {
    let mut encoder = Encoder { names, out, spelled };
    match part {
        EncodedPart::Model(model) => encoder.model(model),
        EncodedPart::Graph(graph) => encoder.graph(graph),
        EncodedPart::Function(function) => encoder.function(function),
        EncodedPart::Node(node) => encoder.node(node),
    }
}

struct Encoder<'e, 'o, 'm> {
    names: &'m ModelNames,
    out: &'e mut MessageWriter<'o>,
    spelled: &'e mut Spelled<'m>,
}

impl Encoder<'_, '_, '_> {
    fn message<T>(&mut self, number: u32, of: &T, write: impl FnOnce(&mut Self, &T)) {
        let (place, start) = self.out.begin(number);
        write(self, of);
        self.out.end(place, start);
    }

    fn messages<T>(&mut self, number: u32, of: &[T], write: impl Fn(&mut Self, &T)) {
        of.iter().for_each(|item| self.message(number, item, &write));
    }

    fn text(&mut self, number: u32, text: &Option<Box<str>>) {
        if let Some(text) = text {
            self.out.text(number, text);
        }
    }

    fn int(&mut self, number: u32, value: Option<i64>) {
        if let Some(value) = value {
            self.out.int(number, value);
        }
    }

    fn name(&mut self, number: u32, name: Option<Name>) {
        if let Some(name) = name {
            self.interned(number, self.names.texts.text(name));
        }
    }

    /// Adds a text of the table of names.
    fn interned(&mut self, number: u32, text: &str) {
        match self.spelled.is_plain {
            true => self.out.bytes(number, text.as_bytes()),
            false => self.out.text(number, text),
        }
    }

    fn value(&mut self, number: u32, value: NameId) {
        match (self.spelled.is_plain, self.out.measures()) {
            (true, true) => self.out.bytes_of(number, self.spelled.lengths.of(value)),
            (true, false) => self.out.bytes(number, self.spelled.spellings.spell(value).as_bytes()),
            (false, _) => self.out.text(number, self.spelled.spellings.spell(value)),
        }
    }

    fn values(&mut self, number: u32, values: &[NameId]) {
        values.iter().for_each(|&value| self.value(number, value));
    }

    /// Adds the kept fields of a range of numbers. Most messages have none, and are many.
    #[inline(always)]
    fn kept(&mut self, rest: &Fields, from: u32, to: u32) {
        self.out.kept(rest, from..to);
    }

    fn model(&mut self, of: &ModelProto) {
        self.int(model::IR_VERSION, of.ir_version);
        self.text(model::PRODUCER_NAME, &of.producer_name);
        self.text(model::PRODUCER_VERSION, &of.producer_version);
        self.text(model::DOMAIN, &of.domain);
        self.int(model::MODEL_VERSION, of.model_version);
        self.text(model::DOC_STRING, &of.doc_string);
        if let Some(graph) = &of.graph {
            self.message(model::GRAPH, graph, Self::graph);
        }
        self.kept(&of.rest, 0, model::OPSET_IMPORT);
        self.messages(model::OPSET_IMPORT, &of.opsets, Self::opset);
        self.kept(&of.rest, model::OPSET_IMPORT, model::METADATA);
        self.messages(model::METADATA, &of.metadata, Self::entry);
        self.kept(&of.rest, model::METADATA, model::FUNCTIONS);
        self.messages(model::FUNCTIONS, &of.functions, Self::function);
        self.kept(&of.rest, model::FUNCTIONS, END);
    }

    fn entry(&mut self, of: &StringEntry) {
        self.text(entry::KEY, &of.key);
        self.text(entry::VALUE, &of.value);
        self.kept(&of.rest, 0, END);
    }

    fn opset(&mut self, of: &OperatorSet) {
        self.name(opset::DOMAIN, of.domain);
        self.int(opset::VERSION, of.version);
        self.kept(&of.rest, 0, END);
    }

    fn graph(&mut self, of: &GraphProto) {
        self.messages(graph::NODE, &of.nodes, Self::node);
        self.name(graph::NAME, of.name);
        self.kept(&of.rest, 0, graph::INITIALIZER);
        self.messages(graph::INITIALIZER, &of.initializers, Self::tensor);
        self.kept(&of.rest, graph::INITIALIZER, graph::INPUT);
        self.messages(graph::INPUT, &of.inputs, Self::value_info);
        self.messages(graph::OUTPUT, &of.outputs, Self::value_info);
        self.messages(graph::VALUE_INFO, &of.value_info, Self::value_info);
        self.kept(&of.rest, graph::INPUT, END);
    }

    fn node(&mut self, of: &NodeProto) {
        self.values(node::INPUT, &of.inputs);
        self.values(node::OUTPUT, &of.outputs);
        if let Some(name) = of.name {
            self.value(node::NAME, name);
        }
        self.name(node::OP_TYPE, of.op_type);
        self.messages(node::ATTRIBUTE, &of.attributes, Self::attribute);
        self.kept(&of.rest, 0, node::DOMAIN);
        self.name(node::DOMAIN, of.domain);
        self.name(node::OVERLOAD, of.overload);
        self.kept(&of.rest, node::DOMAIN, END);
    }

    fn attribute(&mut self, of: &AttributeProto) {
        use AttributeValue as V;
        self.name(attribute::NAME, of.name);
        // An attribute has only one kind of value.
        match &of.value {
            V::None | V::Type(_) | V::Types(_) => {}
            V::Float(float) => self.out.float(attribute::FLOAT, *float),
            V::Int(int) => self.out.int(attribute::INT, *int),
            V::String(bytes) => self.out.bytes(attribute::STRING, bytes),
            V::Tensor(tensor) => self.message(attribute::TENSOR, &**tensor, Self::tensor),
            V::Graph(graph) => self.message(attribute::GRAPH, &**graph, Self::graph),
            V::Floats(floats) => floats.iter().for_each(|&float| self.out.float(attribute::FLOATS, float)),
            V::Ints(ints) => ints.iter().for_each(|&int| self.out.int(attribute::INTS, int)),
            V::Strings(all) => all.iter().for_each(|bytes| self.out.bytes(attribute::STRINGS, bytes)),
            V::Tensors(tensors) => self.messages(attribute::TENSORS, tensors, Self::tensor),
            V::Graphs(graphs) => self.messages(attribute::GRAPHS, graphs, Self::graph),
        }
        self.kept(&of.rest, 0, attribute::REF_ATTR_NAME);
        match &of.value {
            V::Type(ty) => self.message(attribute::TYPE_PROTO, &**ty, Self::type_proto),
            V::Types(types) => self.messages(attribute::TYPE_PROTOS, types, Self::type_proto),
            _ => {}
        }
        self.int(attribute::TYPE, of.kind.map(i64::from));
        self.name(attribute::REF_ATTR_NAME, of.reference);
        self.kept(&of.rest, attribute::REF_ATTR_NAME, END);
    }

    fn tensor(&mut self, of: &TensorProto) {
        of.dims.iter().for_each(|&extent| self.out.int(tensor::DIMS, extent));
        self.int(tensor::DATA_TYPE, of.data_type.map(i64::from));
        self.kept(&of.rest, 0, tensor::NAME);
        if let Some(name) = of.name {
            self.value(tensor::NAME, name);
        }
        self.kept(&of.rest, tensor::NAME, tensor::EXTERNAL_DATA);
        self.messages(tensor::EXTERNAL_DATA, &of.external, Self::entry);
        self.kept(&of.rest, tensor::EXTERNAL_DATA, END);
    }

    fn value_info(&mut self, of: &ValueInfo) {
        if let Some(name) = of.name {
            self.value(value_info::NAME, name);
        }
        if let Some(ty) = &of.ty {
            self.message(value_info::TYPE, ty, Self::type_proto);
        }
        self.kept(&of.rest, 0, END);
    }

    fn type_proto(&mut self, of: &TypeProto) {
        let number = of.form.field();
        self.kept(&of.rest, 0, number);
        if number > 0 {
            self.message(number, &of.form, Self::type_form);
        }
        self.kept(&of.rest, number, END);
    }

    fn type_form(&mut self, of: &TypeForm) {
        match of {
            TypeForm::None => {}
            TypeForm::Tensor(ty) | TypeForm::SparseTensor(ty) => {
                self.int(tensor_type::ELEMENT, ty.element.map(i64::from));
                if let Some(shape) = &ty.shape {
                    self.message(tensor_type::SHAPE, shape, Self::shape);
                }
                self.kept(&ty.rest, 0, END);
            }
            TypeForm::Sequence(ty, rest) | TypeForm::Optional(ty, rest) => {
                if let Some(ty) = ty {
                    self.message(element::TYPE, &**ty, Self::type_proto);
                }
                self.kept(rest, 0, END);
            }
            TypeForm::Map { key, value, rest } => {
                self.int(map::KEY, key.map(i64::from));
                if let Some(ty) = value {
                    self.message(map::VALUE, &**ty, Self::type_proto);
                }
                self.kept(rest, 0, END);
            }
            TypeForm::Opaque { domain, name, rest } => {
                self.name(opaque::DOMAIN, *domain);
                self.name(opaque::NAME, *name);
                self.kept(rest, 0, END);
            }
        }
    }

    fn shape(&mut self, of: &ShapeProto) {
        self.messages(shape::DIM, &of.dims, |encoder, of: &Dim| {
            match of.extent {
                Extent::Unknown => {}
                Extent::Value(value) => encoder.out.int(dim::VALUE, value),
                Extent::Symbol(name) => encoder.name(dim::PARAM, Some(name)),
            }
            encoder.kept(&of.rest, 0, END);
        });
        self.kept(&of.rest, 0, END);
    }

    fn function(&mut self, of: &FunctionProto) {
        self.name(function::NAME, of.name);
        self.kept(&of.rest, 0, function::INPUT);
        self.values(function::INPUT, &of.inputs);
        self.values(function::OUTPUT, &of.outputs);
        of.attributes.iter().for_each(|&name| self.name(function::ATTRIBUTE, Some(name)));
        self.messages(function::NODE, &of.nodes, Self::node);
        self.text(function::DOC_STRING, &of.doc_string);
        self.messages(function::OPSET_IMPORT, &of.opsets, Self::opset);
        self.name(function::DOMAIN, of.domain);
        self.messages(function::ATTRIBUTE_PROTO, &of.defaults, Self::attribute);
        self.messages(function::VALUE_INFO, &of.value_info, Self::value_info);
        self.name(function::OVERLOAD, of.overload);
        self.kept(&of.rest, function::INPUT, END);
    }
}

impl TypeForm {
    /// The number of the field of a type that has this form; 0 if the type has none.
    pub(super) fn field(&self) -> u32 {
        match self {
            TypeForm::None => 0,
            TypeForm::Tensor(_) => type_proto::TENSOR,
            TypeForm::SparseTensor(_) => type_proto::SPARSE_TENSOR,
            TypeForm::Sequence(..) => type_proto::SEQUENCE,
            TypeForm::Optional(..) => type_proto::OPTIONAL,
            TypeForm::Map { .. } => type_proto::MAP,
            TypeForm::Opaque { .. } => type_proto::OPAQUE,
        }
    }
}
