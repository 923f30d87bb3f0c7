//! Layers that compute with integers of 8 bits: blobs and weights are multiplied with scales and rounded to codes from
//! -127 to 127, and sums of their products are divided by the scales.

use super::{LayerLine, LayerRuleRow};
use crate::graph::{Primitive, TensorId};
use crate::library::assembly::{Assembly, integers};
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] =
    &[(&["Quantize"], quantize), (&["Dequantize"], dequantize), (&["Requantize"], requantize)];

/// Layers that read codes as such. Others would get numbers, or other integers, from what ncnn converts.
pub(super) const OF_CODES: &[&str] = &["Convolution", "ConvolutionDepthWise", "InnerProduct", "Split"];

/// The parameter that says how a layer is quantized: 0 if it is not, and above 100 if its result has codes, too.
const TERM: &str = "int8_scale_term";

/// The nearest codes of products with scales. Halves are rounded away from 0.
fn coded(line: &mut LayerLine, x: TensorId, scales: TensorId) -> Lowered<TensorId> {
    let scaled = line.to.formula_of("mul(@0,@1)", &[x, scales])?;
    let rounded = "minimum(maximum(mul(sign(@0),floor(add(abs(@0),0.5))),-127.0),127.0)";
    line.to.formula_of(rounded, &[scaled])
}

/// The scales of a layer with weights.
pub(super) struct LayerScales {
    /// Those of the weights, for each channel of the result or for all.
    weights: TensorId,
    /// That of the operand.
    operand: TensorId,
    /// That of the result, if it has codes.
    result: Option<TensorId>,
}

impl LayerScales {
    /// The scales of a layer; none if it is not quantized.
    pub(super) fn read(line: &LayerLine) -> Lowered<Option<LayerScales>> {
        if line.settings.row.named(TERM).is_none() || line.integer(TERM)? == 0 {
            return Ok(None);
        }
        let (weights, operand) = (line.weight("weight_data_int8_scales")?, line.weight("bottom_blob_int8_scales")?);
        Ok(Some(LayerScales { weights, operand, result: line.weight_if("top_blob_int8_scales") }))
    }

    /// The scales of the weights, one for each of so many channels, with axes of extent 1 around them.
    fn of_weights(&self, line: &mut LayerLine, channels: i64, shape: &[i64]) -> Lowered<TensorId> {
        let &[count] = &line.to.extents(self.weights)?[..] else { return Err(Refusal::UNFIT) };
        let each = channels.checked_div(count).filter(|each| each.saturating_mul(count) == channels);
        let each = each.ok_or(Refusal::UNFIT)?;
        let rows = line.to.reshaped(self.weights, &[count, 1])?;
        let rows = if each == 1 { rows } else { line.to.on("tile", rows, [integers([1, each])])? };
        line.to.reshaped(rows, shape)
    }

    /// The codes of weights whose first axis has channels; they may be stored as such.
    pub(super) fn weight(&self, line: &mut LayerLine, weight: TensorId) -> Lowered<TensorId> {
        if line.to.primitive(weight)? != Primitive::Scalar {
            return torch(&mut line.to, "Tensor.float", &[("input", weight)], &[]);
        }
        let extents = line.to.extents(weight)?;
        let channels = *extents.first().ok_or(Refusal::UNFIT)?;
        let shape: Vec<i64> = [vec![channels], vec![1; extents.len().saturating_sub(1)]].concat();
        let scales = self.of_weights(line, channels, &shape)?;
        coded(line, weight, scales)
    }

    /// The codes of an operand; `plain` is the blob itself, which may have codes already.
    pub(super) fn operand(&self, line: &mut LayerLine, x: TensorId, plain: TensorId) -> Lowered<TensorId> {
        if line.codes.contains(&plain) {
            return Ok(x);
        }
        let ones = vec![1; line.to.extents(x)?.len()];
        let scale = line.to.reshaped(self.operand, &ones)?;
        coded(line, x, scale)
    }

