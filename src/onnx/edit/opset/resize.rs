//! `Upsample` and `Resize`.

use super::step::{OpsetStep, Stepped, text_value};
use super::values::no_floats;
use crate::graph::names::NameId;
use crate::onnx::model::AttributeValue;
use crate::tensor::Data;

/// The scales of the last two of four axes as those of all, and back
pub(super) fn upsample_scales_up(step: &mut OpsetStep) -> Stepped {
    let [height, width] = ["height_scale", "width_scale"].map(|name| step.float(name, 1.0));
    let scales = vec![1.0, 1.0, height?, width?];
    step.take("height_scale")?;
    step.take("width_scale")?;
    step.put("scales", AttributeValue::Floats(scales));
    Ok(())
}

pub(super) fn upsample_scales_down(step: &mut OpsetStep) -> Stepped {
    let Some(AttributeValue::Floats(scales)) = step.take("scales")? else { return Err("it has no scales".to_owned()) };
    let [1.0, 1.0, height, width] = scales[..] else {
        return Err("other axes than the last of four are scaled".to_owned());
    };
    step.put("height_scale", AttributeValue::Float(height));
    step.put("width_scale", AttributeValue::Float(width));
    Ok(())
}

/// The scales as an operand, and back
pub(super) fn upsample_up(step: &mut OpsetStep) -> Stepped {
    let Some(AttributeValue::Floats(scales)) = step.take("scales")? else { return Err("it has no scales".to_owned()) };
    let list = step.constant(&[scales.len()], Data::Float32(scales))?;
    step.give(1, list);
    Ok(())
}

pub(super) fn upsample_down(step: &mut OpsetStep) -> Stepped {
    let scales = step.floats(1)?;
    step.omit(1);
    step.put("scales", AttributeValue::Floats(scales));
    Ok(())
}

/// `Upsample` as `Resize`, and back
pub(super) fn to_resize(step: &mut OpsetStep) -> Stepped {
    step.rename("Resize");
    Ok(())
}

pub(super) fn to_upsample(step: &mut OpsetStep) -> Stepped {
    if step.floats(1)?.iter().any(|scale| *scale < 1.0) {
        return Err("a scale is less than 1".to_owned());
    }
    step.rename("Upsample");
    Ok(())
}

/// How a place between items was rounded: down where the result is larger, else up.
fn rounding(scales: &[f32]) -> Option<&'static str> {
    if scales.iter().all(|scale| *scale >= 1.0) {
        Some("floor")
    } else if scales.iter().all(|scale| *scale <= 1.0) {
        Some("ceil")
    } else {
        None
    }
}

/// The sizes; an operand without items means that there are scales.
fn sizes(step: &OpsetStep) -> Stepped<Option<Vec<i64>>> {
    Ok(step.optional_integers(3)?.filter(|sizes| !sizes.is_empty()))
}

/// Says where places are, and how they are rounded, which was not said
pub(super) fn places_up(step: &mut OpsetStep) -> Stepped {
    let scales = step.required(1)?;
    let mut scales = scales;
    if step.text("mode", "nearest")? == "nearest" {
        let factors = step.floats(1)?;
        let mode = match rounding(&factors) {
            Some(mode) => mode,
            None => {
                scales = enlarged(step, &factors)?;
                "ceil"
            }
        };
        step.put_text("nearest_mode", mode);
    }
    step.put_text("coordinate_transformation_mode", "asymmetric");
    let none = no_floats(step)?;
    step.give(1, none);
    step.give(2, scales);
    Ok(())
}

/// Enlarges some axes first, for which places are rounded down. Returns the factors of the others.
fn enlarged(step: &mut OpsetStep, factors: &[f32]) -> Stepped<NameId> {
    let list = |step: &mut OpsetStep, factors: Vec<f32>| step.constant(&[factors.len()], Data::Float32(factors));
    let larger = list(step, factors.iter().map(|factor| factor.max(1.0)).collect())?;
    let smaller = list(step, factors.iter().map(|factor| factor.min(1.0)).collect())?;
    let (operand, none) = (step.required(0)?, no_floats(step)?);
    let texts = [("mode", "nearest"), ("nearest_mode", "floor"), ("coordinate_transformation_mode", "asymmetric")];
    let attributes = texts.map(|(name, text)| (name, text_value(text))).into();
    let first = step.add("Resize", &[operand, none, larger], attributes);
    step.give(0, first);
    Ok(smaller)
}

