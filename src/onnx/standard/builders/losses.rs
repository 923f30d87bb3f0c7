//! Losses.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

pub(in crate::onnx::standard) fn negative_log_likelihood(
    call: &StandardCall,
    settings: &mut TemplateSettings,
) -> Build<()> {
    call.element(0)?;
    let target = call.element(1)?;
    let ignored = call.has_attribute("ignore_index");
    let (weight, reduction) = (call.has_input(2), call.text("reduction", "mean")?);
    let (is_sum, is_mean) = (reduction == "sum", reduction == "mean");
    if !(is_sum || is_mean || reduction == "none") {
        return Err(NotKnown);
    }
    settings.flag("ignored", ignored).flag("weight", weight).flag("weights", ignored || weight);
    settings.flag("sum", is_sum).flag("mean", is_mean);
    settings.set("I", target.name).set("index", call.int("ignore_index", 0)?);
    settings.set("target", if ignored { "safe_target" } else { "target" });
    settings.set("weight", if ignored { "used_weight" } else { "weight_of_target" });
    settings.set("each", if is_sum || is_mean { "each" } else { "loss" });
    Ok(())
}
