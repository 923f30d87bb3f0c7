//! Layers of detectors and of networks for sounds: samples at places, statistics of planes, spectra, diagonals.

use super::{LayerLine, LayerRuleRow};
use crate::graph::TensorId;
use crate::library::assembly::{Assembly, integers};
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[
    (&["Cast"], cast),
    (&["DeformableConv2D"], deformed),
    (&["Diag"], diagonal),
    (&["GridSample"], sampled),
    (&["InverseSpectrogram"], signal),
    (&["MVN"], standardized),
    (&["Packing"], packed),
    (&["Spectrogram"], spectrum),
    (&["StatisticsPooling"], statistics),
];

/// A truth value in settings of torch.
pub(super) fn truth(value: bool) -> String {
    if value { "True" } else { "False" }.to_owned()
}

/// A blob of the same numbers. Those of 16 and 8 bits would be rounded.
fn cast(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (from, to) = (line.integer("type_from")?, line.integer("type_to")?);
    line.require("type_to", from == to || to == 1, "1, floats of 32 bits, since no other blobs are rounded")?;
    Ok(vec![line.only()?])
}

/// The form of blobs in memory does not change them.
fn packed(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    ["out_elempack", "use_padding"].iter().for_each(|name| line.note(name));
    for name in ["cast_type_from", "cast_type_to"] {
        line.is(name, 0)?;
    }
    Ok(vec![line.only()?])
}

fn diagonal(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, at) = (line.only()?, line.integer("diagonal")?);
    Ok(vec![torch(&mut line.to, "torch.diag", &[("input", x)], &[("diagonal", at.to_string())])?])
}

/// Planes, or all items, less their mean, and divided by their deviation.
fn standardized(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    if line.to.rank(x)? != 3 {
        return Err(Refusal::UNFIT);
    }
    let axes: &[i64] = if line.flag("across_channels")? { &[0, 1, 2] } else { &[1, 2] };
    let epsilon = line.scalar("eps")?;
    let mean = line.to.on("mean_reduce", x, [integers(axes.iter().copied())])?;
    let y = line.to.formula_of("sub(@0,@1)", &[x, mean])?;
    if !line.flag("normalize_variance")? {
        return Ok(vec![y]);
    }
    let squares = line.to.on("sqr", y, [])?;
    let variance = line.to.on("mean_reduce", squares, [integers(axes.iter().copied())])?;
    Ok(vec![line.to.formula_of(&format!("div(@0,add(sqrt(@1),{epsilon:?}))"), &[y, variance])?])
}

/// The mean of each plane, and behind them the deviations.
fn statistics(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let &[channels, _, _] = &line.to.extents(x)?[..] else { return Err(Refusal::UNFIT) };
    let planes = integers([1, 2]);
    let mean = line.to.on("mean_reduce", x, [planes.clone()])?;
    let means = line.to.reshaped(mean, &[channels])?;
    if !line.flag("include_stddev")? {
        return Ok(vec![means]);
    }
    let squares = line.to.formula_of("sqr(sub(@0,@1))", &[x, mean])?;
    let variance = line.to.on("mean_reduce", squares, [planes])?;
    let deviation = line.to.formula_of("sqrt(@0)", &[variance])?;
    let deviation = line.to.reshaped(deviation, &[channels])?;
    Ok(vec![line.to.concatenated(&[means, deviation], 0)?])
}

/// Items at places of a second blob, whose last axis has the coordinates, or the first one with `permute_fusion`.
fn sampled(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let &[x, grid] = &line.operands[..] else { return Err(Refusal::UNFIT) };
    let word = |line: &LayerLine, name: &str, words: &[&'static str]| {
        let at = line.integer(name)?.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        let word = at.and_then(|at| words.get(at).copied());
        word.map(str::to_owned).ok_or_else(|| line.unsupported(name, "1, 2 or 3"))
    };
    let settings = [
        ("mode", word(line, "sample_type", &["bilinear", "nearest", "bicubic"])?),
        ("padding_mode", word(line, "padding_mode", &["zeros", "border", "reflection"])?),
        ("align_corners", truth(line.flag("align_corner")?)),
    ];
    let rank = line.to.rank(grid)?;
    let grid = match line.flag("permute_fusion")? {
        true => line.to.transposed(grid, &(1..rank).chain([0]).collect::<Vec<_>>())?,
        false => grid,
    };
    let (x, grid) = (line.batch(x)?, line.batch(grid)?);
    let y = torch(&mut line.to, "F.grid_sample", &[("input", x), ("grid", grid)], &settings)?;
    Ok(vec![line.unbatch(y)?])
}

