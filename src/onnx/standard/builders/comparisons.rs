//! Comparisons, limits and conversions.

use crate::onnx::standard::standard_call::{Build, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

pub(in crate::onnx::standard) fn cast_like(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.set("to", call.element(1)?.number);
    Ok(())
}

/// The first version in which `Where` takes `bfloat16`.
const CHOICE_OF_BFLOAT16: i64 = 16;

pub(in crate::onnx::standard) fn clip(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    // Early versions choose no items of this type, but compare them.
    let chosen = call.version >= CHOICE_OF_BFLOAT16 || call.element_name(0) != "bfloat16";
    settings.flag("min", call.has_input(1)).flag("max", call.has_input(2)).flag("chosen", chosen);
    settings.set("raised", if call.has_input(1) { "raised" } else { "input" });
    Ok(())
}
