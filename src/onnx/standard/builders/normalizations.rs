//! Normalizations.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall, element_numbered};
use crate::onnx::standard::template::TemplateSettings;
use crate::onnx::types::ElementType;

/// The smallest number that is added to variances unless a call says otherwise.
const EPSILON: f32 = 1e-5;

/// The type in which values are normalized, with the conversions to it from `data` and back.
fn stash(call: &StandardCall, settings: &mut TemplateSettings, data: &'static str) -> Build<&'static ElementType> {
    let own = call.element(0).ok();
    let stash = element_numbered(call.int("stash_type", 1)?)?;
    let cast = own.is_none_or(|own| own.number != stash.number);
    settings.flag("cast", cast).set("U", stash.name).set("u", stash.number);
    settings.set("wide", if cast { "wide" } else { data }).set("narrow", if cast { "narrow" } else { "normalized" });
    settings.set("back", conversion(own, "normalized", "X"));
    Ok(stash)
}

/// The node that converts a value to a type; to that of another value if the type is not known.
fn conversion(element: Option<&ElementType>, value: &str, like: &str) -> String {
    match element {
        Some(element) => format!("Cast <to: int = {}> ({value})", element.number),
        None => format!("CastLike ({value}, {like})"),
    }
}

fn epsilon(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    // All digits: the constant may be one of 64 bits.
    settings.set("epsilon", format!("{:e}", f64::from(call.float("epsilon")?.unwrap_or(EPSILON))));
    Ok(())
}

/// The axes from that of the call to the last one. Negative axes count from the end, so that no rank is needed.
fn last_axes(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let mut axis = call.int("axis", -1)?;
    if axis >= 0 {
        axis -= call.rank(0)?;
    }
    if !(-MAX_RANK..0).contains(&axis) {
        return Err(NotKnown);
    }
    let axes: Vec<String> = (axis..0).map(|axis| axis.to_string()).collect();
    settings.set("count", axes.len()).set("axes", axes.join(", "));
    Ok(())
}

/// The most axes that are listed.
const MAX_RANK: i64 = 64;

pub(in crate::onnx::standard) fn layer(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    stash(call, settings, "X")?;
    last_axes(call, settings)?;
    settings.flag("bias", call.has_input(2)).flag("InvStdDev", call.has_output(2));
    settings.set("Mean", if call.has_output(1) { "Mean" } else { "mean" });
    epsilon(call, settings)
}

pub(in crate::onnx::standard) fn root_mean_square(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let stash = stash(call, settings, "X")?;
    last_axes(call, settings)?;
    let scale = call.element(1).ok();
    let back = scale.is_none_or(|scale| scale.number != stash.number);
    settings.flag("back", back).set("narrow", if back { "narrow" } else { "normalized" });
    settings.set("back", conversion(scale, "normalized", "scale"));
    epsilon(call, settings)
}

pub(in crate::onnx::standard) fn group(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    if call.int("num_groups", 0)? <= 0 {
        return Err(NotKnown);
    }
    stash(call, settings, "grouped")?;
    settings.set("groups", call.int("num_groups", 0)?);
    epsilon(call, settings)
}
