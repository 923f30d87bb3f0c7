//! Activations.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// The first version of the standard operator set with `Gelu`.
const GELU: i64 = 20;

/// The lines of a product with the distribution function of the normal distribution, or with an approximation of it.
fn write_gelu(settings: &mut TemplateSettings, version: i64, x: &str, y: &str, approximate: bool) {
    if version >= GELU {
        let attribute = if approximate { " <approximate: string = \"tanh\">" } else { "" };
        settings.line(format!("{y} = Gelu{attribute} ({x})"));
        return;
    }
    settings.line("gelu_half = const $T (0.5)".to_owned());
    settings.line("gelu_one = const $T (1)".to_owned());
    if approximate {
        settings.line("gelu_linear = const $T (0.7978845608028654)".to_owned());
        settings.line("gelu_cubic = const $T (0.035677408136300125)".to_owned());
        settings.line(format!("gelu_square = Mul ({x}, {x})"));
        settings.line("gelu_curved = Mul (gelu_square, gelu_cubic)".to_owned());
        settings.line("gelu_slope = Add (gelu_curved, gelu_linear)".to_owned());
        settings.line(format!("gelu_argument = Mul ({x}, gelu_slope)"));
        settings.line("gelu_signed = Tanh (gelu_argument)".to_owned());
    } else {
        settings.line("gelu_factor = const $T (0.7071067811865476)".to_owned());
        settings.line(format!("gelu_scaled = Mul ({x}, gelu_factor)"));
        settings.line("gelu_signed = Erf (gelu_scaled)".to_owned());
    }
    settings.line("gelu_doubled = Add (gelu_signed, gelu_one)".to_owned());
    settings.line(format!("gelu_share = Mul ({x}, gelu_half)"));
    settings.line(format!("{y} = Mul (gelu_share, gelu_doubled)"));
}

/// `Gelu` and the operators that it is a part of, by their names.
pub(in crate::onnx::standard) fn gelu(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (x, y) = match call.operator() {
        "BiasGelu" => ("biased", "C"),
        "BiasSplitGelu" => ("right", "activated"),
        _ => ("X", "Y"),
    };
    settings.set("activated", "activated");
    settings.set("halves", if call.version >= 18 { ", num_outputs: int = 2" } else { "" });
    write_gelu(settings, call.version, x, y, false);
    Ok(())
}

pub(in crate::onnx::standard) fn fast_gelu(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let bias = call.has_input(1);
    settings.flag("bias", bias);
    write_gelu(settings, call.version, if bias { "biased" } else { "X" }, "Y", true);
    Ok(())
}

pub(in crate::onnx::standard) fn quick_gelu(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.set("alpha", format!("{:e}", call.float("alpha")?.unwrap_or(1.702)));
    Ok(())
}

/// The first version of the standard operator set in which `Dropout` has an operand for training.
const TRAINING: i64 = 12;

pub(in crate::onnx::standard) fn bias_dropout(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    if call.version < TRAINING {
        return Err(NotKnown);
    }
    let residual = call.has_input(2);
    let dropped = if residual { "dropped" } else { "output" };
    let mask = if call.has_output(1) { ", mask" } else { "" };
    settings.flag("residual", residual).set("results", format!("{dropped}{mask}"));
    let seed = call.has_attribute("seed").then(|| call.int("seed", 0)).transpose()?;
    settings.set("seed", seed.map_or(String::new(), |seed| format!(" <seed: int = {seed}>")));
    settings.set(
        "operands",
        match (call.has_input(3), call.has_input(4)) {
            (false, false) => "biased",
            (true, false) => "biased, ratio",
            (false, true) => "biased, , training_mode",
            (true, true) => "biased, ratio, training_mode",
        },
    );
    Ok(())
}
