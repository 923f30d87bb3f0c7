//! Reductions and normalizations along axes (H4). Reduced axes keep the extent 1.

use super::axes::AxisSet;
use super::call::{Call, Role};
use super::shape::Extent;
use super::{Inferred, RuleResult, UNKNOWN, known};
use crate::diagnostics::Code;

const CODE: Code = Code::ReduceAxes;

/// Reduces along axes.
pub(crate) fn reduce(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[None]);
    call.check_axes(given, call.rank(0), CODE)?;
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
    known(extents)
}

/// Operations along axes that keep the shape.
pub(crate) fn along(call: &Call) -> RuleResult {
    let shape = call.shape(0).cloned();
    let axes = call.ints(Role::Axes).unwrap_or_default();
    match call.check_axes(&axes, call.rank(0), CODE) {
        Ok(()) => Ok(Inferred::Same(shape)),
        Err(error) => Err(error.but(shape)),
    }
}
