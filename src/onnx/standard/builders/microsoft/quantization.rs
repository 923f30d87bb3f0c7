//! Operators on codes of numbers: `scale * (code - zero point)`.

use super::matrices::OF_CONVOLUTION;
use super::numbers::extent;
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// The first versions of the standard operator set with `QuantizeLinear`, and with scales along an axis.
const QUANTIZE: i64 = 10;
const PER_AXIS: i64 = 13;

/// The first version in which codes have 16 or 4 bits.
const OTHER_CODES: i64 = 21;

/// The names of the operands of codes and of the parameters of a result; operands are given by their positions.
struct Codes<'c, 's> {
    call: &'c StandardCall<'c>,
    settings: &'s mut TemplateSettings,
}

impl Codes<'_, '_> {
    fn line(&mut self, line: String) {
        self.settings.line(line);
    }

    /// An operand without its only axis, if it has one item.
    fn scalar(&mut self, i: usize, name: &str) -> String {
        if self.call.rank(i) == Ok(1) && extent(self.call, i, 0) == Ok(1) {
            let single = format!("single_{name}");
            self.line(format!("{single} = Squeeze ({name})"));
            return single;
        }
        name.to_owned()
    }

    /// Writes the numbers that the codes of an operand stand for. Its parameters are the operands behind it.
    fn numbers(&mut self, result: &str, i: usize, names: [&str; 3]) {
        let scale = self.scalar(i + 1, names[1]);
        let zero =
            if self.call.has_input(i + 2) { format!(", {}", self.scalar(i + 2, names[2])) } else { String::new() };
        self.line(format!("{result} = DequantizeLinear ({}, {scale}{zero})", names[0]));
    }

    /// Writes the codes of numbers, in the element type of an operand. The parameters are the operands from `i` on.
    fn codes(&mut self, result: &str, numbers: &str, i: usize, names: [&str; 2], like: usize) -> Build<()> {
        let scale = self.scalar(i, names[0]);
        let element = self.call.element(like)?;
        let zero = match (self.call.has_input(i + 1), element.name) {
            (true, _) => format!(", {}", self.scalar(i + 1, names[1])),
            (false, "uint8") => String::new(),
            (false, name) => {
                self.line(format!("zero_code = const {name} (0)"));
                ", zero_code".to_owned()
            }
        };
        self.line(format!("{result} = QuantizeLinear ({numbers}, {scale}{zero})"));
        Ok(())
    }
}

fn codes<'c, 's>(call: &'c StandardCall<'c>, settings: &'s mut TemplateSettings) -> Build<Codes<'c, 's>> {
    if call.version < QUANTIZE { Err(NotKnown) } else { Ok(Codes { call, settings }) }
}

/// The operators of two operands of codes.
pub(in crate::onnx::standard) fn binary(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let mut own = codes(call, settings)?;
    own.numbers("a", 0, ["A", "A_scale", "A_zero_point"]);
    own.numbers("b", 3, ["B", "B_scale", "B_zero_point"]);
    own.line(format!("c = {} (a, b)", if call.operator() == "QLinearMul" { "Mul" } else { "Add" }));
    own.codes("C", "c", 6, ["C_scale", "C_zero_point"], 0)
}

/// The operators of one operand of codes.
pub(in crate::onnx::standard) fn unary(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let mut own = codes(call, settings)?;
    own.numbers("x", 0, ["X", "X_scale", "X_zero_point"]);
    own.line(match call.operator() {
        "QLinearSigmoid" => "y = Sigmoid (x)".to_owned(),
        _ => format!("y = LeakyRelu <alpha: float = {:e}> (x)", call.float("alpha")?.unwrap_or(0.01)),
    });
    own.codes("Y", "y", 3, ["Y_scale", "Y_zero_point"], 0)
}

/// Before version 13 the axes from the given one on were one axis of the softmax.
pub(in crate::onnx::standard) fn softmax(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (rank, given) = (call.rank(0)?, call.int("axis", -1)?);
    let axis = if given < 0 { given + rank } else { given };
    let joined = call.int("opset", 13)? < PER_AXIS && axis + 1 < rank;
    if !joined && axis + 1 < rank && call.version < PER_AXIS || !(0..rank).contains(&axis) {
        return Err(NotKnown);
    }
    let mut own = codes(call, settings)?;
    own.numbers("x", 0, ["X", "X_scale", "x_zero_point"]);
    if joined {
        own.line(format!("rows = Flatten <axis: int = {axis}> (x)"));
        own.line("shares = Softmax <axis: int = 1> (rows)".to_owned());
        own.line("shape = Shape (X)".to_owned());
        own.line("y = Reshape (shares, shape)".to_owned());
    } else {
        own.line(format!("y = Softmax <axis: int = {axis}> (x)"));
    }
    own.codes("Y", "y", 3, ["y_scale", "y_zero_point"], 0)
}

