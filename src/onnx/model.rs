//! A model in memory: the contents of a protobuf file or a text, without loss.
//!
//! Names are interned; those that are not UTF-8 have a representation, see [`super::protobuf::texts`]. Values are referred to by ids of the table that also has the names of expanded values
//! ([`TensorNames`]). Fields that are not interpreted (weights, training information, fields of later versions of ONNX)
//! stay encoded, as slices of the file, see [`EncodedField`].

use bytes::Bytes;
use smallvec::SmallVec;

use super::contents::FieldBytes;
use super::types::AttributeType;
use crate::graph::OriginId;
use crate::graph::names::{NameId, TensorNames};
use crate::source::names::{Name, Names};

mod attribute;
mod sizes;

pub(crate) use attribute::{AttributeItem, ints_value, text_value};
pub(crate) use sizes::PartSizes;

/// An encoded field of a protobuf message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EncodedField {
    /// The number of the field.
    pub(crate) number: u32,
    /// Its wire type.
    pub(crate) wire: Wire,
    /// The payload without its length or the tags of a group; for numbers, their little-endian bytes.
    pub(crate) bytes: FieldBytes,
}

/// The wire type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// A number with seven bits in each byte.
    Varint,
    /// Eight bytes.
    Fixed64,
    /// A length and this number of bytes.
    Bytes,
    /// Four bytes.
    Fixed32,
    /// Fields between two tags, an old form of messages. No field of ONNX has it.
    Group,
}

/// The fields of a message that stay encoded, in the order of the file. Most messages have none.
pub(crate) type Fields = Option<Box<Vec<EncodedField>>>;

/// A pair of strings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StringEntry {
    pub(crate) key: Option<Box<str>>,
    pub(crate) value: Option<Box<str>>,
    pub(crate) rest: Fields,
}

/// An operator set that a model or a function imports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OperatorSet {
    pub(crate) domain: Option<Name>,
    pub(crate) version: Option<i64>,
    pub(crate) rest: Fields,
}

/// A model.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelProto {
    pub(crate) names: ModelNames,
    pub(crate) ir_version: Option<i64>,
    pub(crate) opsets: Vec<OperatorSet>,
    pub(crate) producer_name: Option<Box<str>>,
    pub(crate) producer_version: Option<Box<str>>,
    pub(crate) domain: Option<Box<str>>,
    pub(crate) model_version: Option<i64>,
    pub(crate) doc_string: Option<Box<str>>,
    pub(crate) graph: Option<GraphProto>,
    pub(crate) metadata: Vec<StringEntry>,
    pub(crate) functions: Vec<FunctionProto>,
    pub(crate) rest: Fields,
    /// The calls that were expanded, see [`NodeProto::origin`].
    pub(crate) calls: Vec<ExpandedCall>,
    /// Whether graphs in it are marked by [`GraphProto::cannot_run`].
    pub(crate) contradicts: bool,
    /// The names of values that passes keep, with what computes them.
    pub(crate) kept: Vec<String>,
}

/// An expanded function call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ExpandedCall {
    /// The call in whose copy it is.
    pub(crate) parent: OriginId,
    pub(crate) function: Name,
    /// Its start in the text or in the protobuf file.
    pub(crate) at: u32,
}

/// The name of the standard domain, which files also leave out.
const STANDARD_DOMAIN: &str = "ai.onnx";

/// The number of names that there is room for at first.
const FIRST_VALUES: usize = 64;

/// The names of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelNames {
    /// All texts.
    pub(crate) texts: Names,
    /// The names of values and nodes: those of the model, and those of copies of function bodies.
    pub(crate) values: TensorNames,
    /// The value with each text as its name, if there is one.
    ids: Vec<Option<NameId>>,
    /// The same for what is read apart; no text has a value there in between.
    ids_apart: Vec<Option<NameId>>,
    /// While something is read apart: the texts that have a value.
    named_apart: Option<Vec<Name>>,
    /// The empty text, once it occurs.
    empty: Option<Name>,
}

impl ModelNames {
    /// Names from existing tables of texts and values.
    pub(crate) fn of(texts: Names, values: TensorNames) -> Self {
        ModelNames { texts, values, ..ModelNames::default() }
    }

    /// The text of the standard domain, which is empty.
    pub(crate) fn standard_domain(&mut self) -> Name {
        *self.empty.get_or_insert_with(|| self.texts.intern(""))
    }

