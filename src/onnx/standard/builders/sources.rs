//! Operators that make values: ranges, windows and random numbers.

use crate::onnx::standard::standard_call::{Build, StandardCall, element_numbered};
use crate::onnx::standard::template::TemplateSettings;
use crate::onnx::types::ElementType;

/// The random numbers have the type of the probabilities, if there are random numbers of that type.
pub(in crate::onnx::standard) fn bernoulli(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let own = call.element(0)?;
    settings.flag("cast", false).set("u", own.number).set("probability", "input");
    settings.set("dtype", element_numbered(call.int("dtype", own.number.into())?)?.number);
    Ok(())
}

pub(in crate::onnx::standard) fn window(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let of_output = element_numbered(call.int("output_datatype", 1)?)?;
    let computed = if matches!(of_output.name, "float" | "float16" | "bfloat16") { "float" } else { "double" };
    let number = ElementType::named(computed).map_or(1, |element| element.number);
    let periodic = call.int("periodic", 1)? != 0;
    settings.flag("periodic", periodic).set("intervals", if periodic { "size" } else { "last" });
    settings.flag("cast", of_output.number != number).set("U", computed).set("u", number);
    settings.set("dtype", of_output.number);
    Ok(())
}

/// Floats of 16 bits have too few places to count with, integers of 16 bits no differences in early versions.
pub(in crate::onnx::standard) fn range(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let own = call.element(0)?;
    let computed = match own.name {
        "float16" | "bfloat16" => element_numbered(call.int("stash_type", 1)?)?,
        "int16" => element_numbered(6)?,
        _ => own,
    };
    let whole = computed.name.contains("int");
    let cast = computed.number != own.number;
    settings.flag("cast", cast).flag("whole", whole).flag("int64", computed.name == "int64");
    settings.set("u", computed.number).set("R", if whole { "double" } else { computed.name });
    let [first, last, step] = if cast { ["first", "last", "step"] } else { ["start", "limit", "delta"] };
    settings.set("first", first).set("last", last).set("step", step);
    settings.set("index", if computed.name == "int64" { "place" } else { "index" });
    Ok(())
}
