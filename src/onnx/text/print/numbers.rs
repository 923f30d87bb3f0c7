//! Prints the elements of tensors.

use crate::onnx::elements::Elements;
use crate::source::literals::{push_float, push_int};

/// The bytes of a number and of what is before it, at a guess.
const ITEM: usize = 14;

/// Appends elements other than strings to a list, those from a place on.
pub(super) fn push_elements(out: &mut String, first: usize, elements: &Elements) {
    match elements {
        Elements::Ints(items) => push_list(out, first, items, |out, item| push_int(out, *item)),
        Elements::Unsigned(items) => {
            push_list(out, first, items, |out, item| out.push_str(itoa::Buffer::new().format(*item)));
        }
        Elements::Floats(items) => push_list(out, first, items, |out, item| push_number(out, *item)),
        Elements::Doubles(items) => push_list(out, first, items, |out, item| push_number(out, *item)),
        Elements::Strings(_) => {}
    }
}

fn push_list<T>(out: &mut String, first: usize, items: &[T], push: impl Fn(&mut String, &T)) {
    out.reserve(items.len().saturating_mul(ITEM));
    for (i, item) in items.iter().enumerate() {
        if first + i > 0 {
            out.push_str(", ");
        }
        push(out, item);
    }
}

/// Appends a float. Of a NaN only the sign is kept.
pub(super) fn push_number<F: zmij::Float + Into<f64> + std::fmt::Debug>(out: &mut String, value: F) {
    let wide: f64 = value.into();
    if wide.is_finite() {
        return push_float(out, value);
    }
    let text = if wide.is_nan() { "nan" } else { "inf" };
    out.push_str(if wide.is_sign_negative() { "-" } else { "" });
    out.push_str(text);
}

/// Whether a float is a NaN with other bits than its sign, which a text does not have.
pub(super) fn is_odd(value: f32) -> bool {
    value.is_nan() && value.abs().to_bits() != f32::NAN.to_bits()
}

/// The number of NaNs with other bits than their signs.
pub(super) fn odd_nans(elements: &Elements) -> usize {
    match elements {
        Elements::Floats(items) => items.iter().filter(|item| is_odd(**item)).count(),
        Elements::Doubles(items) => {
            items.iter().filter(|item| item.is_nan() && item.abs().to_bits() != f64::NAN.to_bits()).count()
        }
        Elements::Ints(_) | Elements::Unsigned(_) | Elements::Strings(_) => 0,
    }
}
