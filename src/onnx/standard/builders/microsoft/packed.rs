//! Weights with codes of a few bits, several in a byte.

use super::numbers::extent;
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// Writes the codes in the bytes of a tensor, as integers along a new last axis: `name_codes`.
fn write_codes(settings: &mut TemplateSettings, bytes: &str, name: &str, bits: i64, low_first: bool) {
    let count = 8 / bits;
    settings.line(format!("{name}_bytes = Cast <to: int = 6> ({bytes})"));
    settings.line(format!("{name}_levels = const int32 ({})", 1i64 << bits));
    let mut parts = Vec::new();
    for i in 0..count {
        let place = bits * if low_first { i } else { count - 1 - i };
        settings.line(format!("{name}_place{i} = const int32 ({})", 1i64 << place));
        settings.line(format!("{name}_moved{i} = Div ({name}_bytes, {name}_place{i})"));
        settings.line(format!("{name}_part{i} = Mod ({name}_moved{i}, {name}_levels)"));
        settings.line(format!("{name}_column{i} = along Unsqueeze (-1) ({name}_part{i})"));
        parts.push(format!("{name}_column{i}"));
    }
    settings.line(format!("{name}_codes = Concat <axis: int = -1> ({})", parts.join(", ")));
}

/// Writes a tensor in another shape.
fn write_reshape(settings: &mut TemplateSettings, x: &str, y: &str, shape: &[i64]) {
    let extents: Vec<String> = shape.iter().map(i64::to_string).collect();
    settings.line(format!("{y}_shape = const int64[{}] ({})", shape.len(), extents.join(", ")));
    settings.line(format!("{y} = Reshape ({x}, {y}_shape)"));
}

/// Writes the first items along an axis.
fn write_first(settings: &mut TemplateSettings, x: &str, y: &str, axis: i64, count: i64) {
    settings.line(format!("{y}_start = const int64[1] (0)"));
    settings.line(format!("{y}_end = const int64[1] ({count})"));
    settings.line(format!("{y}_axis = const int64[1] ({axis})"));
    settings.line(format!("{y} = Slice ({x}, {y}_start, {y}_end, {y}_axis)"));
}

/// The extents of a matrix in blocks: rows, columns, and the columns of a block.
fn blocks(call: &StandardCall) -> Build<(i64, i64, i64)> {
    let (rows, columns, block) = (call.int("N", 0)?, call.int("K", 0)?, call.int("block_size", 0)?);
    let fits = |extent: i64| (1..=i64::from(i32::MAX)).contains(&extent);
    if call.version < 11 || ![rows, columns, block].into_iter().all(fits) {
        Err(NotKnown)
    } else {
        Ok((rows, columns, block))
    }
}

pub(in crate::onnx::standard) fn mat_mul_bits(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let bits = call.int("bits", 4)?;
    if ![2, 4, 8].contains(&bits) || call.has_input(4) || call.int("weight_prepacked", 0)? != 0 {
        return Err(NotKnown);
    }
    let (rows, columns, block) = blocks(call)?;
    let own = call.element(0)?;
    let count = (columns + block - 1) / block;
    write_codes(settings, "B", "weight", bits, true);
    write_reshape(settings, "weight_codes", "weight", &[rows, count, block]);
    settings.line(format!("real_weight = Cast <to: int = {}> (weight)", own.number));
    write_zero_points(call, settings, rows, count, bits)?;
    settings.line("moved_weight = Sub (real_weight, zeros)".to_owned());
    write_reshape(settings, "scales", "block_scales", &[rows, count, 1]);
    settings.line("scaled_weight = Mul (moved_weight, block_scales)".to_owned());
    write_reshape(settings, "scaled_weight", "whole_weight", &[rows, count * block]);
    let mut matrix = "whole_weight";
    if count * block > columns {
        write_first(settings, "whole_weight", "cut_weight", 1, columns);
        matrix = "cut_weight";
    }
    settings.line(format!("turned_weight = Transpose <perm: ints = [1, 0]> ({matrix})"));
    let bias = call.has_input(5);
    settings.line(format!("{} = MatMul (A, turned_weight)", if bias { "product" } else { "Y" }));
    if bias {
        settings.line("Y = Add (product, bias)".to_owned());
    }
    Ok(())
}

/// Writes the zero point of each block: those of the call, or the middle of the codes.
fn write_zero_points(
    call: &StandardCall,
    settings: &mut TemplateSettings,
    rows: i64,
    count: i64,
    bits: i64,
) -> Build<()> {
    if !call.has_input(3) {
        settings.line(format!("zeros = const $T ({})", 1i64 << (bits - 1)));
        return Ok(());
    }
    let (own, given) = (call.element(0)?, call.element(3)?);
    if given.name != "uint8" {
        write_reshape(settings, "zero_points", "zeros", &[rows, count, 1]);
        return Ok(());
    }
    let packed = (count * bits + 7) / 8;
    let whole = packed * 8 / bits;
    write_codes(settings, "zero_points", "zero", bits, true);
    write_reshape(settings, "zero_codes", "zero_rows", &[rows, whole]);
    let mut zeros = "zero_rows";
    if whole > count {
        write_first(settings, "zero_rows", "zero_cut", 1, count);
        zeros = "zero_cut";
    }
    write_reshape(settings, zeros, "zero_blocks", &[rows, count, 1]);
    settings.line(format!("zeros = Cast <to: int = {}> (zero_blocks)", own.number));
    Ok(())
}

