//! Transposed convolutions, and images from their columns: each position adds its window to the result.

use super::conv::biased;
use super::reals::{Reals, naturals, planes, sizes};
use super::windows::{WindowSettings, volume, windows};
use crate::eval::EvalError;
use crate::eval::kernels::{Columns, Correlation, SlidingWindow};
use crate::onnx::operators::AutoPad;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};

/// The windows over the result of a transposed convolution, whose positions are the items of the input.
fn transposed(call: &NodeCall, space: &[usize], size: &[usize]) -> Result<Vec<SlidingWindow>, EvalError> {
    let rank = space.len();
    let settings = WindowSettings::read(call, rank)?;
    let listed = |name: &str| match naturals(call, name)? {
        Some(items) if items.len() > rank => Ok(Some(items[items.len() - rank..].to_vec())),
        Some(items) if items.is_empty() => Ok(None),
        Some(items) if items.len() < rank => Err(call.refused(format!("`{name}` is {items:?} for {rank} axes"))),
        found => Ok(found),
    };
    let (more, stated) = (listed("output_padding")?.unwrap_or_else(|| vec![0; rank]), listed("output_shape")?);
    let axis = |i: usize| {
        let window = settings.window(i, size[i])?;
        let (places, more) = (i64::try_from(space[i]).ok()?, i64::try_from(more[i]).ok()?);
        let wanted = match (&stated, settings.auto_pad) {
            (Some(stated), _) => Some(i64::try_from(stated[i]).ok()?),
            (None, AutoPad::Same(_)) => Some(places.checked_mul(window.stride)?),
            _ => None,
        };
        let (window, extent) = match wanted {
            Some(wanted) => {
                let all = window.padded((0, 0)).extent(&places)?.checked_add(more)?;
                let total = all.checked_sub(wanted)?.max(0);
                (window.padded(settings.auto_pad.larger().halves(total)), wanted)
            }
            None => (window, window.extent(&places)?.checked_add(more)?),
        };
        SlidingWindow::new(window, usize::try_from(extent).ok()?, space[i])
    };
    let misfit = || call.misfit(format!("a window {size:?} does not fit the extents {space:?}"));
    if size.len() != rank || rank == 0 {
        return Err(misfit());
    }
    (0..rank).map(|i| axis(i).ok_or_else(misfit)).collect()
}

/// `ConvTranspose`.
pub(in crate::onnx) fn conv_transpose(call: &NodeCall) -> KernelResult {
    let (x, w) = (Reals::of(call, 0)?, Reals::of(call, 1)?);
    let misfit = || call.misfit(format!("filters of shape {:?} do not fit an input of shape {:?}", w.shape, x.shape));
    let ((batch, inputs, space), (outer, outputs, size)) = (planes(call, x.shape)?, planes(call, w.shape)?);
    let groups = usize::try_from(call.int_or("group", 1)?).map_err(|_| misfit())?;
    if groups == 0 || inputs != outer || inputs % groups != 0 {
        return Err(misfit());
    }
    let axes = transposed(call, space, size)?;
    volume(call, &axes)?;
    let channels = outputs.checked_mul(groups).ok_or_else(misfit)?;
    let extents = axes.iter().map(|axis| axis.input);
    let shape: Vec<usize> = [batch, channels].into_iter().chain(extents).collect();
    let correlation = Correlation { axes, batch, groups, channels: [inputs / groups, outputs] };
    let mut result = correlation.transposed(call.budget, &x.items, &w.items)?;
    biased(call, &mut result, &shape, Reals::optional(call, 2)?)?;
    one(call.rounded(x.dtype, &shape, result)?)
}

/// `Col2Im`.
pub(in crate::onnx) fn col2im(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?.ranked(call, 3)?;
    let (image, block) = (sizes(call, &call.list(1)?)?, sizes(call, &call.list(2)?)?);
    let windows = windows(call, &image, &block)?;
    let volume = volume(call, &windows.axes)?;
    let columns = Columns::new(&windows.axes).ok_or_else(|| call.misfit("there are no axes"))?;
    let positions = call.budget.room(&windows.output())?;
    let (batch, depth) = (x.shape[0], x.shape[1]);
    if volume == 0 || depth % volume != 0 || x.shape[2] != positions {
        return Err(
            call.misfit(format!("columns of shape {:?} do not make an image {image:?} of blocks {block:?}", x.shape))
        );
    }
    let shape: Vec<usize> = [batch, depth / volume].into_iter().chain(image.iter().copied()).collect();
    let mut result = vec![0.0; call.budget.room(&shape)?];
    call.budget.work(x.items.len() as u64)?;
    let plane: usize = image.iter().product();
    for (to, from) in result.chunks_exact_mut(plane.max(1)).zip(x.items.chunks_exact((volume * positions).max(1))) {
        columns.scatter(from, to);
    }
    one(call.rounded(x.dtype, &shape, result)?)
}