pub(in crate::onnx::standard) fn concat(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let count = call.node.inputs.len().saturating_sub(2);
    if count == 0 || !count.is_multiple_of(3) {
        return Err(NotKnown);
    }
    let mut own = codes(call, settings)?;
    let (mut inputs, mut numbers) = (String::new(), Vec::new());
    for k in 0..count / 3 {
        let names = [format!("X{k}"), format!("X{k}_scale"), format!("X{k}_zero_point")];
        inputs.push_str(&format!(", {}", names.join(", ")));
        own.numbers(&format!("x{k}"), 2 + 3 * k, [&names[0], &names[1], &names[2]]);
        numbers.push(format!("x{k}"));
    }
    own.settings.set("inputs", inputs);
    own.line(format!("y = Concat <axis: int = {}> ({})", call.int("axis", 0)?, numbers.join(", ")));
    own.codes("Y", "y", 0, ["Y_scale", "Y_zero_point"], 2)
}

/// The orders of axes that move channels from the end to the second place, and back.
fn orders(rank: i64) -> Build<(String, String)> {
    if !(3..=16).contains(&rank) {
        return Err(NotKnown);
    }
    let text = |axes: Vec<i64>| axes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let forth = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
    let back = std::iter::once(0).chain(2..rank).chain([1]).collect();
    Ok((text(forth), text(back)))
}

const OF_POOLS: &[&str] = &["auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"];

pub(in crate::onnx::standard) fn average_pool(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let last = call.int("channels_last", 0)? != 0;
    let attributes = call.attributes(OF_POOLS)?;
    let mut own = codes(call, settings)?;
    own.numbers("x", 0, ["X", "x_scale", "x_zero_point"]);
    if last {
        let (forth, back) = orders(call.rank(0)?)?;
        own.line(format!("turned = Transpose <perm: ints = [{forth}]> (x)"));
        own.line(format!("pooled = AveragePool{attributes} (turned)"));
        own.line(format!("y = Transpose <perm: ints = [{back}]> (pooled)"));
    } else {
        own.line(format!("y = AveragePool{attributes} (x)"));
    }
    own.codes("Y", "y", 3, ["y_scale", "y_zero_point"], 0)
}

pub(in crate::onnx::standard) fn global_average(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let last = call.int("channels_last", 0)? != 0;
    let mut own = codes(call, settings)?;
    own.numbers("x", 0, ["X", "x_scale", "x_zero_point"]);
    if last {
        let axes: Vec<String> = (1..(call.rank(0)? - 1).min(16)).map(|axis| axis.to_string()).collect();
        own.line(format!("y = along ReduceMean ({}) (x)", axes.join(", ")));
    } else {
        own.line("y = GlobalAveragePool (x)".to_owned());
    }
    own.codes("Y", "y", 3, ["y_scale", "y_zero_point"], 0)
}

/// The axes of a reduction as a list, and whether they are kept.
fn reduced(call: &StandardCall) -> Build<(String, i64)> {
    let axes = call.ints("axes")?.filter(|axes| !axes.is_empty() && axes.len() <= 64).ok_or(NotKnown)?;
    Ok((axes.iter().map(i64::to_string).collect::<Vec<_>>().join(", "), call.int("keepdims", 1)?))
}

pub(in crate::onnx::standard) fn reduce_mean(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (axes, keep) = reduced(call)?;
    let mut own = codes(call, settings)?;
    own.numbers("x", 0, ["data", "data_scale", "data_zero_point"]);
    own.line(format!("y = along ReduceMean <keepdims: int = {keep}> ({axes}) (x)"));
    own.codes("reduced", "y", 3, ["reduced_scale", "reduced_zero_point"], 0)
}

pub(in crate::onnx::standard) fn reduce_sum(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (axes, keep) = reduced(call)?;
    settings.set("axes", axes).set("keep", keep);
    Ok(())
}

pub(in crate::onnx::standard) fn choice(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let mut own = codes(call, settings)?;
    own.numbers("x", 1, ["X", "x_scale", "x_zero_point"]);
    own.numbers("y", 4, ["Y", "y_scale", "y_zero_point"]);
    own.line("z = Where (condition, x, y)".to_owned());
    own.codes("Z", "z", 7, ["z_scale", "z_zero_point"], 1)
}

