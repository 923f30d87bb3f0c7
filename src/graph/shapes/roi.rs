//! Regions of interest (H15).

use smallvec::smallvec;

use super::outcome::{RuleResult, ShapeError, UNKNOWN, known, refuse};
use super::shape::Extent;
use super::shape_call::{Call, Role};
use crate::diagnostics::Code;

const CODE: Code = Code::RoiShapes;

/// Regions of equal size: one for each row of `rois`, with all channels.
pub(crate) fn roi(call: &Call) -> RuleResult {
    let size = call.positive(Role::OutputSize, CODE)?;
    let rate = call.positive(Role::SamplingRate, CODE)?.filter(|rate| !rate.is_empty());
    let spatial = call.rank(0).map(|rank| rank.saturating_sub(2));
    for (role, items) in [(Role::OutputSize, &size), (Role::SamplingRate, &rate)] {
        if let (Some(items), Some(spatial)) = (items, spatial)
            && items.len() != spatial
        {
            let (name, count) = (role.name(), items.len());
            return refuse(CODE, format!("`{name}` has {count} items, the input has {spatial} spatial axes"));
        }
    }
    let count = count(call, spatial)?;
    let Some([_, channels, spatial @ ..]) = call.extents(0) else { return UNKNOWN };
    let size = size.unwrap_or_else(|| smallvec![None; spatial.len()]);
    known([count, channels.clone()].into_iter().chain(size.iter().map(|&extent| extent.into())).collect())
}

/// The number of regions. The specification defines `batch_index` as `[N, 1]`; `[N]` is common.
fn count(call: &Call, spatial: Option<usize>) -> Result<Extent, ShapeError> {
    let mut count = Extent::UNKNOWN;
    if let Some(rois) = call.extents(1) {
        let corners = spatial.map_or(Extent::UNKNOWN, |spatial| Extent::new(2 * spatial as i64));
        match rois {
            [regions, extent] if extent.unify(&corners).is_some() => count = regions.clone(),
            _ => return refuse(CODE, format!("`rois` has shape {rois:?}, it must be [N, {corners:?}]")),
        }
    }
    let Some(index) = call.extents(2) else { return Ok(count) };
    let given = match index {
        [regions] => Some(regions.clone()),
        [regions, one] if one.unify(&Extent::ONE).is_some() => Some(regions.clone()),
        _ => None,
    };
    let Some(unified) = given.and_then(|given| given.unify(&count)) else {
        let wanted = format!("it must be [{count:?}]: one for each region");
        return refuse(CODE, format!("`batch_index` has shape {index:?}, {wanted}"));
    };
    Ok(unified)
}
