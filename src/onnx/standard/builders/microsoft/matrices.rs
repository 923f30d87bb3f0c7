//! Products of matrices.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// The highest rank of which a permutation is written.
const MAX_RANK: i64 = 64;

/// The order of the axes of an operand; none if it stays. `batch` moves the first axis behind those of batches.
fn permutation(rank: i64, turn: bool, batch: bool) -> Build<Option<String>> {
    if rank > MAX_RANK {
        return Err(NotKnown);
    }
    let mut axes: Vec<i64> = (0..rank).collect();
    if batch && rank > 2 {
        axes[..(rank - 1) as usize].rotate_left(1);
    }
    if turn && rank > 1 {
        axes.swap((rank - 2) as usize, (rank - 1) as usize);
    }
    if axes.is_sorted() {
        return Ok(None);
    }
    Ok(Some(axes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")))
}

pub(in crate::onnx::standard) fn fused_mat_mul(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    for (i, turn, batch, flag, key, operand, turned) in [
        (0, "transA", "transBatchA", "turnA", "permA", "A", "turned_A"),
        (1, "transB", "transBatchB", "turnB", "permB", "B", "turned_B"),
    ] {
        let (turns, moves) = (call.int(turn, 0)? != 0, call.int(batch, 0)? != 0);
        let order = if turns || moves { permutation(call.rank(i)?, turns, moves)? } else { None };
        settings.flag(flag, order.is_some()).set(operand, if order.is_some() { turned } else { operand });
        settings.set(key, order.unwrap_or_default());
    }
    let alpha = call.float("alpha")?.unwrap_or(1.0);
    settings.flag("scale", alpha != 1.0).set("alpha", format!("{alpha:e}"));
    Ok(())
}

/// The attributes that convolutions of onnxruntime share with the standard one.
pub(super) const OF_CONVOLUTION: &[&str] = &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];

/// The activations of fused operators that are operators of the standard, with their attributes and defaults.
const ACTIVATIONS: &[(&str, &[(&str, f32)])] = &[
    ("Elu", &[("alpha", 1.0)]),
    ("HardSigmoid", &[("alpha", 0.2), ("beta", 0.5)]),
    ("HardSwish", &[]),
    ("LeakyRelu", &[("alpha", 0.01)]),
    ("Relu", &[]),
    ("Selu", &[("alpha", 1.673_263_2), ("gamma", 1.050_701)]),
    ("Sigmoid", &[]),
    ("Softplus", &[]),
    ("Softsign", &[]),
    ("Tanh", &[]),
    ("ThresholdedRelu", &[("alpha", 1.0)]),
];

/// An activation by its name in attributes of fused operators.
struct Activation<'a> {
    name: &'a str,
    /// A parameter by its name and its position.
    parameter: &'a dyn Fn(&str, usize) -> Build<Option<f32>>,
    /// The value that it is applied to.
    x: &'a str,
}

/// Writes an activation, with the result `Y`.
fn write_activation(call: &StandardCall, settings: &mut TemplateSettings, of: &Activation) -> Build<()> {
    let Activation { name, parameter, x } = *of;
    if name.is_empty() {
        settings.line(format!("Y = Identity ({x})"));
        return Ok(());
    }
    if name == "Clip" && call.version >= CLIP {
        settings.line(format!("least = const $T ({:e})", parameter("alpha", 0)?.unwrap_or(f32::MIN)));
        settings.line(format!("most = const $T ({:e})", parameter("beta", 1)?.unwrap_or(f32::MAX)));
        settings.line(format!("Y = Clip ({x}, least, most)"));
        return Ok(());
    }
    let (_, attributes) = ACTIVATIONS.iter().find(|row| row.0 == name).ok_or(NotKnown)?;
    let mut texts = Vec::new();
    for (i, (attribute, default)) in attributes.iter().enumerate() {
        texts.push(format!("{attribute}: float = {:e}", parameter(attribute, i)?.unwrap_or(*default)));
    }
    let attributes = if texts.is_empty() { String::new() } else { format!(" <{}>", texts.join(", ")) };
    settings.line(format!("Y = {name}{attributes} ({x})"));
    Ok(())
}

