//! Regions of interest (H15).

use smallvec::smallvec;

use super::call::{Call, Extents, Role};
use super::shape::Extent;
use super::window::check_positive;
use super::{Inferred, Outcome, ShapeError, known};
use crate::diagnostics::Code;

const CODE: Code = Code::RoiShapes;

/// Regions of the same size: one for each row of `rois`, all channels.
pub(crate) fn roi(call: &Call) -> Outcome {
    let size = call.ints(Role::OutputSize);
    let rate = call.ints(Role::SamplingRate).filter(|rate| !rate.is_empty());
    for (name, items) in [("output_size", &size), ("sampling_rate", &rate)] {
        check_positive(name, items.as_deref().unwrap_or(&[]), CODE)?;
    }
    let spatial = call.extents(0).map(|input| input.len().saturating_sub(2));
    for (name, items) in [("output_size", &size), ("sampling_rate", &rate)] {
        if let (Some(items), Some(spatial)) = (items, spatial)
            && items.len() != spatial
        {
            let message = format!("`{name}` has {} items, the input has {spatial} spatial axes", items.len());
            return Err(ShapeError::new(CODE, message));
        }
    }
    let count = count(call, spatial)?;
    let Some(input) = call.extents(0) else { return Ok(Inferred::UNKNOWN) };
    let Some(channels) = input.get(1) else { return Ok(Inferred::UNKNOWN) };
    let size = size.unwrap_or_else(|| smallvec![None; input.len() - 2]);
    let extents: Extents = [count, *channels].into_iter().chain(size.iter().map(|&extent| extent.into())).collect();
    known(&extents)
}

/// The number of regions. The text prints `batch_index` as `[N, 1]`; `[N]` is common.
fn count(call: &Call, spatial: Option<usize>) -> Result<Extent, ShapeError> {
    let error = |message: String| Err(ShapeError::new(CODE, message));
    let mut count = Extent::UNKNOWN;
    if let Some(rois) = call.extents(1) {
        let corners = spatial.map_or(Extent::UNKNOWN, |spatial| Extent::new(2 * spatial as i64));
        match rois {
            [regions, extent] if extent.unify(corners).is_some() => count = *regions,
            _ => return error(format!("`rois` has shape {rois:?}, it has to be [N, {corners:?}]")),
        }
    }
    if let Some(index) = call.extents(2) {
        let given = match index {
            [regions] => Some(*regions),
            [regions, one] if one.unify(Extent::ONE).is_some() => Some(*regions),
            _ => None,
        };
        match given.and_then(|given| given.unify(count)) {
            Some(unified) => count = unified,
            None => {
                return error(format!(
                    "`batch_index` has shape {index:?}, it has to be [{count:?}]: one for each region"
                ));
            }
        }
    }
    Ok(count)
}
