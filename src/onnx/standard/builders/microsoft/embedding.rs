//! Sums of embeddings, normalized.

use super::normalizations::Normalization;
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;
use crate::onnx::types::ElementType;

/// The smallest number that is added to variances unless a call says otherwise.
const EPSILON: f32 = 1e-12;

pub(in crate::onnx::standard) fn embedding(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let sum = if call.has_output(2) { "embedding_sum" } else { "sum" };
    let tables = ["word_embedding", "position_embedding", "segment_embedding"];
    let segments = call.has_input(1) && call.has_input(4);
    write_sum(call, settings, tables, sum, segments, call.has_input(8))?;
    let element = call.element(2)?;
    settings.set("T", element.name);
    let normalization =
        Normalization { element: Some(element), ..normalization(call, sum, ("gamma", "beta", "output"))? };
    normalization.write(call.version, settings)?;
    if call.has_output(1) {
        write_lengths(settings, call.has_input(7), "mask_index");
    }
    Ok(())
}

pub(in crate::onnx::standard) fn quantized(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.set("T", "float");
    let segments = call.has_input(1) && call.has_input(4);
    for (codes, name, wanted) in [
        ("word_embedding_quant", "word_embedding", true),
        ("position_embedding_quant", "position_embedding", true),
        ("segment_embedding", "segment_embedding", segments),
        ("gamma_quant", "gamma", true),
        ("beta_quant", "beta", true),
    ] {
        if wanted {
            let line = format!("real_{name} = DequantizeLinear ({codes}, {name}_scale, {name}_zero_point)");
            settings.line(line);
        }
    }
    let tables = ["real_word_embedding", "real_position_embedding", "real_segment_embedding"];
    write_sum(call, settings, tables, "sum", segments, false)?;
    normalization(call, "sum", ("real_gamma", "real_beta", "layernorm_out"))?.write(call.version, settings)?;
    if call.has_output(1) {
        write_lengths(settings, call.has_input(7), "mask_index_out");
    }
    Ok(())
}

fn normalization<'n>(call: &StandardCall, x: &'n str, names: (&'n str, &'n str, &'n str)) -> Build<Normalization<'n>> {
    Ok(Normalization {
        x,
        scale: names.0,
        bias: Some(names.1),
        y: names.2,
        mean: None,
        spread: None,
        simplified: false,
        epsilon: call.float("epsilon")?.unwrap_or(EPSILON),
        axis: -1,
        element: ElementType::named("float"),
    })
}

/// Writes the sum of the rows of words, positions and segments.
fn write_sum(
    call: &StandardCall,
    settings: &mut TemplateSettings,
    tables: [&str; 3],
    sum: &str,
    segments: bool,
    positions: bool,
) -> Build<()> {
    if call.version < 11 {
        return Err(NotKnown);
    }
    settings.line(format!("words = Gather ({}, input_ids)", tables[0]));
    if positions {
        settings.line(format!("places = Gather ({}, position_ids)", tables[1]));
    } else {
        settings.line("shape = Shape (input_ids)".to_owned());
        settings.line("first = const int64 (0)".to_owned());
        settings.line("one = const int64 (1)".to_owned());
        settings.line("count = Gather (shape, one)".to_owned());
        settings.line("index = Range (first, count, one)".to_owned());
        settings.line(format!("places = Gather ({}, index)", tables[1]));
    }
    settings.line(format!("{} = Add (words, places)", if segments { "placed" } else { sum }));
    if segments {
        settings.line(format!("segments = Gather ({}, segment_ids)", tables[2]));
        settings.line(format!("{sum} = Add (placed, segments)"));
    }
    Ok(())
}

/// Writes the number of ones in each row of the mask; zeros without one.
fn write_lengths(settings: &mut TemplateSettings, mask: bool, result: &str) {
    settings.line("mask_one = const int32 (1)".to_owned());
    if mask {
        settings.line("is_one = Equal (mask, mask_one)".to_owned());
        settings.line("ones = Cast <to: int = 6> (is_one)".to_owned());
    } else {
        settings.line("ones = Sub (input_ids, input_ids)".to_owned());
    }
    settings.line(format!("{result} = along ReduceSum <keepdims: int = 0> (1) (ones)"));
}
