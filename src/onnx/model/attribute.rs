//! Attributes by their names, and their values as types of Rust.

use bytes::Bytes;

use super::{AttributeProto, AttributeValue, ModelNames, NodeProto};
use crate::onnx::types::AttributeType;
use crate::source::names::Names;

/// What the value of an attribute is read as.
pub(crate) trait AttributeItem: Default {
    /// The type of attributes.
    const KIND: AttributeType;
    /// What messages call it.
    const NAME: &'static str;

    /// The value, if it is of this type.
    fn of(value: &AttributeValue) -> Option<Self>;
}

fn string(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

macro_rules! attribute_items {
    ($($item:ty: $kind:ident $name:literal, $value:ident => $read:expr;)*) => {$(
        impl AttributeItem for $item {
            const KIND: AttributeType = AttributeType::$kind;
            const NAME: &'static str = $name;

            fn of(value: &AttributeValue) -> Option<Self> {
                if let AttributeValue::$kind($value) = value { Some($read) } else { None }
            }
        }
    )*};
}

attribute_items! {
    i64: Int "an integer", value => *value;
    f32: Float "a float", value => *value;
    String: String "text", value => string(value);
    Vec<i64>: Ints "a list of integers", values => values.clone();
    Vec<f32>: Floats "a list of floats", values => values.clone();
    Vec<String>: Strings "a list of texts", values => values.iter().map(string).collect();
}

impl NodeProto {
    /// The attribute with a name.
    pub(crate) fn attribute(&self, names: &ModelNames, name: &str) -> Option<&AttributeProto> {
        self.attributes.get(self.attribute_place(names, name)?)
    }

    /// The place of the attribute with a name.
    pub(crate) fn attribute_place(&self, names: &ModelNames, name: &str) -> Option<usize> {
        let is = |attribute: &AttributeProto| attribute.name.is_some_and(|own| names.texts.text(own) == name);
        self.attributes.iter().position(is)
    }
}

impl AttributeProto {
    /// An attribute with a value.
    pub(crate) fn new(texts: &mut Names, name: &str, value: AttributeValue) -> AttributeProto {
        let kind = value.kind().map(|kind| kind as i32);
        AttributeProto { name: Some(texts.intern(name)), kind, value, ..AttributeProto::default() }
    }

    /// The value, if it is of a type. Files omit zeros, and empty texts and lists.
    pub(crate) fn read<T: AttributeItem>(&self) -> Option<T> {
        match self.value {
            AttributeValue::None => (self.kind == Some(T::KIND as i32)).then(T::default),
            ref value => T::of(value),
        }
    }

    /// The attribute, unless it stands for one of the function around it.
    pub(crate) fn plain(&self) -> Option<&AttributeProto> {
        self.reference.is_none().then_some(self)
    }
}

/// The value of an attribute with a text.
pub(crate) fn text_value(text: &str) -> AttributeValue {
    AttributeValue::String(Box::new(Bytes::copy_from_slice(text.as_bytes())))
}

/// The value of an attribute that is a list of integers.
pub(crate) fn ints_value(items: impl IntoIterator<Item = i64>) -> AttributeValue {
    AttributeValue::Ints(items.into_iter().collect())
}
