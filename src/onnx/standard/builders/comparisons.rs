//! Comparisons, limits and conversions.

use crate::onnx::standard::call::{Build, StandardCall};
use crate::onnx::standard::template::Settings;

pub(in crate::onnx::standard) fn cast_like(call: &StandardCall, settings: &mut Settings) -> Build<()> {
    settings.set("to", call.element(1)?.number);
    Ok(())
}

pub(in crate::onnx::standard) fn clip(call: &StandardCall, settings: &mut Settings) -> Build<()> {
    settings.flag("min", call.has_input(1)).flag("max", call.has_input(2));
    Ok(())
}
