//! Transposed convolutions, and images from their columns: each position adds its window to the result.

use super::conv::biased;
use super::reals::{Reals, naturals, planes, sizes};
use super::windows::{KernelWindows, Padding, Steps};
use crate::eval::EvalError;
use crate::eval::kernels::{Columns, Correlation, WindowAxis};
use crate::onnx::run::call::{KernelResult, NodeCall, one};

/// The windows over the result of a transposed convolution, whose positions are the items of the input.
fn transposed(call: &NodeCall, space: &[usize], size: &[usize]) -> Result<KernelWindows, EvalError> {
    let rank = space.len();
    let steps = Steps::read(call, rank)?;
    let listed = |name: &str| match naturals(call, name)? {
        Some(items) if items.len() > rank => Ok(Some(items[items.len() - rank..].to_vec())),
        Some(items) if items.is_empty() => Ok(None),
        Some(items) if items.len() < rank => Err(call.refused(format!("`{name}` is {items:?} for {rank} axes"))),
        found => Ok(found),
    };
    let (more, stated) = (listed("output_padding")?.unwrap_or_else(|| vec![0; rank]), listed("output_shape")?);
    let axis = |i: usize| {
        let (stride, dilation) = (steps.strides[i], steps.dilations[i]);
        let int = |n: usize| i64::try_from(n).ok();
        let covered = int(size[i].checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?)?;
        let all = int(space[i])?.checked_sub(1)?.checked_mul(int(stride)?)?.checked_add(int(more[i])?)?;
        let all = all.checked_add(covered)?;
        let wanted = match (&stated, steps.padding) {
            (Some(stated), _) => Some(stated[i]),
            (None, Padding::Upper | Padding::Lower) => Some(space[i].checked_mul(stride)?),
            _ => None,
        };
        let (output, (before, after)) = match wanted {
            Some(wanted) => (wanted, steps.padding.split(all.checked_sub(int(wanted)?)?.max(0))),
            None if steps.padding == Padding::Valid => (usize::try_from(all).ok()?, (0, 0)),
            None => {
                let (before, after) = steps.pads[i];
                (usize::try_from(all.checked_sub(before)?.checked_sub(after)?).ok()?, (before, after))
            }
        };
        Some(WindowAxis { input: output, output: space[i], size: size[i], stride, dilation, before, after })
    };
    let misfit = || call.misfit(format!("a window {size:?} does not fit the extents {space:?}"));
    if size.len() != rank || rank == 0 {
        return Err(misfit());
    }
    Ok(KernelWindows { axes: (0..rank).map(|i| axis(i).ok_or_else(misfit)).collect::<Result<_, _>>()? })
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
    let windows = transposed(call, space, size)?;
    windows.volume(call)?;
    let channels = outputs.checked_mul(groups).ok_or_else(misfit)?;
    let extents = windows.axes.iter().map(|axis| axis.input);
    let shape: Vec<usize> = [batch, channels].into_iter().chain(extents).collect();
    let correlation = Correlation { axes: windows.axes, batch, groups, channels: [inputs / groups, outputs] };
    let mut result = correlation.transposed(call.budget, &x.items, &w.items)?;
    biased(call, &mut result, &shape, Reals::optional(call, 2)?)?;
    one(call.rounded(x.dtype, &shape, result)?)
}

/// `Col2Im`.
pub(in crate::onnx) fn col2im(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?.ranked(call, 3)?;
    let (image, block) = (sizes(call, &call.list(1)?)?, sizes(call, &call.list(2)?)?);
    let windows = KernelWindows::read(call, &image, &block)?;
    let volume = windows.volume(call)?;
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