pub(super) fn places_down(step: &mut OpsetStep) -> Stepped {
    let places = step.text("coordinate_transformation_mode", "half_pixel")?;
    let mode = step.text("mode", "nearest")?;
    if places != "asymmetric" || mode == "cubic" {
        return Err(format!("`mode` is '{mode}', and `coordinate_transformation_mode` is '{places}'"));
    }
    if sizes(step)?.is_some() {
        return Err("it has sizes and no scales".to_owned());
    }
    step.omit(3);
    let scales = step.floats(2)?;
    if mode == "nearest" {
        let nearest = step.text("nearest_mode", "round_prefer_floor")?;
        let is_one = scales.iter().all(|scale| *scale == 1.0);
        if rounding(&scales) != Some(&*nearest) && !is_one {
            return Err(format!("`nearest_mode` is '{nearest}'"));
        }
    }
    for name in ["coordinate_transformation_mode", "nearest_mode", "cubic_coeff_a", "extrapolation_value"] {
        step.take(name)?;
    }
    let operand = step.required(2)?;
    step.omit(2);
    step.give(1, operand);
    Ok(())
}

/// A way to find places that went again: places are those of another way and a half, which rounding can add.
pub(super) fn without_first_places(step: &mut OpsetStep) -> Stepped {
    if step.text("coordinate_transformation_mode", "half_pixel")? != "tf_half_pixel_for_nn" {
        return Ok(());
    }
    let mode = step.text("mode", "nearest")?;
    let nearest = step.text("nearest_mode", "round_prefer_floor")?;
    let other = match (&*mode, &*nearest) {
        ("nearest", "floor") => "round_prefer_ceil",
        ("nearest", "round_prefer_floor") => "ceil",
        _ => return Err("`coordinate_transformation_mode` is 'tf_half_pixel_for_nn'".to_owned()),
    };
    step.put_text("coordinate_transformation_mode", "half_pixel");
    step.put_text("nearest_mode", other);
    Ok(())
}

/// Region and scales had to be given.
pub(super) fn empty_operands(step: &mut OpsetStep) -> Stepped {
    for at in [1, 2] {
        if step.operand(at).is_none() {
            let none = no_floats(step)?;
            step.give(at, none);
        }
    }
    Ok(())
}

pub(super) fn without_symmetry(step: &mut OpsetStep) -> Stepped {
    match step.text("coordinate_transformation_mode", "half_pixel")?.as_str() {
        "half_pixel_symmetric" => Err("`coordinate_transformation_mode` is 'half_pixel_symmetric'".to_owned()),
        _ => Ok(()),
    }
}

/// Scales, sizes and regions of some axes as those of all
pub(super) fn all_axes(step: &mut OpsetStep) -> Stepped {
    let Some(axes) = step.ints("axes")? else { return Ok(()) };
    let rank = step.rank(0)? as usize;
    let places: Option<Vec<usize>> = axes.iter().map(|axis| crate::extents::axis(*axis, rank)).collect();
    let places = places.ok_or("an axis is not one of the operand")?;
    if places.iter().copied().ne(0..rank) {
        widened_region(step, &places, rank)?;
        widened_sizes(step, &places, rank)?;
    }
    step.take("axes").map(drop)
}

fn misfit() -> String {
    "an operand has another number of items than there are axes".to_owned()
}

/// The region: other axes are whole.
fn widened_region(step: &mut OpsetStep, places: &[usize], rank: usize) -> Stepped {
    if step.text("coordinate_transformation_mode", "half_pixel")? != "tf_crop_and_resize" || step.operand(1).is_none() {
        step.omit(1);
        return Ok(());
    }
    let region = step.floats(1)?;
    let mut all = [vec![0.0; rank], vec![1.0; rank]].concat();
    for (i, place) in places.iter().enumerate() {
        all[*place] = *region.get(i).ok_or_else(misfit)?;
        all[rank + place] = *region.get(places.len() + i).ok_or_else(misfit)?;
    }
    let new = step.constant(&[2 * rank], Data::Float32(all))?;
    step.give(1, new);
    Ok(())
}

/// Scales and sizes: other axes keep their extents.
fn widened_sizes(step: &mut OpsetStep, places: &[usize], rank: usize) -> Stepped {
    let (at, new) = match sizes(step)? {
        Some(sizes) => {
            let extents: Option<Vec<i64>> = step.shape(0)?.iter().map(|extent| extent.known()).collect();
            let mut all = extents.ok_or("the extents of axes that are not scaled are not known")?;
            for (i, place) in places.iter().enumerate() {
                all[*place] = *sizes.get(i).ok_or_else(misfit)?;
            }
            (3, step.list(&all)?)
        }
        None => {
            let scales = step.floats(2)?;
            let mut all = vec![1.0; rank];
            for (i, place) in places.iter().enumerate() {
                all[*place] = *scales.get(i).ok_or_else(misfit)?;
            }
            (2, step.constant(&[rank], Data::Float32(all))?)
        }
    };
    step.give(at, new);
    Ok(())
}