/// The values of the codes of 4 bits: those of floats of 4 bits, and quantiles of the normal distribution.
const FP4: [f32; 16] = [
    0.0,
    0.005_208_333,
    0.666_666_7,
    1.0,
    0.333_333_34,
    0.5,
    0.166_666_67,
    0.25,
    -0.0,
    -0.005_208_333,
    -0.666_666_7,
    -1.0,
    -0.333_333_34,
    -0.5,
    -0.166_666_67,
    -0.25,
];
const NF4: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

pub(in crate::onnx::standard) fn mat_mul_bnb4(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (rows, columns, block) = blocks(call)?;
    let values = if call.int("quant_type", 0)? == 1 { NF4 } else { FP4 };
    let values: Vec<String> = values.iter().map(|value| format!("{value:e}")).collect();
    let items = rows.checked_mul(columns).ok_or(NotKnown)?;
    let (count, turned) = (items / block + i64::from(items % block != 0), call.int("transB", 1)? != 0);
    write_codes(settings, "B", "weight", 4, false);
    write_reshape(settings, "weight_codes", "all_codes", &[-1]);
    settings.line(format!("real_values = const float[16] ({})", values.join(", ")));
    settings.line(format!("values = Cast <to: int = {}> (real_values)", call.element(0)?.number));
    write_first(settings, "all_codes", "codes", 0, items);
    settings.line("weight = Gather (values, codes)".to_owned());
    let whole = count * block;
    if whole > items {
        settings.line(format!("lack = const int64[2] (0, {})", whole - items));
        settings.line("filled_weight = Pad (weight, lack)".to_owned());
    }
    write_reshape(settings, if whole > items { "filled_weight" } else { "weight" }, "block_weight", &[count, block]);
    write_reshape(settings, "absmax", "block_scales", &[count, 1]);
    settings.line("scaled_weight = Mul (block_weight, block_scales)".to_owned());
    write_reshape(settings, "scaled_weight", "flat_weight", &[-1]);
    write_first(settings, "flat_weight", "cut_weight", 0, items);
    write_reshape(settings, "cut_weight", "matrix", &[rows, columns]);
    if turned {
        settings.line("turned_matrix = Transpose <perm: ints = [1, 0]> (matrix)".to_owned());
    }
    settings.line(format!("Y = MatMul (A, {})", if turned { "turned_matrix" } else { "matrix" }));
    Ok(())
}

/// Rows of a matrix whose columns are in blocks.
pub(in crate::onnx::standard) fn gather_blocks(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let (data, scales) = (call.element(0)?, call.element(2)?);
    let bits = if data.name == "uint8" { call.int("bits", 4)? } else { 4 };
    let (block, axis) = (call.int("block_size", 128)?, call.int("quantize_axis", 1)?);
    if call.int("gather_axis", 0)? != 0 || call.rank(0)? != 2 || ![1, -1].contains(&axis) {
        return Err(NotKnown);
    }
    let per_byte = match data.name {
        "uint8" if [2, 4, 8].contains(&bits) => 8 / bits,
        "uint4" | "int4" => 1,
        _ => return Err(NotKnown),
    };
    let columns = extent(call, 0, 1)?.checked_mul(per_byte).ok_or(NotKnown)?;
    if call.version < 11 || block <= 0 || columns % block != 0 {
        return Err(NotKnown);
    }
    let count = columns / block;
    settings.line("rows = Gather (data, indices)".to_owned());
    settings.line("row_scales = Gather (scales, indices)".to_owned());
    settings.line("outer = Shape (indices)".to_owned());
    settings.line(format!("inner = const int64[2] ({count}, {block})"));
    settings.line("blocks_shape = Concat <axis: int = 0> (outer, inner)".to_owned());
    settings.line(format!("each_inner = const int64[2] ({count}, 1)"));
    settings.line("each_shape = Concat <axis: int = 0> (outer, each_inner)".to_owned());
    let codes = |settings: &mut TemplateSettings, bytes: &str, name: &str| {
        if per_byte > 1 {
            write_codes(settings, bytes, name, bits, true);
        } else {
            settings.line(format!("{name}_codes = Cast <to: int = 6> ({bytes})"));
        }
    };
    codes(settings, "rows", "row");
    settings.line("row_blocks = Reshape (row_codes, blocks_shape)".to_owned());
    settings.line(format!("real_rows = Cast <to: int = {}> (row_blocks)", scales.number));
    if call.has_input(3) {
        settings.line("row_zeros = Gather (zero_points, indices)".to_owned());
        codes(settings, "row_zeros", "zero");
        settings.line("zero_row_inner = const int64[1] (-1)".to_owned());
        settings.line("zero_row_shape = Concat <axis: int = 0> (outer, zero_row_inner)".to_owned());
        settings.line("zero_rows = Reshape (zero_codes, zero_row_shape)".to_owned());
        write_first(settings, "zero_rows", "zero_cut", -1, count);
        settings.line("zero_blocks = Reshape (zero_cut, each_shape)".to_owned());
        settings.line(format!("zeros = Cast <to: int = {}> (zero_blocks)", scales.number));
    } else {
        let middle = if data.name == "uint8" { 1i64 << (bits - 1) } else { 0 };
        settings.line(format!("zeros = const {} ({middle})", scales.name));
    }
    settings.line("moved_rows = Sub (real_rows, zeros)".to_owned());
    settings.line("each_scale = Reshape (row_scales, each_shape)".to_owned());
    settings.line("scaled_rows = Mul (moved_rows, each_scale)".to_owned());
    settings.line(format!("last = const int64[1] ({columns})"));
    settings.line("output_shape = Concat <axis: int = 0> (outer, last)".to_owned());
    settings.line("output = Reshape (scaled_rows, output_shape)".to_owned());
    Ok(())
}
