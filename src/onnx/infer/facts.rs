//! What is known of a value: its type, its shape, and small integers in it.

use std::sync::Arc;

use crate::graph::Element;
use crate::graph::dims::Dim;
#[cfg(feature = "lsp")]
use crate::onnx::types::ElementType;

/// The extents of a tensor. Values of equal shape share them.
pub(crate) type TensorExtents = Arc<[Dim]>;

/// The items of a small tensor of integers or truth values (0 and 1), in row-major order.
pub(crate) type KnownItems = Arc<[Dim]>;

/// The maximum nesting of sequences and optional values.
const MAX_LEVELS: u32 = 16;

/// What is known of the type of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum ValueType {
    /// Nothing.
    #[default]
    Unknown,
    /// A tensor.
    Tensor(TensorFacts),
    /// A sequence, with the type of its items.
    Sequence(Box<ValueType>),
    /// An optional value, with the type of its content.
    Optional(Box<ValueType>),
    /// A map, a sparse tensor, or a value of an opaque type.
    Other,
}

/// What is known of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TensorFacts {
    /// The type of its elements.
    pub(crate) element: Option<Element>,
    /// Its extents, if the rank is known. In the result of inference no extent is unknown: one that is not determined
    /// by others is a symbol of its own.
    pub(crate) shape: Option<TensorExtents>,
    /// Its items, if it is a small tensor of integers or truth values; each may be unknown.
    pub(crate) items: Option<KnownItems>,
}

impl ValueType {
    /// A tensor with an element type and a shape, as far as they are known.
    pub(crate) fn tensor(element: Option<Element>, shape: Option<TensorExtents>) -> ValueType {
        ValueType::Tensor(TensorFacts { element, shape, items: None })
    }

    /// The type, unless it is nested too deeply: nodes can nest optional values and sequences without end.
    pub(crate) fn within_limits(self) -> ValueType {
        fn fits(ty: &ValueType, levels: u32) -> bool {
            match ty {
                ValueType::Sequence(inner) | ValueType::Optional(inner) => levels > 0 && fits(inner, levels - 1),
                ValueType::Unknown | ValueType::Tensor(_) | ValueType::Other => true,
            }
        }
        if fits(&self, MAX_LEVELS) { self } else { ValueType::Unknown }
    }

    /// The type as the text notation writes it, as far as it is known.
    #[cfg(feature = "lsp")]
    pub(crate) fn text(&self) -> String {
        match self {
            ValueType::Unknown => "unknown".to_owned(),
            ValueType::Tensor(facts) => {
                let element = facts.element.and_then(|element| ElementType::numbered(element as i32));
                let extents = facts.shape.as_ref().map(|shape| shape.iter().map(Dim::text).collect::<Vec<_>>());
                let extents = extents.map_or_else(
                    || "[]".to_owned(),
                    |extents| match extents[..] {
                        [] => String::new(),
                        _ => format!("[{}]", extents.join(", ")),
                    },
                );
                format!("{}{extents}", element.map_or("tensor", |element| element.name))
            }
            ValueType::Sequence(item) => format!("seq({})", item.text()),
            ValueType::Optional(content) => format!("optional({})", content.text()),
            ValueType::Other => "other".to_owned(),
        }
    }

    /// The facts, if it is a tensor.
    pub(crate) fn as_tensor(&self) -> Option<&TensorFacts> {
        match self {
            ValueType::Tensor(facts) => Some(facts),
            _ => None,
        }
    }

    /// The element type, if it is a tensor and the type is known.
    pub(crate) fn element(&self) -> Option<Element> {
        self.as_tensor()?.element
    }

    /// The extents, if it is a tensor of known rank.
    pub(crate) fn shape(&self) -> Option<&TensorExtents> {
        self.as_tensor()?.shape.as_ref()
    }
}
