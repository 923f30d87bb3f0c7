//! Convolution and its transpose (4.3.1).

use ndarray::ArrayD;

use super::array::pack;
use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::kernels::{Correlation, Direction, Windows};
use super::window::windows;
use crate::dictionary::Deviation;
use crate::graph::border::Border;

/// The numbers of groups and channels of a convolution.
struct Channels {
    groups: usize,
    /// The input channels of a group.
    input: usize,
    /// The output channels of a group.
    output: usize,
    /// Whether the filter has the axes `(output channels, input channels of a group, …)`.
    outputs_first: bool,
}

/// Checks the channels of input and filter. The filter has the axes `(c, C / G, …)`, where `C` is the number of
/// channels of the up-scaled space, `c` that of the down-scaled space and `G` the number of groups.
fn channels(
    call: &Call,
    input: usize,
    filter: &[usize],
    direction: Direction,
    reference: &[usize],
) -> Result<Channels, EvalError> {
    let outputs_first = direction == Direction::Down || call.deviates(Deviation::OutputsFirst);
    let groups = match call.int("groups")? {
        0 if call.deviates(Deviation::OutputsFirst) => filter[0],
        // Each channel separately: of the result, if a transposed convolution states its shape.
        0 => reference.get(1).copied().unwrap_or(input),
        groups => usize::try_from(groups).map_err(|_| EvalError::argument("`groups` is negative"))?,
    };
    let wrong = || {
        let name = call.name();
        EvalError::shapes(format!(
            "`{name}`: a filter of shape {filter:?} with {groups} groups does not fit {input} channels of the input"
        ))
    };
    if groups == 0 || !filter[0].is_multiple_of(groups) {
        return Err(wrong());
    }
    let (inner, outer) = (filter[1], filter[0] / groups);
    let (taken, given) = if outputs_first { (inner, outer) } else { (outer, inner) };
    if taken.checked_mul(groups) != Some(input) {
        return Err(wrong());
    }
    Ok(Channels { groups, input: taken, output: given, outputs_first })
}

/// The bias of each channel of the output.
fn biases(call: &Call, count: usize) -> Result<Vec<f64>, EvalError> {
    let bias = call.scalars("bias")?;
    // The standard has `[1, C]`; exporters also write `[C]` and other shapes with `C` items.
    match bias.as_standard_layout().as_slice() {
        Some([bias]) => Ok(vec![*bias; count]),
        Some(items) if items.len() == count => Ok(items.to_vec()),
        _ => Err(EvalError::shapes(format!("a bias of shape {:?} does not fit {count} channels", bias.shape()))),
    }
}

/// A correlation of the input with a filter, or its transpose.
pub(crate) fn convolve(call: &Call, direction: Direction) -> KernelResult {
    let filter = call.scalars("filter")?;
    let input = call.scalars_to("input", filter.ndim())?;
    let filter = super::eval_call::lengthened(&filter, if call.draft() { input.ndim() } else { 0 });
    if input.ndim() < 2 || filter.ndim() != input.ndim() {
        let (name, input, filter) = (call.name(), input.shape(), filter.shape());
        return Err(EvalError::shapes(format!(
            "`{name}` of an input of shape {input:?} and a filter of shape {filter:?}"
        )));
    }
    let spatial_only = call.deviates(Deviation::SpatialOutputShape);
    let reference = match direction {
        Direction::Up => call.naturals("output_shape")?,
        Direction::Down => Vec::new(),
    };
    let stated = if spatial_only { &[][..] } else { &reference[..] };
    let channels = channels(call, input.shape()[1], filter.shape(), direction, stated)?;
    let count = channels.output * channels.groups;
    let spatial = match reference[..] {
        [] => None,
        _ if spatial_only => Some(&reference[..]).filter(|reference| reference.len() + 2 == input.ndim()),
        [batch, channels, ..] if reference.len() == input.ndim() && batch == input.shape()[0] && channels == count => {
            Some(&reference[2..])
        }
        _ => return Err(EvalError::shapes(format!("`output_shape` {reference:?} does not fit {count} channels"))),
    };
    let windows = windows(call, &input.shape()[2..], &filter.shape()[2..], direction, false, spatial)?;
    let shape: Vec<usize> = [input.shape()[0], count].into_iter().chain(windows.output()).collect();
    let biases = biases(call, count)?;
    Ok(vec![pack(correlate(call, &input, &filter, &biases, &channels, &windows, &shape)?)?])
}

