//! Windows over all axes: box filters, pooling, sampling at indices (H3); resampling by factors.

use super::outcome::{Inferred, RuleResult, ShapeError, UNKNOWN, refuse, same};
use super::shape::{Extent, Extents, Shape, unify};
use super::shape_call::{Call, Ints, MAX_RANK, Role};
use super::window::Windows;
use crate::diagnostics::Code;
use crate::dictionary::Deviation;
use crate::graph::dims::Dim;
use crate::graph::windows::is_of_space;

const CODE: Code = Code::PoolingShapes;

/// The operands of a pooling operation.
struct Pool {
    input: Option<Extents>,
    size: Option<Ints>,
    windows: Windows,
    /// What is wrong with the window though its extents are known.
    deviation: Option<ShapeError>,
}

impl Pool {
    fn read(call: &Call) -> Result<Self, ShapeError> {
        let size = match call.positive(Role::Size, Code::WindowOfNothing) {
            Err(error) if call.ints(Role::Size).is_some_and(|size| size.iter().flatten().any(|&item| item < 0)) => {
                return Err(ShapeError { code: CODE, ..error });
            }
            Err(error) => return Err(of_nothing(call, error)),
            Ok(size) => size,
        };
        let longest = if call.endless() {
            // The longest argument determines the rank.
            size.as_ref().zip(Windows::axes(call)).map(|(size, axes)| size.len().max(axes).min(MAX_RANK))
        } else {
            Some(0)
        };
        let input = longest.and_then(|rank| call.extents_to(0, rank));
        let rank = input.as_ref().map(|input| input.len());
        let length = size.as_ref().map(|size| size.len());
        let of_space = length.zip(rank).is_some_and(|(length, rank)| is_of_space(length, rank)) && !call.endless();
        let code = if of_space { Code::WindowOfSpace } else { CODE };
        let deviation = match call.check_length(Role::Size, length, rank, code) {
            Err(error) if of_space => Some(error),
            found => found.map(|()| None)?,
        };
        let mut pool = Pool { input, size, windows: Windows::read(call, rank, CODE, of_space)?, deviation };
        if let Some(size) = pool.size.as_mut().filter(|_| of_space) {
            size.insert_many(0, [Some(1); 2]);
        }
        if call.deviates(Deviation::SpatialWindows) {
            pool.size.iter_mut().flatten().take(2).for_each(|size| *size = Some(1));
            pool.windows.leave_out(2);
        }
        Ok(pool)
    }

    fn filter(&self, i: usize) -> Extent {
        self.size.as_ref().and_then(|size| size.get(i).copied().unwrap_or(Some(1))).into()
    }

    /// The extents of the result; `change` computes one along an axis.
    fn apply(
        &self,
        change: fn(&Windows, usize, &Extent, &Extent) -> Result<Extent, ShapeError>,
    ) -> Result<Option<Extents>, ShapeError> {
        let Some(input) = &self.input else { return Ok(None) };
        let extents = input.iter().enumerate().map(|(i, extent)| change(&self.windows, i, extent, &self.filter(i)));
        extents.collect::<Result<_, _>>().map(Some)
    }

    /// The results, with what is wrong with the window.
    fn told(self, results: Inferred) -> RuleResult {
        match self.deviation {
            Some(error) => Err(ShapeError { results, ..error }),
            None => Ok(results),
        }
    }

    fn up(&self, call: &Call) -> RuleResult {
        let Some(input) = &self.input else { return UNKNOWN };
        same(match call.ints(Role::OutputShape) {
            None => Some(input.iter().map(|_| Extent::UNKNOWN).collect()),
            Some(reference) if reference.is_empty() => self.apply(Windows::up)?,
            Some(reference) => {
                call.check_length(Role::OutputShape, Some(reference.len()), Some(input.len()), CODE)?;
                Some(self.windows.check_reference(&reference, input, |i| self.filter(i), 0)?)
            }
        })
    }
}

/// Adds the known extents to the error of a window of size 0. Some exporters write 0 for an unknown size: batch
/// and channels still have the extents of the input.
fn of_nothing(call: &Call, error: ShapeError) -> ShapeError {
    let shape = call.extents(0).map(|input| {
        let extents = input.iter().enumerate().map(|(i, extent)| if i < 2 { extent.clone() } else { Extent::UNKNOWN });
        Shape::new(&extents.collect::<Extents>())
    });
    error.but(shape)
}

/// Windows that reduce the extents.
pub(crate) fn pool(call: &Call) -> RuleResult {
    let pool = Pool::read(call)?;
    let results = same(pool.apply(Windows::down)?)?;
    pool.told(results)
}

