//! Windows over all axes: box filters, pooling, sampling at indices (H3).

use super::call::{Call, Extents, Ints, MAX_RANK, Role};
use super::shape::{Extent, Shape};
use super::window::{Window, check_length, check_positive};
use super::{Inferred, Outcome, ShapeError};
use crate::diagnostics::Code;

const CODE: Code = Code::PoolingShapes;

/// What a pooling operation is given.
struct Pool {
    input: Option<Extents>,
    size: Option<Ints>,
    window: Window,
}

impl Pool {
    fn read(call: &Call) -> Result<Self, ShapeError> {
        let size = call.ints(Role::Size);
        check_positive("size", size.as_deref().unwrap_or(&[]), CODE)?;
        let input = if call.endless() {
            // The longest argument tells the rank.
            let named = size.as_ref().zip(Window::axes(call)).map(|(size, axes)| size.len().max(axes));
            named.and_then(|named| call.extents_to(0, named.min(MAX_RANK)))
        } else {
            call.extents_to(0, 0)
        };
        let rank = input.as_ref().map(|input| input.len());
        if let (Some(size), Some(rank)) = (&size, rank) {
            check_length(call, "size", size.len(), rank, CODE, false)?;
        }
        Ok(Pool { input, size, window: Window::read(call, rank, CODE)? })
    }

    fn filter(&self, i: usize) -> Extent {
        match &self.size {
            Some(size) => size.get(i).copied().unwrap_or(Some(1)).into(),
            None => Extent::UNKNOWN,
        }
    }

    fn down(&self) -> Result<Option<Extents>, ShapeError> {
        let Some(input) = &self.input else { return Ok(None) };
        let extents = input.iter().enumerate().map(|(i, &extent)| self.window.down(i, extent, self.filter(i)));
        extents.collect::<Result<_, _>>().map(Some)
    }

    fn up(&self, call: &Call) -> Result<Option<Extents>, ShapeError> {
        let Some(input) = &self.input else { return Ok(None) };
        let Some(reference) = call.ints(Role::OutputShape) else {
            return Ok(Some(input.iter().map(|_| Extent::UNKNOWN).collect()));
        };
        if !reference.is_empty() {
            check_length(call, "output_shape", reference.len(), input.len(), CODE, true)?;
            let filter: Extents = (0..input.len()).map(|i| self.filter(i)).collect();
            return self.window.check_reference(&reference, input, &filter, 0).map(Some);
        }
        let extents = input.iter().enumerate().map(|(i, &extent)| self.window.up(i, extent, self.filter(i)));
        extents.collect::<Result<_, _>>().map(Some)
    }
}

fn same(extents: Option<Extents>) -> Outcome {
    Ok(Inferred::Same(extents.map(|extents| Shape::new(&extents))))
}

/// From the up-scaled space to the down-scaled one.
pub(crate) fn pool(call: &Call) -> Outcome {
    same(Pool::read(call)?.down()?)
}

/// From the down-scaled space to the up-scaled one.
pub(crate) fn unpool(call: &Call) -> Outcome {
    same(Pool::read(call)?.up(call)?)
}

/// Reads at indices, which have the shape of the result (4.3.3).
pub(crate) fn sample(call: &Call) -> Outcome {
    let output = Pool::read(call)?.down()?;
    match (output, call.extents(1)) {
        (Some(output), Some(index)) => same(Some(agree(call, index, &output, "result")?)),
        (output, None) => same(output),
        (None, Some(index)) => same(Some(index.into())),
    }
}

/// Writes at indices, which have the shape of the input (4.3.3).
pub(crate) fn desample(call: &Call) -> Outcome {
    let mut pool = Pool::read(call)?;
    if let (Some(input), Some(index)) = (&pool.input, call.extents(1)) {
        pool.input = Some(agree(call, index, input, "input")?);
    }
    same(pool.up(call)?)
}

/// The extents that the indices and what they belong to have in common.
fn agree(call: &Call, index: &[Extent], other: &[Extent], what: &str) -> Result<Extents, ShapeError> {
    let mut lengthened: Extents = index.into();
    call.lengthen(&mut lengthened, other.len());
    let unified = (lengthened.len() == other.len())
        .then(|| lengthened.iter().zip(other).map(|(a, b)| a.unify(*b)).collect::<Option<Extents>>())
        .flatten();
    unified.ok_or_else(|| {
        let message = format!("`index` of `{}` has shape {index:?}, its {what} has {other:?}", call.name());
        ShapeError::new(CODE, message)
    })
}

/// A normalization over windows: the shape stays.
pub(crate) fn local_normalization(call: &Call) -> Outcome {
    if let (Some(size), Some(input)) = (call.ints(Role::Size), call.extents(0)) {
        check_length(
            call,
            "size",
            size.len(),
            input.len().max(if call.endless() { size.len() } else { 0 }),
            CODE,
            false,
        )?;
    }
    check_positive("size", call.ints(Role::Size).as_deref().unwrap_or(&[]), CODE)?;
    Ok(Inferred::Same(call.shape(0).cloned()))
}

/// The extents along the spatial axes change by a factor.
fn scale(call: &Call, change: impl Fn(i64, i64) -> Option<Option<i64>>) -> Outcome {
    let factor = call.ints(Role::Factor);
    check_positive("factor", factor.as_deref().unwrap_or(&[]), CODE)?;
    let named = factor.as_ref().map_or(0, |factor| factor.len() + 2);
    let Some(mut extents) = call.extents_to(0, named.min(MAX_RANK)) else { return Ok(Inferred::UNKNOWN) };
    if factor.is_none() && call.endless() {
        return Ok(Inferred::UNKNOWN);
    }
    if let Some(factor) = factor.as_ref().filter(|factor| factor.len() + 2 != extents.len()) {
        let (count, rank, spatial) = (factor.len(), extents.len(), extents.len().saturating_sub(2));
        let message = format!(
            "`factor` of `{}` has {count} items, the input of rank {rank} has {spatial} axes after batch and channels",
            call.name()
        );
        return Err(ShapeError::new(CODE, message));
    }
    for i in 2..extents.len() {
        let factor = factor.as_ref().and_then(|factor| factor[i - 2]);
        extents[i] = match (extents[i].known(), factor) {
            (_, Some(1)) => extents[i],
            (Some(extent), Some(factor)) => match change(extent, factor) {
                Some(scaled) => scaled.into(),
                None => {
                    let message = format!("factor {factor} does not divide extent {extent} of axis {i}");
                    return Err(ShapeError::new(CODE, message));
                }
            },
            _ => Extent::UNKNOWN,
        };
    }
    same(Some(extents))
}

/// Spatial extents are divided by whole factors.
pub(crate) fn downsample(call: &Call) -> Outcome {
    scale(call, |extent, factor| (extent % factor == 0).then_some(Some(extent / factor)))
}

/// Spatial extents are multiplied.
pub(crate) fn upsample(call: &Call) -> Outcome {
    scale(call, |extent, factor| Some(extent.checked_mul(factor)))
}

/// Doubles the spatial extents.
pub(crate) fn upsample2x(call: &Call) -> Outcome {
    let Some(extents) = call.extents(0) else { return Ok(Inferred::UNKNOWN) };
    let double =
        |(i, extent): (usize, &Extent)| if i < 2 { *extent } else { extent.map(|extent| extent.checked_mul(2)) };
    same(Some(extents.iter().enumerate().map(double).collect()))
}
