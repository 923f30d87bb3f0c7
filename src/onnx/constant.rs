//! The forms of `Constant` that are not tensors: numbers, texts, and lists of them.

use crate::graph::Element;
use crate::onnx::model::AttributeValue;
use crate::tensor::Data;

/// An attribute of `Constant`, and what it makes.
pub(crate) struct ConstantForm {
    pub(crate) attribute: &'static str,
    pub(crate) element: Element,
    is_list: bool,
}

/// All forms.
pub(crate) static CONSTANT_FORMS: &[ConstantForm] = &[
    ConstantForm { attribute: "value_int", element: Element::Int64, is_list: false },
    ConstantForm { attribute: "value_ints", element: Element::Int64, is_list: true },
    ConstantForm { attribute: "value_float", element: Element::Float32, is_list: false },
    ConstantForm { attribute: "value_floats", element: Element::Float32, is_list: true },
    ConstantForm { attribute: "value_string", element: Element::String, is_list: false },
    ConstantForm { attribute: "value_strings", element: Element::String, is_list: true },
];

impl ConstantForm {
    /// The form whose attribute has a name.
    pub(crate) fn named(attribute: &str) -> Option<&'static ConstantForm> {
        CONSTANT_FORMS.iter().find(|form| form.attribute == attribute)
    }

    /// The items of an attribute; none if its value is of another form. Files may omit zeros, and empty texts and lists.
    pub(crate) fn items(&self, value: &AttributeValue) -> Option<Data> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into();
        Some(match (self.element, self.is_list, value) {
            (Element::Int64, false, AttributeValue::Int(item)) => Data::Int64(vec![*item]),
            (Element::Int64, true, AttributeValue::Ints(items)) => Data::Int64(items.clone()),
            (Element::Float32, false, AttributeValue::Float(item)) => Data::Float32(vec![*item]),
            (Element::Float32, true, AttributeValue::Floats(items)) => Data::Float32(items.clone()),
            (Element::String, false, AttributeValue::String(item)) => Data::Text(vec![text(item)]),
            (Element::String, true, AttributeValue::Strings(items)) => {
                Data::Text(items.iter().map(|item| text(item)).collect())
            }
            (Element::Int64, is_list, AttributeValue::None) => Data::Int64(vec![0; usize::from(!is_list)]),
            (Element::Float32, is_list, AttributeValue::None) => Data::Float32(vec![0.0; usize::from(!is_list)]),
            (_, is_list, AttributeValue::None) => Data::Text(vec![text(b""); usize::from(!is_list)]),
            _ => return None,
        })
    }

    /// The extents of the tensor with so many items.
    pub(crate) fn shape(&self, items: usize) -> Vec<usize> {
        if self.is_list { vec![items] } else { Vec::new() }
    }
}
