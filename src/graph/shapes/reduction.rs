//! Reductions and normalizations along axes (H4). Reduced axes keep the extent 1.

use super::axes::AxisSet;
use super::outcome::{Inferred, RuleResult, ShapeError, UNKNOWN, known};
use super::shape::{Extent, Shape};
use super::shape_call::{Call, Role};
use crate::diagnostics::Code;

/// Reduces along axes.
pub(crate) fn reduce(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[None]);
    let checked = check(call, given);
    if let Err(error) = &checked
        && error.code == Code::AxisOutside
    {
        return checked.map(|()| Inferred::UNKNOWN);
    }
    let Some(mut extents) = call.extents_to(0, 0) else { return UNKNOWN };
    let any = given.contains(&None);
    let reduced = AxisSet::new(given);
    for (i, extent) in extents.iter_mut().enumerate() {
        if reduced.contains(i) {
            *extent = Extent::ONE;
        } else if any && *extent != Extent::ONE {
            // An unknown axis may be this one.
            *extent = Extent::UNKNOWN;
        }
    }
    match checked {
        Ok(()) => known(extents),
        Err(error) => Err(error.but(Some(Shape::from(extents)))),
    }
}

/// Checks that axes differ, and that the input has them. An axis at the end that is left out of the input has the
/// extent 1; some programs rely on that.
fn check(call: &Call, axes: &[Option<i64>]) -> Result<(), ShapeError> {
    call.check_axes(axes, None, Code::AxisOutside)?;
    call.check_axes(axes, call.rank(0), Code::ReduceAxes)
}

/// Operations along axes that keep the shape.
pub(crate) fn along(call: &Call) -> RuleResult {
    let shape = call.shape(0).cloned();
    let axes = call.ints(Role::Axes).unwrap_or_default();
    match check(call, &axes) {
        Ok(()) => Ok(Inferred::Same(shape)),
        Err(error) => Err(error.but(shape)),
    }
}