    /// The numbers that sums of products of codes stand for, whose channels are an axis, plus a bias.
    pub(super) fn number(
        &self,
        line: &mut LayerLine,
        sums: TensorId,
        axis: usize,
        bias: Option<TensorId>,
    ) -> Lowered<TensorId> {
        let extents = line.to.extents(sums)?;
        let channels = *extents.get(axis).ok_or(Refusal::UNFIT)?;
        let shape: Vec<i64> = (0..extents.len()).map(|at| if at == axis { channels } else { 1 }).collect();
        let weights = self.of_weights(line, channels, &shape)?;
        let operand = line.to.reshaped(self.operand, &vec![1; extents.len()])?;
        let factors = line.to.formula_of("mul(@0,@1)", &[weights, operand])?;
        // A channel without weights has the scale 0.
        let y = line.to.formula_of("select(eq(@1,0.0),0.0,div(@0,@1))", &[sums, factors])?;
        match bias {
            Some(bias) => {
                let bias = line.to.reshaped(bias, &shape)?;
                line.to.formula_of("add(@0,@1)", &[y, bias])
            }
            None => Ok(y),
        }
    }

    /// The result: its codes, if the next layer reads these.
    pub(super) fn result(&self, line: &mut LayerLine, y: TensorId) -> Lowered<TensorId> {
        let Some(scale) = self.result else { return Ok(y) };
        let ones = vec![1; line.to.extents(y)?.len()];
        let scale = line.to.reshaped(scale, &ones)?;
        coded(line, y, scale)
    }

    /// Notes that a result has codes, if it does.
    pub(super) fn note(&self, line: &mut LayerLine, result: TensorId) {
        if self.result.is_some() {
            line.coded.push(result);
        }
    }
}

/// Weights of a layer with one for all items of a blob, or for each of the first axis; a vector has the first one alone.
fn by_channel(line: &mut LayerLine, x: TensorId, name: &str) -> Lowered<TensorId> {
    let size = format!("{name}_size");
    line.note(&size);
    let weights = line.weight(name)?;
    let (extents, count) = (line.to.extents(x)?, line.to.extents(weights)?);
    let &[count] = &count[..] else { return Err(Refusal::UNFIT) };
    if extents.len() > 1 {
        let fits = count == 1 || extents.first() == Some(&count);
        line.require(&size, fits, "1, or the first extent")?;
        let shape = [vec![count], vec![1; extents.len().saturating_sub(1)]].concat();
        line.to.reshaped(weights, &shape)
    } else if count > 1 {
        line.to.on("slice", weights, [integers([0]), integers([0]), integers([1])])
    } else {
        Ok(weights)
    }
}

/// The numbers that integers of 32 bits stand for, with scales, plus a bias. ncnn makes such integers nowhere, but takes them
/// as inputs; of other blobs it would read the bits.
fn numbers(line: &mut LayerLine, scales: &str) -> Lowered<TensorId> {
    let x = line.only()?;
    if !line.to.is_input(x) {
        return Err(Refusal::Because(
            "its operand is no input of the network, which may have integers of 32 bits".into(),
        ));
    }
    let factors = by_channel(line, x, scales)?;
    let y = line.to.formula_of("mul(@0,@1)", &[x, factors])?;
    line.note("bias_data_size");
    match line.weight_if("bias_data") {
        Some(_) => {
            let bias = by_channel(line, x, "bias_data")?;
            line.to.formula_of("add(@0,@1)", &[y, bias])
        }
        None => Ok(y),
    }
}

fn dequantize(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    Ok(vec![numbers(line, "scale_data")?])
}

/// The codes of the numbers that integers of 32 bits stand for, after an activation.
fn requantize(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let y = numbers(line, "scale_in_data")?;
    let y = line.activated(y)?;
    let scales = by_channel(line, y, "scale_out_data")?;
    let y = coded(line, y, scales)?;
    line.coded.push(y);
    Ok(vec![y])
}

/// The codes of a blob, with a scale for all items or for each of the first axis; a vector has the first scale alone.
fn quantize(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let scales = by_channel(line, x, "scale_data")?;
    let y = coded(line, x, scales)?;
    line.coded.push(y);
    Ok(vec![y])
}

/// A table whose items have one scale, as numbers.
pub(super) fn table(line: &mut LayerLine, weight: TensorId) -> Lowered<TensorId> {
    if !line.flag(TERM)? {
        return Ok(weight);
    }
    let scale = line.weight("weight_data_int8_scale")?;
    let scale = line.to.reshaped(scale, &[1, 1])?;
    let codes = match line.to.primitive(weight)? {
        Primitive::Scalar => coded(line, weight, scale)?,
        _ => torch(&mut line.to, "Tensor.float", &[("input", weight)], &[])?,
    };
    line.to.formula_of("div(@0,@1)", &[codes, scale])
}