    /// The value or node with a name. The empty name means an omitted operand.
    #[inline]
    pub(crate) fn value(&mut self, name: Name) -> NameId {
        match self.ids.get(name.index()) {
            Some(Some(id)) => *id,
            _ => self.new_value(name),
        }
    }

    fn new_value(&mut self, name: Name) -> NameId {
        if self.texts.text(name).is_empty() {
            return NameId::ROOT;
        }
        if self.ids.len() <= name.index() {
            self.ids.resize(self.texts.len().max(FIRST_VALUES), None);
        }
        if let Some(named) = &mut self.named_apart {
            named.push(name);
        }
        let id = self.values.user(name);
        self.values.mark_used(id);
        self.ids[name.index()] = Some(id);
        id
    }

    /// Reads something whose values are others than those with the same names so far. It takes time for its own names only,
    /// however many there are.
    pub(crate) fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.ids, &mut self.ids_apart);
        self.named_apart = Some(Vec::new());
        let done = read(self);
        for name in self.named_apart.take().unwrap_or_default() {
            self.ids[name.index()] = None;
        }
        std::mem::swap(&mut self.ids, &mut self.ids_apart);
        done
    }

    /// The value or node whose name is a text, if there is one.
    pub(crate) fn value_named(&self, text: &str) -> Option<NameId> {
        *self.ids.get(self.texts.get(text)?.index())?
    }

    /// All values and nodes with a name so far.
    pub(crate) fn all_values(&self) -> impl Iterator<Item = NameId> {
        self.values.ids()
    }

    /// The domain and the name of the operator of a node. The domain of the standard is empty.
    pub(crate) fn operator(&self, node: &NodeProto) -> (&str, &str) {
        let text = |name: Option<Name>| name.map_or("", |name| self.texts.text(name));
        let domain = text(node.domain);
        (if domain == STANDARD_DOMAIN { "" } else { domain }, text(node.op_type))
    }

    /// The name of a value or a node, which may have been made by the expansion.
    pub(crate) fn spelled(&self, id: NameId) -> String {
        let mut text = String::new();
        self.values.write(&self.texts, id, &mut text);
        text
    }

    /// The name of a value of the model as it was read.
    pub(crate) fn text(&self, id: NameId) -> &str {
        self.values.user_name(id).map_or("", |name| self.texts.text(name))
    }
}

/// A graph: that of a model, or one inside a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GraphProto {
    pub(crate) name: Option<Name>,
    pub(crate) nodes: Vec<NodeProto>,
    pub(crate) initializers: Vec<TensorProto>,
    pub(crate) inputs: Vec<ValueInfo>,
    pub(crate) outputs: Vec<ValueInfo>,
    pub(crate) value_info: Vec<ValueInfo>,
    pub(crate) rest: Fields,
    /// Whether operands in it contradict each other, so that it cannot run with the shapes of the inputs. A branch that is
    /// never taken may do so. What follows from shapes in it decides nothing.
    pub(crate) cannot_run: bool,
    /// What was found out about values that nodes in it compute, for the expansion of control flow. Nothing of it is
    /// written.
    pub(crate) facts: Vec<(NameId, Fact)>,
    /// Results of nodes in it that were computed while the nodes stay. Nothing of it is written.
    pub(crate) noted: Vec<TensorProto>,
    /// Whether the state of the loop whose body it is has one shape in all trips, as far as that was found out.
    pub(crate) keeps_shapes: bool,
}

/// A single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Int(i64),
    Int32(i32),
    Bool(bool),
}

/// What is known of a value before a model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The value has one item.
    Is(Scalar),
    /// It has an extent along an axis.
    Extent { axis: i64, extent: i64 },
}

/// The operands and results of a node.
pub(crate) type Values = SmallVec<[NameId; 4]>;

/// An operation or a call of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NodeProto {
    pub(crate) inputs: Values,
    pub(crate) outputs: Values,
    pub(crate) op_type: Option<Name>,
    pub(crate) domain: Option<Name>,
    pub(crate) overload: Option<Name>,
    pub(crate) name: Option<NameId>,
    pub(crate) attributes: Vec<AttributeProto>,
    pub(crate) rest: Fields,
    /// Its start in the text or in the protobuf file.
    pub(crate) at: u32,
    /// The call in whose copy it is.
    pub(crate) origin: OriginId,
}

/// An attribute of a node, or the default of a function's attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AttributeProto {
    pub(crate) name: Option<Name>,
    /// The declared type, see [`super::types::AttributeType`].
    pub(crate) kind: Option<i32>,
    pub(crate) value: AttributeValue,
    /// The attribute of the enclosing function that is referred to.
    pub(crate) reference: Option<Name>,
    pub(crate) rest: Fields,
}

