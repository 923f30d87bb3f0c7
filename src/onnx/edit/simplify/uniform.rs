//! Constants whose items are all the same.

use crate::graph::Element;
use crate::onnx::elements::Elements;
use crate::onnx::model::TensorProto;

/// The number of items up to which constants are looked at.
const MAX_ITEMS: i64 = 1 << 16;

/// What all items of a constant are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uniform {
    element: Element,
    /// The number of an integer, the bits of a float.
    bits: i128,
}

/// The bits of 1 and of the negative zero, of each type of floats whose arithmetic ONNX has.
const FLOATS: &[(Element, i128, i128)] = &[
    (Element::Float32, 0x3f80_0000, 0x8000_0000),
    (Element::Float64, 0x3ff0_0000_0000_0000, 0x8000_0000_0000_0000),
    (Element::Float16, 0x3c00, 0x8000),
    (Element::Bfloat16, 0x3f80, 0x8000),
];

/// The items of a constant with at least one: integers as they are, floats as their bits.
fn bits_of(tensor: &TensorProto) -> Option<(Element, Vec<i128>)> {
    let element = Element::numbered(tensor.data_type?.into())?;
    let count = tensor.dims.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent))?;
    if !(1..=MAX_ITEMS).contains(&count) || tensor.is_external() {
        return None;
    }
    let bits = match Elements::of(tensor).ok()? {
        Elements::Floats(items) => items.into_iter().map(|item| item.to_bits().into()).collect(),
        Elements::Doubles(items) => items.into_iter().map(|item| item.to_bits().into()).collect(),
        Elements::Ints(items) => items.into_iter().map(i128::from).collect(),
        Elements::Unsigned(items) => items.into_iter().map(i128::from).collect(),
        Elements::Strings(_) => return None,
    };
    Some((element, bits))
}

/// What is known of the items of a constant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConstantItems {
    /// What they all are; none if they differ, or if there are none.
    pub(super) uniform: Option<Uniform>,
    /// Whether they are floats without a negative zero.
    pub(super) is_positive: bool,
}

impl ConstantItems {
    pub(super) fn of(tensor: &TensorProto) -> ConstantItems {
        let Some((element, items)) = bits_of(tensor) else { return ConstantItems::default() };
        let row = FLOATS.iter().find(|row| row.0 == element);
        let is_positive = row.is_some_and(|(_, _, zero)| !items.contains(zero));
        let uniform = items.split_first().filter(|(first, rest)| rest.iter().all(|item| item == *first));
        ConstantItems { uniform: uniform.map(|(first, _)| Uniform { element, bits: *first }), is_positive }
    }
}

impl Uniform {
    fn float(self) -> Option<&'static (Element, i128, i128)> {
        FLOATS.iter().find(|row| row.0 == self.element)
    }

    /// Whether the items are integers.
    pub(super) fn is_integer(self) -> bool {
        self.element.is_whole() && self.element != Element::Bool
    }

    /// Whether the items are 1.
    pub(super) fn is_one(self) -> bool {
        match self.float() {
            Some((_, one, _)) => self.bits == *one,
            None => self.is_integer() && self.bits == 1,
        }
    }

    /// Whether the items are 0, that of floats without sign.
    pub(super) fn is_zero(self) -> bool {
        (self.float().is_some() || self.is_integer()) && self.bits == 0
    }

    /// Whether the items are the zero of floats with a sign.
    pub(super) fn is_negative_zero(self) -> bool {
        self.float().is_some_and(|(_, _, zero)| self.bits == *zero)
    }

    /// The truth value that the items are.
    pub(super) fn truth(self) -> Option<bool> {
        (self.element == Element::Bool).then_some(self.bits != 0)
    }
}
