//! Padding: borders of tensors, and the padding of windows.

use super::lists;
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::{Attributes, KnownExtents, ModelValue, NnefElement, text};
use crate::extents::{End, Window};
use crate::graph::border;
use crate::graph::windows::is_of_space;

/// A border mode; a constant border has a value.
pub(super) type Border = border::Border<f64>;

/// The border mode of an operation; a constant border has this value.
pub(super) fn border(call: &TranslatedCall, value: f64) -> Translation<Border> {
    let mode = call.text("border")?;
    Border::named(mode, value).ok_or_else(|| Refused::meaning(format!("unknown border mode '{mode}'")))
}

/// An extent with items added before and after.
pub(super) fn padded_extent(extent: i64, before: i64, after: i64) -> i64 {
    extent.saturating_add(before).saturating_add(after)
}

/// The maximum number of items of an axis whose indices are listed.
const MOST_LISTED: i64 = 1 << 20;

/// Adds items before and after each axis of a value; negative numbers remove items.
pub(super) fn pad(
    call: &mut TranslatedCall,
    value: &ModelValue,
    pads: &[(i64, i64)],
    border: Border,
) -> Translation<ModelValue> {
    if pads.iter().all(|pads| *pads == (0, 0)) {
        return Ok(value.clone());
    }
    let dims: Option<KnownExtents> = value.dims.as_ref().map(|dims| {
        dims.iter().zip(pads).map(|(extent, pads)| Some(padded_extent((*extent)?, pads.0, pads.1))).collect()
    });
    let fits = |(extent, (before, after)): (&Option<i64>, &(i64, i64))| {
        *before >= 0 && *after >= 0 && extent.is_none_or(|extent| *before < extent && *after < extent)
    };
    let within = value.dims.as_ref().is_some_and(|dims| dims.iter().zip(pads).all(fits));
    let mode = match border {
        Border::Ignore | Border::Constant(_) => "constant",
        Border::Replicate => "edge",
        Border::Reflect if within => "reflect",
        Border::Reflect | Border::ReflectEven => {
            let made = gathered(call, value, pads, border)?;
            return Ok(ModelValue { dims, ..made });
        }
    };
    let items: Vec<i64> = pads.iter().map(|pads| pads.0).chain(pads.iter().map(|pads| pads.1)).collect();
    let items = call.out.list("pads", &items);
    let attributes: Attributes = if mode == "constant" { Vec::new() } else { vec![("mode", text(mode))] };
    let fill = match border {
        Border::Constant(fill) if fill != 0.0 => Some(call.out.number(value.element, fill)),
        _ => None,
    };
    let inputs: Vec<&ModelValue> = [value, &items].into_iter().chain(&fill).collect();
    let made = call.node("Pad", &inputs, attributes);
    Ok(ModelValue { dims, ..made })
}

/// Like `pad`, for borders that `Pad` does not support: by listing the index of each item along an axis.
fn gathered(
    call: &mut TranslatedCall,
    value: &ModelValue,
    pads: &[(i64, i64)],
    border: Border,
) -> Translation<ModelValue> {
    let mut made = value.clone();
    for (axis, (before, after)) in pads.iter().enumerate().filter(|(_, pads)| **pads != (0, 0)) {
        let extent = value.dims.as_ref().and_then(|dims| lists::known_at(dims, axis));
        let extent = extent.ok_or_else(|| call.open_extents())?;
        let count = padded_extent(extent, *before, *after);
        if extent < 1 || !(0..=MOST_LISTED).contains(&count) {
            return Err(Refused::meaning(format!("`{}` pads an extent of {extent} to {count}", call.name())));
        }
        call.check_memory()?;
        let places = (0..count).filter_map(|at| border.place(at.saturating_sub(*before), extent as usize));
        let places: Vec<i64> = places.map(|place| place as i64).collect();
        let places = call.out.list("places", &places);
        let axis = crate::onnx::model::AttributeValue::Int(axis as i64);
        made = call.node("Gather", &[&made, &places], vec![("axis", axis)]);
    }
    Ok(made)
}