/// Transposed windows that enlarge the extents.
pub(crate) fn unpool(call: &Call) -> RuleResult {
    let pool = Pool::read(call)?;
    let results = pool.up(call)?;
    pool.told(results)
}

/// Reads items at indices, which have the shape of the result (4.3.3).
pub(crate) fn sample(call: &Call) -> RuleResult {
    let pool = Pool::read(call)?;
    let results = same(match (pool.apply(Windows::down)?, call.extents(1)) {
        (Some(output), Some(index)) => Some(agree(call, index, &output, "result")?),
        (output, index) => output.or(index.map(Extents::from)),
    })?;
    pool.told(results)
}

/// Writes items at indices, which have the shape of the input (4.3.3).
pub(crate) fn desample(call: &Call) -> RuleResult {
    let mut pool = Pool::read(call)?;
    if let (Some(input), Some(index)) = (&pool.input, call.extents(1)) {
        pool.input = Some(agree(call, index, input, "input")?);
    }
    let results = pool.up(call)?;
    pool.told(results)
}

/// Unifies the shape of the indices with that of the tensor that must have the same shape.
fn agree(call: &Call, index: &[Extent], other: &[Extent], what: &str) -> Result<Extents, ShapeError> {
    let Some(extents) = unify(&call.extended(index, other.len()), other) else {
        let shape = format!("`index` of `{}` has shape {index:?}", call.name());
        return refuse(CODE, format!("{shape}, its {what} has {other:?}"));
    };
    Ok(extents)
}

/// A normalization over windows, which keeps the shape.
pub(crate) fn local_normalization(call: &Call) -> RuleResult {
    let size = call.ints(Role::Size).map(|size| size.len());
    // In the draft, the window may have more axes than the input.
    let rank = call.rank(0).map(|rank| if call.endless() { rank.max(size.unwrap_or(0)) } else { rank });
    call.check_length(Role::Size, size, rank, CODE)?;
    call.positive(Role::Size, CODE)?;
    Ok(Inferred::Same(call.shape(0).cloned()))
}

/// Scales the extents of the spatial axes by factors. `change` returns none if a factor does not fit an extent;
/// `symbolic` is for unknown extents.
fn scale(
    call: &Call,
    change: impl Fn(i64, i64) -> Option<Option<i64>>,
    symbolic: impl Fn(Dim, Dim) -> Dim,
) -> RuleResult {
    let factor = call.positive(Role::Factor, CODE)?;
    let rank = factor.as_ref().map_or(0, |factor| factor.len() + 2);
    let Some(mut extents) = call.extents_to(0, rank.min(MAX_RANK)) else { return UNKNOWN };
    let Some(factor) = factor else {
        extents.iter_mut().skip(2).for_each(|extent| *extent = Extent::UNKNOWN);
        return if call.endless() { UNKNOWN } else { same(Some(extents)) };
    };
    if factor.len() + 2 != extents.len() {
        let (count, rank, spatial) = (factor.len(), extents.len(), extents.len().saturating_sub(2));
        let input = format!("the input of rank {rank} has {spatial} axes after batch and channels");
        return refuse(CODE, format!("`factor` of `{}` has {count} items, {input}", call.name()));
    }
    for (i, factor) in (2..).zip(factor).filter(|(_, factor)| *factor != Some(1)) {
        let scaled = extents[i].known().zip(factor).map(|(extent, factor)| (extent, factor, change(extent, factor)));
        extents[i] = match scaled {
            None => Extent::from(symbolic(extents[i].dim(), Dim::from(factor))),
            Some((_, _, Some(scaled))) => scaled.into(),
            Some((extent, factor, None)) => {
                return refuse(CODE, format!("factor {factor} does not divide extent {extent} of axis {i}"));
            }
        };
    }
    same(Some(extents))
}

/// Spatial extents are divided by whole factors.
pub(crate) fn downsample(call: &Call) -> RuleResult {
    scale(call, |extent, factor| (extent % factor == 0).then_some(Some(extent / factor)), Dim::exactly_over)
}

/// Spatial extents are multiplied.
pub(crate) fn upsample(call: &Call) -> RuleResult {
    scale(call, |extent, factor| Some(extent.checked_mul(factor)), Dim::times)
}

/// Doubles the spatial extents, of which there are `AXES`; the draft may leave out the last of them.
pub(crate) fn upsample2x<const AXES: usize>(call: &Call) -> RuleResult {
    let Some(mut extents) = call.extents_to(0, 2 + AXES) else { return UNKNOWN };
    extents.iter_mut().skip(2).for_each(|extent| *extent = Extent::from(extent.dim().times(Dim::Int(2))));
    same(Some(extents))
}
