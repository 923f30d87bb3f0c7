//! Activations.

use crate::onnx::standard::standard_call::{Build, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

pub(in crate::onnx::standard) fn gelu(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.flag("tanh", call.text("approximate", "none")? == "tanh");
    Ok(())
}

/// The thresholds of integers are not integers.
pub(in crate::onnx::standard) fn shrink(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let is_float = call.element(0).map_or(true, |element| element.name.contains("float") || element.name == "double");
    settings.flag("float", is_float).set("U", if is_float { call.element_name(0) } else { "double" });
    Ok(())
}