/// The operation `pad`.
pub(super) fn pad_operation(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let pads = call.pairs("padding")?;
    let fill = call.literal("value").ok_or_else(|| Refused::unknown("the `value` of `pad` is not known"))?;
    let border = match border(call, fill)? {
        Border::Ignore => Border::Constant(fill),
        border => border,
    };
    if call.rank(&value)? != pads.len() {
        return Err(Refused::meaning("`padding` of `pad` has another length than the shape of its operand"));
    }
    Ok(vec![pad(call, &value, &pads, border)?])
}

/// The largest size, stride and dilation of a window.
const LARGEST_WINDOW: i64 = 1 << 30;

/// The largest extent that has windows, and the largest padding.
const LARGEST_EXTENT: i64 = 1 << 31;

/// The windows along an axis of an operand. Their size, stride and dilation are above 0, see [`Axis::checked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// The window; its padding is none if it depends on an extent that is not known.
    pub(super) window: Window<i64, Option<(i64, i64)>>,
    /// The extent of the operand.
    pub(super) extent: Option<i64>,
}

impl Axis {
    /// Windows of one item each.
    pub(super) fn trivial(extent: Option<i64>) -> Axis {
        Axis { window: Window::side_by_side(1).padded(Some((0, 0))), extent }
    }

    /// The same windows with another padding.
    pub(super) fn padded(self, padding: Option<(i64, i64)>) -> Axis {
        Axis { window: self.window.padded(padding), ..self }
    }

    /// A window whose numbers are so small that those of its result do not overflow; none for others.
    fn checked(self) -> Option<Axis> {
        let small = |item: i64| (1..=LARGEST_WINDOW).contains(&item);
        let few = |number: i64| number.checked_abs().is_some_and(|number| number <= LARGEST_EXTENT);
        let Window { size, stride, dilation, padding } = self.window;
        let within = small(size) && small(stride) && small(dilation) && self.extent.is_none_or(few);
        (within && padding.is_none_or(|(before, after)| few(before) && few(after))).then_some(self)
    }

    /// The extent of the complete result of a transposed window over an extent.
    pub(super) fn enlarged(self, extent: i64) -> i64 {
        self.window.padded((0, 0)).extent(&extent).unwrap_or(i64::MAX)
    }

    /// The number of items from the first to the last item of a window.
    pub(super) fn covered(self) -> i64 {
        self.window.span().unwrap_or(i64::MAX)
    }

    /// Whether each window is one item.
    pub(super) fn is_trivial(self) -> bool {
        self.window.size == 1 && self.window.stride == 1 && matches!(self.window.padding, None | Some((0, 0)))
    }

    /// Whether a window covers no item of the operand, as far as extents are known.
    pub(super) fn has_empty(self) -> bool {
        let (Some((before, _)), Some(extent), Some(count)) = (self.window.padding, self.extent, self.count()) else {
            return false;
        };
        let first = |at: i64| at.saturating_mul(self.window.stride).saturating_sub(before);
        let last = first(count.saturating_sub(1));
        let ends = count > 0 && (last >= extent || first(0).saturating_add(self.covered()) <= 0);
        // Other windows reach both sides of the edge; items between those of the window may be all of the operand.
        let skips = |first: i64| first < 0 && first.rem_euclid(self.window.dilation) >= extent;
        ends || extent < self.window.dilation && (0..count.min(MOST_LISTED)).map(first).any(skips)
    }

    /// The number of windows.
    pub(super) fn count(self) -> Option<i64> {
        self.window.padded(self.window.padding?).places(&self.extent?)
    }
}