pub(in crate::onnx::standard) fn convolution(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let last = call.int("channels_last", 0)? != 0;
    let attributes = call.attributes(OF_CONVOLUTION)?;
    let own = codes(call, settings)?;
    let bias = if call.has_input(8) { ", B" } else { "" };
    let rest = format!("x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point{bias}");
    if last {
        let (forth, back) = orders(call.rank(0)?)?;
        own.settings.line(format!("turned = Transpose <perm: ints = [{forth}]> (x)"));
        own.settings.line(format!("convolved = QLinearConv{attributes} (turned, {rest})"));
        own.settings.line(format!("y = Transpose <perm: ints = [{back}]> (convolved)"));
    } else {
        own.settings.line(format!("y = QLinearConv{attributes} (x, {rest})"));
    }
    Ok(())
}

pub(in crate::onnx::standard) fn max_pool(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (forth, back) = orders(call.rank(0)?)?;
    let names = &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"];
    settings.set("forth", forth).set("back", back).set("attributes", call.attributes(names)?);
    Ok(())
}

/// Whether the standard operators have codes of a type and numbers of another one.
fn are_standard(call: &StandardCall, codes: &str, numbers: &str) -> bool {
    let plain = matches!(codes, "int8" | "uint8" | "int32") && numbers == "float" && call.version >= PER_AXIS;
    plain || call.version >= OTHER_CODES
}

/// The name of a parameter with the axes of what it belongs to, if it has several items.
fn spread(call: &StandardCall, settings: &mut TemplateSettings, i: usize, name: &str) -> Build<String> {
    let (rank, own) = (call.rank(0)?, call.rank(i)?);
    if own == 0 || own == 1 && extent(call, i, 0) == Ok(1) {
        return Ok(name.to_owned());
    }
    let axis = call.int("axis", 1)?;
    let axis = if axis < 0 { axis + rank } else { axis };
    if own != 1 || !(0..rank).contains(&axis) || rank > 64 {
        return Err(NotKnown);
    }
    let extents: Vec<&str> = (0..rank).map(|k| if k == axis { "-1" } else { "1" }).collect();
    settings.line(format!("{name}_shape = const int64[{rank}] ({})", extents.join(", ")));
    settings.line(format!("{name}_along = Reshape ({name}, {name}_shape)"));
    Ok(format!("{name}_along"))
}

pub(in crate::onnx::standard) fn quantize(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let numbers = call.element(0)?;
    let codes = if call.has_input(2) { call.element(2)?.name } else { "uint8" };
    let axis = call.attributes(&["axis"])?;
    let zero = if call.has_input(2) { ", y_zero_point" } else { "" };
    if are_standard(call, codes, numbers.name) {
        settings.line(format!("y = QuantizeLinear{axis} (x, y_scale{zero})"));
        return Ok(());
    }
    let (least, most, number) = match codes {
        "uint8" => (0, 255, 2),
        "int8" => (-128, 127, 3),
        "uint16" => (0, 65535, 4),
        "int16" => (-32768, 32767, 5),
        _ => return Err(NotKnown),
    };
    if call.version < 11 {
        return Err(NotKnown);
    }
    let scale = spread(call, settings, 1, "y_scale")?;
    settings.line(format!("scaled = Div (x, {scale})"));
    settings.line("rounded = Round (scaled)".to_owned());
    let mut moved = if numbers.name == "float" { "rounded" } else { "wide" };
    if numbers.name != "float" {
        settings.line("wide = Cast <to: int = 1> (rounded)".to_owned());
    }
    if call.has_input(2) {
        let zero = spread(call, settings, 2, "y_zero_point")?;
        settings.line(format!("zero = Cast <to: int = 1> ({zero})"));
        settings.line(format!("moved = Add ({moved}, zero)"));
        moved = "moved";
    }
    settings.line(format!("least = const float ({least})")).line(format!("most = const float ({most})"));
    settings.line(format!("limited = Clip ({moved}, least, most)"));
    settings.line(format!("y = Cast <to: int = {number}> (limited)"));
    Ok(())
}

pub(in crate::onnx::standard) fn dequantize(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (codes, numbers) = (call.element(0)?, call.element(1)?);
    let axis = call.attributes(&["axis"])?;
    let zero = if call.has_input(2) { ", x_zero_point" } else { "" };
    if are_standard(call, codes.name, numbers.name) {
        settings.line(format!("y = DequantizeLinear{axis} (x, x_scale{zero})"));
        return Ok(());
    }
    let scale = spread(call, settings, 1, "x_scale")?;
    settings.line("whole = Cast <to: int = 6> (x)".to_owned());
    let mut moved = "whole";
    if call.has_input(2) {
        let zero = spread(call, settings, 2, "x_zero_point")?;
        settings.line(format!("zero = Cast <to: int = 6> ({zero})"));
        settings.line("moved = Sub (whole, zero)".to_owned());
        moved = "moved";
    }
    settings.line(format!("real = Cast <to: int = {}> ({moved})", numbers.number));
    settings.line(format!("y = Mul (real, {scale})"));
    Ok(())
}