/// The value of an attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum AttributeValue {
    /// No value: a reference, an empty list, or a default value that protobuf omits.
    #[default]
    None,
    Float(f32),
    Int(i64),
    /// Boxed: most attributes are numbers, and [`Bytes`] is larger than any other value.
    String(Box<Bytes>),
    Tensor(Box<TensorProto>),
    Graph(Box<GraphProto>),
    Type(Box<TypeProto>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Strings(Vec<Bytes>),
    Tensors(Vec<TensorProto>),
    Graphs(Vec<GraphProto>),
    Types(Vec<TypeProto>),
}

impl AttributeValue {
    /// Whether it has graphs.
    pub(crate) fn has_graphs(&self) -> bool {
        matches!(self, AttributeValue::Graph(_) | AttributeValue::Graphs(_))
    }

    /// The graphs in it.
    pub(crate) fn graphs(&self) -> &[GraphProto] {
        match self {
            AttributeValue::Graph(graph) => std::slice::from_ref(graph),
            AttributeValue::Graphs(graphs) => graphs,
            _ => &[],
        }
    }

    /// [`Self::graphs`], to be changed.
    pub(crate) fn graphs_mut(&mut self) -> &mut [GraphProto] {
        match self {
            AttributeValue::Graph(graph) => std::slice::from_mut(graph),
            AttributeValue::Graphs(graphs) => graphs,
            _ => &mut [],
        }
    }
}

impl AttributeProto {
    /// Whether it refers to graphs, or to something whose type is not told.
    pub(crate) fn refers_to_graphs(&self) -> bool {
        let may_be = [0, AttributeType::Graph as i32, AttributeType::Graphs as i32];
        self.reference.is_some() && may_be.contains(&self.kind.unwrap_or(0))
    }
}

impl NodeProto {
    /// Whether attributes have graphs.
    pub(crate) fn has_graphs(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute.value.has_graphs())
    }
}

/// A constant tensor. Its elements stay encoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TensorProto {
    pub(crate) dims: SmallVec<[i64; 4]>,
    pub(crate) data_type: Option<i32>,
    pub(crate) name: Option<NameId>,
    pub(crate) external: Vec<StringEntry>,
    /// Elements, documentation, data location and so on, by their field numbers.
    pub(crate) rest: Fields,
}

/// A value with its type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ValueInfo {
    pub(crate) name: Option<NameId>,
    pub(crate) ty: Option<TypeProto>,
    pub(crate) rest: Fields,
}

/// A type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TypeProto {
    pub(crate) form: TypeForm,
    pub(crate) rest: Fields,
}

/// The form of a type, with its parts. Each form is a separate message, whose other fields are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum TypeForm {
    #[default]
    None,
    Tensor(TensorType),
    SparseTensor(TensorType),
    Sequence(Option<Box<TypeProto>>, Fields),
    Optional(Option<Box<TypeProto>>, Fields),
    Map {
        key: Option<i32>,
        value: Option<Box<TypeProto>>,
        rest: Fields,
    },
    Opaque {
        domain: Option<Name>,
        name: Option<Name>,
        rest: Fields,
    },
}

/// Element type and shape of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TensorType {
    pub(crate) element: Option<i32>,
    pub(crate) shape: Option<ShapeProto>,
    pub(crate) rest: Fields,
}

/// The extents of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ShapeProto {
    pub(crate) dims: Vec<Dim>,
    pub(crate) rest: Fields,
}

/// An extent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dim {
    pub(crate) extent: Extent,
    pub(crate) rest: Fields,
}

/// The value of an extent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Extent {
    #[default]
    Unknown,
    Value(i64),
    Symbol(Name),
}

/// A function of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FunctionProto {
    pub(crate) name: Option<Name>,
    pub(crate) inputs: Vec<NameId>,
    pub(crate) outputs: Vec<NameId>,
    /// Attributes without a default.
    pub(crate) attributes: Vec<Name>,
    /// Attributes with a default.
    pub(crate) defaults: Vec<AttributeProto>,
    pub(crate) nodes: Vec<NodeProto>,
    pub(crate) doc_string: Option<Box<str>>,
    pub(crate) opsets: Vec<OperatorSet>,
    pub(crate) domain: Option<Name>,
    pub(crate) overload: Option<Name>,
    pub(crate) value_info: Vec<ValueInfo>,
    pub(crate) rest: Fields,
    /// Its start in the text or in the protobuf file.
    pub(crate) at: u32,
}
