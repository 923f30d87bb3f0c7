//! Resampling along axes, or at the points of a grid.

use super::super::translated_call::{Refused, TranslatedCall, Translation};
use super::super::value::{Attributes, ModelValue, NnefElement, text};
use crate::graph::{Operand, Value};
use crate::onnx::model::AttributeValue;

/// One of the words that an attribute may be, in both notations.
fn word(call: &TranslatedCall, name: &str, known: &[(&str, &'static str)]) -> Translation<&'static str> {
    let given = call.text(name)?;
    let found = known.iter().find(|(own, _)| *own == given).map(|(_, word)| *word);
    found.ok_or_else(|| Refused::meaning(format!("`{name}` of `{}` is '{given}'", call.name())))
}

const TRANSFORMERS: &[(&str, &str)] = &[
    ("half_pixel", "half_pixel"),
    ("align_corners", "align_corners"),
    ("asymmetric", "asymmetric"),
    ("pytorch_half_pixel", "pytorch_half_pixel"),
    ("half_pixel_symmetric", "half_pixel_symmetric"),
];
const INTERPOLATORS: &[(&str, &str)] = &[("nearest", "nearest"), ("linear", "linear"), ("cubic", "cubic")];
const ROUNDINGS: &[(&str, &str)] = &[
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("round_prefer_floor", "round_prefer_floor"),
    ("round_prefer_ceil", "round_prefer_ceil"),
];

/// Scalars or integers that are an attribute, or that a tensor has.
fn numbers(call: &mut TranslatedCall, name: &str, element: NnefElement) -> Translation<Option<ModelValue>> {
    match call.attribute(name, usize::MAX) {
        None | Some(Operand::Value(Value::Logical(false))) => Ok(None),
        Some(Operand::Value(Value::Scalars(items))) => {
            Ok(Some(call.out.constant(name, element, &[items.len() as i64], items)))
        }
        Some(Operand::Tensor(tensor)) => {
            let value = call.tensor(tensor)?;
            Ok(Some(call.out.cast(&value, element)))
        }
        Some(_) => {
            let items = call.integer_list(name)?;
            Ok(Some(call.out.cast(&items, element)))
        }
    }
}

/// Whether an axis of more than one item may become one of a single item.
fn may_shrink_to_one(call: &mut TranslatedCall, value: &ModelValue) -> bool {
    let (Some(from), Some(to)) = (value.dims.clone(), call.result_dims()) else { return true };
    from.iter().zip(to.iter()).any(|(from, to)| to.is_none_or(|to| to == 1) && (from.is_none() || from != to))
}

/// Whether scales are known and give whole extents.
fn is_whole(call: &TranslatedCall, value: &ModelValue, scales: &ModelValue) -> bool {
    let (Some(extents), Some(scales)) = (value.known(), call.out.floats(scales)) else { return false };
    extents.iter().zip(scales).all(|(extent, scale)| (*extent as f32 * scale).fract() == 0.0)
}

/// Resampling to sizes or by scales along each axis.
pub(in crate::onnx::from_nnef) fn resize(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.scalars("input")?;
    for flag in ["exclude_outside", "antialias"] {
        if call.flag_or_false(flag)? {
            return Err(Refused::meaning(format!("`{flag}` of `{}`", call.name())));
        }
    }
    let transformer = word(call, "coord_transformer", TRANSFORMERS)?;
    let mode = word(call, "interpolator", INTERPOLATORS)?;
    let sizes = numbers(call, "sizes", NnefElement::Int)?;
    let scales = if sizes.is_none() { numbers(call, "scales", NnefElement::Float)? } else { None };
    let by_extent = transformer == "align_corners" || (transformer == "half_pixel_symmetric" && mode == "nearest");
    if by_extent && scales.as_ref().is_some_and(|scales| !is_whole(call, &value, scales)) {
        // The extents are rounded before places are computed.
        return Err(Refused::meaning(format!("`{}` by '{transformer}' to fractions of extents", call.name())));
    }
    if transformer == "pytorch_half_pixel" && mode == "cubic" && may_shrink_to_one(call, &value) {
        // Another place is interpolated there.
        return Err(Refused::meaning(format!("`{}` to one item by '{transformer}'", call.name())));
    }
    let mut attributes: Attributes = vec![("mode", text(mode)), ("coordinate_transformation_mode", text(transformer))];
    if mode == "nearest" {
        attributes.push(("nearest_mode", text(word(call, "nearest_mode", ROUNDINGS)?)));
    }
    if mode == "cubic" {
        let factor = call.literal_at("cubic_coeff_a", usize::MAX)?.unwrap_or(-0.75);
        attributes.push(("cubic_coeff_a", AttributeValue::Float(factor as f32)));
    }
    let absent = ModelValue::ABSENT;
    let inputs = match (sizes, scales) {
        (Some(sizes), _) => vec![value, absent.clone(), absent, sizes],
        (None, Some(scales)) => vec![value, absent, scales],
        (None, None) => return Err(call.missing("scales")),
    };
    Ok(vec![call.node("Resize", &inputs.iter().collect::<Vec<_>>(), attributes)])
}

const MODES: &[(&str, &str)] = &[("bilinear", "linear"), ("nearest", "nearest"), ("bicubic", "cubic")];
const PADDINGS: &[(&str, &str)] = &[("zeros", "zeros"), ("border", "border"), ("reflection", "reflection")];

/// Sampling at the points of a grid.
pub(in crate::onnx::from_nnef) fn grid_sample(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, grid) = (call.scalars("input")?, call.value_at("grid", 1)?);
    let grid = call.out.cast(&grid, NnefElement::Float);
    let mode = word(call, "mode", MODES)?;
    let rank = call.rank(&value)?;
    let padding = word(call, "padding_mode", PADDINGS)?;
    if mode == "cubic" && padding == "border" {
        // Points beyond the border are moved to it before items are weighted, in ONNX the items are.
        return Err(Refused::meaning(format!("`{}` by 'bicubic' with the padding 'border'", call.name())));
    }
    if rank != 4 && mode == "cubic" {
        return Err(Refused::meaning(format!("`{}` by 'bicubic' of {rank} axes", call.name())));
    }
    let aligned = AttributeValue::Int(i64::from(call.flag_or_false("align_corners")?));
    let attributes = vec![("mode", text(mode)), ("padding_mode", text(padding)), ("align_corners", aligned)];
    Ok(vec![call.node("GridSample", &[&value, &grid], attributes)])
}