/// A convolution whose windows have their items at places that a second blob shifts; a third one has their factors.
fn deformed(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    ["num_output", "weight_data_size", "bias_term"].iter().for_each(|name| line.note(name));
    let weight = line.weight("weight_data")?;
    let mut operands = Vec::new();
    for (key, x) in ["input", "offset", "mask"].into_iter().zip(line.operands.clone()) {
        operands.push((key, line.batch(x)?));
    }
    line.require("kernel_w", (2..=3).contains(&line.operands.len()), "two or three blobs beside it")?;
    operands.push(("weight", weight));
    operands.extend(line.weight_if("bias_data").map(|bias| ("bias", bias)));
    let pair =
        |line: &LayerLine, [down, along]: [&str; 2]| Ok(format!("({},{})", line.integer(down)?, line.integer(along)?));
    for (before, behind) in [("pad_top", "pad_bottom"), ("pad_left", "pad_right")] {
        line.require(behind, line.integer(before)? == line.integer(behind)?, "the padding on the other side")?;
    }
    let settings = [
        ("kernel_size", pair(line, ["kernel_h", "kernel_w"])?),
        ("dilation", pair(line, ["dilation_h", "dilation_w"])?),
        ("stride", pair(line, ["stride_h", "stride_w"])?),
        ("padding", pair(line, ["pad_top", "pad_left"])?),
    ];
    let y = torch(&mut line.to, "torchvision.ops.DeformConv2d", &operands, &settings)?;
    let y = line.activated(y)?;
    Ok(vec![line.unbatch(y)?])
}

/// The window of spectra, and the settings of torchaudio that both directions have.
fn windowed(line: &mut LayerLine) -> Lowered<(TensorId, Vec<(&'static str, String)>)> {
    let (size, length) = (line.integer("n_fft")?, line.integer("winlen")?);
    line.require("winlen", (1..=size).contains(&length), "a number up to `n_fft`")?;
    let (mean, swing) = match line.integer("window_type")? {
        0 => (1.0, 0.0),
        1 => (0.5, 0.5),
        2 => (0.54, 0.46),
        _ => return Err(line.unsupported("window_type", "0, 1 or 2")),
    };
    let turn = std::f64::consts::TAU / length as f64;
    let window = line.to.numbers(&[length], |at| mean - swing * (turn * at as f64).cos())?;
    let normalized = match line.integer("normalized")? {
        0 => truth(false),
        1 => "frame_length".to_owned(),
        2 => "window".to_owned(),
        _ => return Err(line.unsupported("normalized", "0, 1 or 2")),
    };
    let settings = vec![
        ("n_fft", size.to_string()),
        ("hop_length", line.integer("hoplen")?.to_string()),
        ("win_length", length.to_string()),
        ("center", truth(line.flag("center")?)),
        ("normalized", normalized),
    ];
    Ok((window, settings))
}

/// The spectra of the windows of a signal: their squared or absolute values, or both parts.
fn spectrum(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let (window, mut settings) = windowed(line)?;
    let border = usize::try_from(line.integer("pad_type")?).ok();
    let border = border.and_then(|at| ["constant", "replicate", "reflect"].get(at).copied());
    settings.push(("pad_mode", border.ok_or_else(|| line.unsupported("pad_type", "0, 1 or 2"))?.to_owned()));
    settings.push(("onesided", truth(line.flag("onesided")?)));
    let power = line.integer("power")?;
    line.require("power", (0..=2).contains(&power), "0, 1 or 2")?;
    if power > 0 {
        settings.push(("power", power.to_string()));
    }
    let operands = [("waveform", x), ("window", window)];
    let y = torch(&mut line.to, "torchaudio.functional.spectrogram", &operands, &settings)?;
    match power {
        0 => Ok(vec![torch(&mut line.to, "torch.view_as_real", &[("input", y)], &[])?]),
        _ => Ok(vec![y]),
    }
}

/// The signal that has spectra, whose items have both parts.
fn signal(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    line.is("returns", 1)?;
    let (window, mut settings) = windowed(line)?;
    settings.push(("onesided", truth(true)));
    let parts = torch(&mut line.to, "torch.view_as_complex", &[("input", x)], &[])?;
    let operands = [("spectrogram", parts), ("window", window)];
    Ok(vec![torch(&mut line.to, "torchaudio.functional.inverse_spectrogram", &operands, &settings)?])
}