/// Computes the sums over channels and windows, where what is outside of the input is 0 or not there.
fn correlate(
    call: &Call,
    input: &ArrayD<f64>,
    filter: &ArrayD<f64>,
    biases: &[f64],
    channels: &Channels,
    windows: &Windows,
    shape: &[usize],
) -> Result<ArrayD<f64>, EvalError> {
    let (input, filter) = (input.as_standard_layout(), filter.as_standard_layout());
    let (Some(x), Some(w)) = (input.as_slice(), filter.as_slice()) else {
        return Err(EvalError::shapes("an operand has no order"));
    };
    let correlation = Correlation {
        axes: windows.axes.clone(),
        batch: shape[0],
        groups: channels.groups,
        channels: [channels.input, channels.output],
    };
    let is_down = windows.direction == Direction::Down;
    let fits = is_down == channels.outputs_first && !windows.axes.is_empty();
    let plain = match windows.border {
        Border::Constant(()) => true,
        // A zero in place of what is not there changes nothing.
        Border::Ignore => !is_down || w.iter().all(|weight| weight.is_finite()),
        _ => false,
    };
    if !fits || !plain {
        return by_places(call, (input.shape(), x), w, biases, channels, windows, shape);
    }
    let mut output = match is_down {
        true => correlation.result(call.budget(), x, w)?,
        false => correlation.transposed(call.budget(), x, w)?,
    };
    let space = shape[2..].iter().product::<usize>().max(1);
    for (plane, bias) in output.chunks_exact_mut(space).zip(biases.iter().cycle()) {
        plane.iter_mut().for_each(|item| *item += bias);
    }
    Ok(super::array::array(shape, output)?)
}

/// [`correlate`] for any border and any order of the axes of a filter.
fn by_places(
    call: &Call,
    (input_shape, x): (&[usize], &[f64]),
    w: &[f64],
    biases: &[f64],
    channels: &Channels,
    windows: &Windows,
    shape: &[usize],
) -> Result<ArrayD<f64>, EvalError> {
    let mut output = vec![0.0; call.budget().room(shape)?];
    let products = channels.input.saturating_mul(windows.volume());
    call.budget().product(output.len(), products)?;
    let (input_space, output_space) =
        (input_shape[2..].iter().product::<usize>(), shape[2..].iter().product::<usize>());
    let window = windows.volume();
    let all = channels.output * channels.groups;
    let padded = windows.is_padded();
    windows.each(call.budget(), |position, _, pairs| {
        for batch in 0..shape[0] {
            for channel in 0..all {
                let (group, within) = (channel / channels.output, channel % channels.output);
                let mut sum = biases[channel];
                for inner in 0..channels.input {
                    let source =
                        (batch * channels.groups * channels.input + group * channels.input + inner) * input_space;
                    let row = if channels.outputs_first {
                        channel * channels.input + inner
                    } else {
                        (group * channels.input + inner) * channels.output + within
                    };
                    let weights = &w[row * window..(row + 1) * window];
                    for (k, place) in pairs {
                        match place {
                            Some(place) => sum += x[source + place] * weights[*k],
                            // Padding is a zero of the formula, which a weight that is not finite makes NaN.
                            None if padded && !weights[*k].is_finite() => sum += 0.0 * weights[*k],
                            None => {}
                        }
                    }
                }
                output[(batch * all + channel) * output_space + position] = sum;
            }
        }
        Ok(())
    })?;
    Ok(super::array::array(shape, output)?)
}