/// The first version of the standard operator set in which the bounds of `Clip` are operands.
const CLIP: i64 = 11;

pub(in crate::onnx::standard) fn fused_conv(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.flag("bias", call.has_input(2)).flag("sum", call.has_input(3));
    settings.set("attributes", call.attributes(OF_CONVOLUTION)?);
    let parameters = call.read::<Vec<f32>>("activation_params")?.unwrap_or_default();
    let x = if call.has_input(3) { "summed" } else { "convolved" };
    let name = call.text("activation", "")?;
    let parameter = |_: &str, i: usize| Ok(parameters.get(i).copied());
    write_activation(call, settings, &Activation { name: &name, parameter: &parameter, x })
}

pub(in crate::onnx::standard) fn fused_gemm(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.flag("bias", call.has_input(2));
    settings.set("attributes", call.attributes(&["alpha", "beta", "transA", "transB"])?);
    let name = call.text("activation", "")?;
    let parameter = |name: &str, _| call.float(&format!("activation_{name}"));
    write_activation(call, settings, &Activation { name: &name, parameter: &parameter, x: "product" })
}

pub(in crate::onnx::standard) fn distances(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    match call.text("metric", "sqeuclidean")?.as_str() {
        "euclidean" => settings.flag("root", true),
        "sqeuclidean" => settings.flag("root", false),
        _ => return Err(NotKnown),
    };
    Ok(())
}

pub(in crate::onnx::standard) fn mat_mul_integer16(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let is_unsigned = |i| Ok(call.element(i)?.name.starts_with('u'));
    let wide = if is_unsigned(0)? && is_unsigned(1)? { 12 } else { 6 };
    settings.set("wide", wide);
    Ok(())
}

pub(in crate::onnx::standard) fn mul_integer(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    for (i, flag, key, moved, wide) in [(1, "zeroA", "A", "moved_A", "wide_A"), (3, "zeroB", "B", "moved_B", "wide_B")]
    {
        settings.flag(flag, call.has_input(i)).set(key, if call.has_input(i) { moved } else { wide });
    }
    Ok(())
}

/// The zero points of a product as further operands.
fn zeros(a: Option<&str>, b: Option<&str>) -> String {
    match (a, b) {
        (None, None) => String::new(),
        (a, None) => format!(", {}", a.unwrap_or("")),
        (a, Some(b)) => format!(", {}, {b}", a.unwrap_or("")),
    }
}

pub(in crate::onnx::standard) fn to_float(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let a = call.has_input(4).then_some("a_zero_point");
    let b = call.has_input(5).then_some("b_zero_point");
    settings.set("zeros", zeros(a, b)).set("s", call.element(2)?.number).flag("bias", call.has_input(6));
    settings.set("ascale", "a_scale").set("bscale", "b_scale");
    Ok(())
}

pub(in crate::onnx::standard) fn dynamic_product(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let zero = call.has_input(3);
    settings.set("zeros", if zero { ", b_zero_point" } else { "" }).flag("bias", call.has_input(4));
    settings.set("bscale", "b_scale");
    Ok(())
}

pub(in crate::onnx::standard) fn quantized_gemm(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (turn_a, turn_b) = (call.int("transA", 0)? != 0, call.int("transB", 0)? != 0);
    settings.flag("turnA", turn_a).set("A", if turn_a { "turned_A" } else { "A" });
    settings.flag("turnB", turn_b).set("B", if turn_b { "turned_B" } else { "B" });
    settings.set("azero", "a_zero_point").set("bzero", "b_zero_point");
    settings.set("ascale", "a_scale").set("bscale", "b_scale");
    let (bias, alpha) = (call.has_input(6), call.float("alpha")?.unwrap_or(1.0));
    settings.flag("bias", bias).set("sum", if bias { "summed" } else { "product" });
    settings.flag("scale", alpha != 1.0).set("alpha", format!("{alpha:e}"));
    settings.set("factor", if alpha == 1.0 { "scales" } else { "factor" });
    settings.flag("quantized", call.has_input(7));
    if call.has_input(7) {
        let zero = if call.has_input(8) { ", y_zero_point" } else { "" };
        settings.line(format!("Y = QuantizeLinear (scaled, y_scale{zero})"));
    }
    Ok(())
}