/// The windows of an operation over extents, with its padding, stride and dilation. With automatic padding, the number
/// of windows is the extent divided by the stride, rounded up, and an odd item is added at the end.
pub(super) fn windows(
    call: &TranslatedCall,
    size: &[i64],
    extents: &[Option<i64>],
    up: bool,
    of_space: bool,
) -> Translation<Vec<Axis>> {
    let (mut stride, mut dilation, mut pads) = (call.ints("stride")?, call.ints("dilation")?, call.pairs("padding")?);
    let is_short = |items: usize| of_space && is_of_space(items, extents.len());
    for items in [&mut stride, &mut dilation].into_iter().filter(|items| is_short(items.len())) {
        items.splice(0..0, [1; 2]);
    }
    if is_short(pads.len()) {
        pads.splice(0..0, [(0, 0); 2]);
    }
    let wrong = || unfit(call);
    for length in [stride.len(), dilation.len(), pads.len()] {
        if length != 0 && length != size.len() || size.len() != extents.len() {
            return Err(wrong());
        }
    }
    let axis = |(i, (size, extent)): (usize, (&i64, &Option<i64>))| {
        let step = |items: &[i64]| items.get(i).copied().unwrap_or(1);
        let (stride, dilation) = (step(&stride), step(&dilation));
        let window = Window { size: *size, stride, dilation, padding: pads.get(i).copied() };
        let axis = Axis { window, extent: *extent }.checked().ok_or_else(wrong)?;
        Ok(axis.padded(window.padding.or_else(|| automatic(axis).filter(|_| !up))))
    };
    size.iter().zip(extents).enumerate().map(axis).collect()
}

/// Windows of a size, as far as this stride, with automatic padding or with none.
pub(super) fn plain_windows(
    call: &TranslatedCall,
    windows: impl Iterator<Item = (i64, i64)>,
    extents: &[Option<i64>],
    padded: bool,
) -> Translation<Vec<Axis>> {
    let axis = |((size, stride), extent): ((i64, i64), &Option<i64>)| {
        let window = Window { size, stride, dilation: 1, padding: Some((0, 0)) };
        let axis = Axis { window, extent: *extent }.checked();
        let axis = axis.map(|axis| if padded { axis.padded(automatic(axis)) } else { axis });
        axis.ok_or_else(|| unfit(call))
    };
    let axes: Vec<Axis> = windows.zip(extents).map(axis).collect::<Translation<_>>()?;
    if axes.len() == extents.len() { Ok(axes) } else { Err(unfit(call)) }
}

fn unfit(call: &TranslatedCall) -> Refused {
    Refused::meaning(format!("`{}` has a window that does not fit its operand", call.name()))
}

/// The automatic padding of an axis.
fn automatic(axis: Axis) -> Option<(i64, i64)> {
    // With stride 1, the padding does not depend on the extent.
    let extent = axis.extent.or((axis.window.stride == 1).then_some(1))?;
    Some(axis.window.automatic(End::After, extent, 0)?.padding)
}

/// The least number of this type.
pub(super) fn least(element: NnefElement) -> f64 {
    if element == NnefElement::Float { f64::NEG_INFINITY } else { i64::MIN as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_padding_is_that_of_the_specification() {
        let axis =
            |extent, size, stride, dilation| Axis { window: Window { size, stride, dilation, padding: None }, extent };
        for (extent, size, stride, dilation, wanted) in [
            (Some(5), 4, 2, 1, Some((1, 2))),
            (Some(6), 3, 2, 1, Some((0, 1))),
            (Some(6), 3, 1, 2, Some((2, 2))),
            (Some(4), 1, 3, 1, Some((0, 0))),
            (None, 4, 1, 1, Some((1, 2))),
            (None, 4, 2, 1, None),
        ] {
            let axis = axis(extent, size, stride, dilation);
            assert_eq!(automatic(axis), wanted, "{axis:?}");
            let counted = axis.padded(wanted).count();
            let expected = extent.zip(wanted).map(|(extent, _)| (extent + stride - 1) / stride);
            assert_eq!(counted, expected, "{axis:?}");
        }
    }
}
