//! Reductions.

use crate::onnx::standard::standard_call::{Build, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// The number of `double` among element types.
const DOUBLE: i32 = 11;

/// A reduction whose intermediate values have another type: `u`, from which `back` leads back.
fn through(call: &StandardCall, settings: &mut TemplateSettings, is_wide: fn(&str) -> bool) {
    let element = call.element(0).ok();
    let cast = !element.is_some_and(|element| is_wide(element.name));
    settings.flag("cast", cast).set("wide", if cast { "wide" } else { "data" }).set("u", DOUBLE);
    match element {
        Some(element) => settings.set("back", format!("Cast <to: int = {}>", element.number)).set("like", ""),
        None => settings.set("back", "CastLike").set("like", ", data"),
    };
}

/// Square roots and logarithms are those of floats.
pub(in crate::onnx::standard) fn of_floats(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    through(call, settings, |name| name.contains("float") || name == "double");
    Ok(())
}

/// Sums of exponentials, or of squares, do not fit into their type where the result does.
pub(in crate::onnx::standard) fn of_doubles(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    through(call, settings, |name| name == "double");
    Ok(())
}

pub(in crate::onnx::standard) fn softmax(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.set("axis", call.int("axis", -1)?);
    Ok(())
}
