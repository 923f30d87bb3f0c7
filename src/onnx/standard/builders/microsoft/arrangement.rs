//! Operators that arrange items, and inverses of matrices.

use super::numbers::extent;
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// Refuses versions of the standard operator set before one.
pub(in crate::onnx::standard) fn from_version(call: &StandardCall, version: i64) -> Build<()> {
    if call.version < version { Err(NotKnown) } else { Ok(()) }
}

pub(in crate::onnx::standard) fn expand_dims(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let known = call.item(1);
    if known.is_err() {
        from_version(call, 13)?;
    }
    settings.flag("known", known.is_ok()).set("axis", known.unwrap_or(0));
    Ok(())
}

pub(in crate::onnx::standard) fn triangle(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    from_version(call, 14)?;
    settings.set("attributes", call.attributes(&["upper"])?);
    settings.set("operands", if call.has_input(1) { "X, k" } else { "X" });
    Ok(())
}

pub(in crate::onnx::standard) fn range(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    from_version(call, 11)?;
    let mut operands = Vec::new();
    for (i, name) in [(0, "start"), (1, "limit"), (2, "delta")] {
        if !call.has_input(i) {
            settings.line("usual = const $T (1)".to_owned());
            operands.push("usual".to_owned());
        } else if call.rank(i)? == 0 {
            operands.push(name.to_owned());
        } else {
            settings.line(format!("single_{name} = Squeeze ({name})"));
            operands.push(format!("single_{name}"));
        }
    }
    settings.line(format!("Y = Range ({})", operands.join(", ")));
    Ok(())
}

pub(in crate::onnx::standard) fn pad(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    from_version(call, 11)?;
    settings.flag("value", call.has_input(2)).set("attributes", call.attributes(&["mode"])?);
    Ok(())
}

pub(in crate::onnx::standard) fn gather_nd(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    from_version(call, 11)?;
    let wide = call.element(1)?.name != "int64";
    settings.flag("wide", wide).set("indices", if wide { "wide" } else { "indices" });
    Ok(())
}

pub(in crate::onnx::standard) fn grid_sample(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    from_version(call, 16)?;
    let align = call.attributes(&["align_corners"])?;
    let mode = match (call.text("mode", "bilinear")?.as_str(), call.version >= 20) {
        ("bilinear", true) => "linear",
        ("bicubic", true) => "cubic",
        ("bilinear", false) => "bilinear",
        ("bicubic", false) => "bicubic",
        ("nearest", _) => "nearest",
        _ => return Err(NotKnown),
    };
    let padding = match call.text("padding_mode", "zeros")?.as_str() {
        "zeros" => "zeros",
        "border" => "border",
        "reflection" => "reflection",
        _ => return Err(NotKnown),
    };
    let align = align.trim_start_matches(" <").trim_end_matches('>').to_owned();
    let align = if align.is_empty() { align } else { format!("{align}, ") };
    settings.set("attributes", format!(" <{align}mode: string = \"{mode}\", padding_mode: string = \"{padding}\">"));
    Ok(())
}

/// The largest matrix whose inverse is written.
const MAX_SIZE: i64 = 64;

/// Each step makes a column of the left matrix one of the unit matrix, in both matrices.
pub(in crate::onnx::standard) fn inverse(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    from_version(call, 13)?;
    let rank = call.rank(0)?;
    let size = extent(call, 0, usize::try_from(rank - 1).map_err(|_| NotKnown)?)?;
    if rank < 2 || !(1..=MAX_SIZE).contains(&size) {
        return Err(NotKnown);
    }
    let own = call.element(0)?;
    let (element, wide) = if own.name == "double" { ("double", 11) } else { ("float", 1) };
    settings.line(format!("wide = Cast <to: int = {wide}> (X)"));
    let unit: Vec<&str> = (0..size * size).map(|i| if i % (size + 1) == 0 { "1" } else { "0" }).collect();
    settings.line(format!("unit = const {element}[{size}, {size}] ({})", unit.join(", ")));
    settings.line("shape = Shape (X)".to_owned());
    settings.line("units = Expand (unit, shape)".to_owned());
    let index: Vec<String> = (0..size).map(|i| i.to_string()).collect();
    settings.line(format!("index = const int64[{size}, 1] ({})", index.join(", ")));
    settings.line(format!("zero = const {element} (0)"));
    settings.line(format!("behind = const {element} (-1)"));
    settings.line(format!("last = const int64[1] ({})", size));
    settings.line("last_axis = const int64[1] (-1)".to_owned());
    settings.line("row_axis = const int64[1] (-2)".to_owned());
    settings.line("rows0 = Concat <axis: int = -1> (wide, units)".to_owned());
    for k in 0..size {
        write_step(settings, k);
    }
    let end = 2 * size;
    settings.line(format!("end = const int64[1] ({end})"));
    settings.line(format!("inverse = Slice (rows{size}, last, end, last_axis)"));
    settings.line(format!("Y = Cast <to: int = {}> (inverse)", own.number));
    Ok(())
}

fn write_step(settings: &mut TemplateSettings, k: i64) {
    let mut line = |text: String| _ = settings.line(text);
    line(format!("from{k} = const int64[1] ({k})"));
    line(format!("to{k} = const int64[1] ({})", k + 1));
    line(format!("column{k} = Slice (rows{k}, from{k}, to{k}, last_axis)"));
    line(format!("size{k} = Abs (column{k})"));
    line(format!("is_before{k} = Less (index, from{k})"));
    line(format!("open{k} = Where (is_before{k}, behind, size{k})"));
    line(format!("chosen{k} = ArgMax <axis: int = -2, keepdims: int = 1> (open{k})"));
    line(format!("is_chosen{k} = Equal (index, chosen{k})"));
    line(format!("is_own{k} = Equal (index, from{k})"));
    // The row of the pivot, and the row whose place it takes.
    line(format!("of_pivot{k} = Where (is_chosen{k}, rows{k}, zero)"));
    line(format!("pivot_row{k} = along ReduceSum (-2) (of_pivot{k})"));
    line(format!("own_row{k} = Slice (rows{k}, from{k}, to{k}, row_axis)"));
    line(format!("without{k} = Where (is_chosen{k}, own_row{k}, rows{k})"));
    line(format!("pivot{k} = Slice (pivot_row{k}, from{k}, to{k}, last_axis)"));
    line(format!("scaled_row{k} = Div (pivot_row{k}, pivot{k})"));
    line(format!("factors{k} = Slice (without{k}, from{k}, to{k}, last_axis)"));
    line(format!("taken{k} = Mul (factors{k}, scaled_row{k})"));
    line(format!("rest{k} = Sub (without{k}, taken{k})"));
    line(format!("rows{} = Where (is_own{k}, scaled_row{k}, rest{k})", k + 1));
}
