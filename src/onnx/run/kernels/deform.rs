//! Deformable convolutions: the items of windows are interpolated at places that are operands.

use super::conv::biased;
use super::reals::{Reals, planes};
use super::windows::{volume, windows};
use crate::eval::kernels::{Windows, multiplied};
use crate::eval::{EvalError, Taps, advance, interpolate, taps};
use crate::graph::border::Border;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};

/// Shifts of places, and factors of items, for each item of a window at each position.
struct Shifts<'c> {
    offsets: Reals<'c>,
    mask: Option<Reals<'c>>,
    groups: usize,
    volume: usize,
    positions: usize,
    axes: usize,
}

impl Shifts<'_> {
    /// The place along each axis, and the factor.
    fn at(&self, batch: usize, group: usize, item: usize, position: usize, places: &mut [f64]) -> f64 {
        let row = (batch * self.groups + group) * self.volume + item;
        for (axis, place) in places.iter_mut().enumerate() {
            *place += self.offsets.items[(row * self.axes + axis) * self.positions + position];
        }
        self.mask.as_ref().map_or(1.0, |mask| mask.items[row * self.positions + position])
    }
}

/// `DeformConv`.
pub(in crate::onnx) fn deform_conv(call: &NodeCall) -> KernelResult {
    let (x, w) = (Reals::of(call, 0)?, Reals::of(call, 1)?);
    let ((batch, inputs, space), (outputs, inner, size)) = (planes(call, x.shape)?, planes(call, w.shape)?);
    let misfit = || call.misfit(format!("filters of shape {:?} do not fit an input of shape {:?}", w.shape, x.shape));
    let count = |name: &str| usize::try_from(call.int_or(name, 1)?).ok().filter(|&n| n > 0).ok_or_else(misfit);
    let (groups, shifted) = (count("group")?, count("offset_group")?);
    if space.len() > 8 || outputs % groups != 0 || inner.checked_mul(groups) != Some(inputs) || inputs % shifted != 0 {
        return Err(misfit());
    }
    let windows = windows(call, space, size)?;
    let (volume, output) = (volume(call, &windows.axes)?, windows.output());
    let positions = call.budget.room(&output)?;
    let rows = shifted.checked_mul(volume).ok_or_else(misfit)?;
    let shape_of = |rows: usize| [batch, rows].into_iter().chain(output.iter().copied()).collect::<Vec<_>>();
    let offsets = Reals::shaped(call, 2, &shape_of(rows.checked_mul(space.len()).ok_or_else(misfit)?))?;
    let mask = Reals::optional_shaped(call, 4, &shape_of(rows))?;
    let shifts = Shifts { offsets, mask, groups: shifted, volume, positions, axes: space.len() };
    let (shape, depth) = (shape_of(outputs), inner * volume);
    let mut result = Vec::with_capacity(call.budget.room(&shape)?);
    for b in 0..batch {
        call.budget.operation(|| {
            let matrix = sampled(call, &x, b, inputs, &windows, &shifts)?;
            for group in 0..groups {
                let filters = &w.items[group * (outputs / groups) * depth..][..outputs / groups * depth];
                let columns = &matrix[group * depth * positions..][..depth * positions];
                result.extend(multiplied(call.budget, filters, columns, [outputs / groups, depth, positions])?);
            }
            Ok::<_, EvalError>(())
        })?;
    }
    biased(call, &mut result, &shape, Reals::optional(call, 3)?)?;
    one(call.rounded(x.dtype, &shape, result)?)
}

/// The interpolated items of a batch: a row for each channel and item of the window, a column for each position.
fn sampled(
    call: &NodeCall,
    x: &Reals,
    batch: usize,
    channels: usize,
    windows: &Windows,
    shifts: &Shifts,
) -> Result<Vec<f64>, EvalError> {
    let (volume, positions) = (shifts.volume, shifts.positions);
    let mut matrix = vec![0.0; call.budget.room(&[channels, volume, positions])?];
    call.budget.product(matrix.len(), 1 << windows.axes.len().min(20))?;
    let extents: Vec<usize> = windows.axes.iter().map(|axis| axis.input).collect();
    let sizes: Vec<usize> = windows.axes.iter().map(|axis| axis.size()).collect();
    let (plane, output) = (extents.iter().product::<usize>(), windows.output());
    let each = channels / shifts.groups;
    let (mut item, mut places) = (vec![0; sizes.len()], vec![0.0; sizes.len()]);
    for k in 0..volume {
        let mut position = vec![0; output.len()];
        for at in 0..positions {
            for group in 0..shifts.groups {
                for (i, axis) in windows.axes.iter().enumerate() {
                    places[i] = axis.covered(position[i], item[i]) as f64;
                }
                let factor = shifts.at(batch, group, k, at, &mut places);
                let along = |(place, extent): (&f64, &usize)| taps(*place, *extent, Border::Constant(()));
                let taps: Vec<Taps> = places.iter().zip(&extents).map(along).collect();
                for channel in group * each..(group + 1) * each {
                    let from = &x.items[(batch * channels + channel) * plane..][..plane];
                    matrix[(channel * volume + k) * positions + at] = factor * interpolate(from, &extents, &taps);
                }
            }
            advance(&mut position, &output);
        }
        advance(&mut item, &sizes);
    }
    Ok(matrix)
}
