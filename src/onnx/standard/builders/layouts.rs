//! Operators that move items.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// The most axes that are listed.
const MAX_RANK: usize = 64;

pub(in crate::onnx::standard) fn crop_or_pad(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let narrow = call.element(1)?.name == "int32";
    let axes = call.ints("axes")?;
    if axes.as_ref().is_some_and(|axes| axes.len() > MAX_RANK) {
        return Err(NotKnown);
    }
    settings.flag("int32", narrow).set("target", if narrow { "target" } else { "shape" });
    settings.flag("axes", axes.is_some()).set("extents", if axes.is_some() { "chosen" } else { "extents" });
    let axes = axes.unwrap_or_default();
    let listed: Vec<String> = axes.iter().map(i64::to_string).collect();
    settings.set("count", axes.len()).set("axes", listed.join(", "));
    Ok(())
}

pub(in crate::onnx::standard) fn blocks(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let block = call.int("blocksize", 0)?;
    let mode = call.text("mode", "DCR")?;
    if block <= 0 || !matches!(mode.as_str(), "DCR" | "CRD") {
        return Err(NotKnown);
    }
    settings.flag("dcr", mode == "DCR").set("block", block);
    Ok(())
}

/// The number of spatial axes is that of rows of the matrices.
pub(in crate::onnx::standard) fn affine_grid(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    call.element(0)?;
    let spatial = call.extent(0, 1).or_else(|_| call.extent(1, 0).map(|rank| rank - 2))?;
    let (deep, align) = (spatial == 3, call.int("align_corners", 0)? != 0);
    if !matches!(spatial, 2 | 3) {
        return Err(NotKnown);
    }
    settings.flag("deep", deep).flag("align", align);
    settings.set("spatial", spatial).set("homogeneous", spatial + 1).set("rank", spatial + 2);
    settings.set("x", spatial - 1).set("y", spatial - 2).set("z", 0);
    let front = if deep { "1, " } else { "" };
    settings.set("shapex", format!("{front}1, -1, 1")).set("shapey", format!("{front}-1, 1, 1"));
    settings.set("shapez", "-1, 1, 1, 1");
    Ok(())
}
