//! What is computed on numbers, and what can go wrong there.

use std::sync::Arc;

use super::domain::{Collecting, Failure, Site, Slot};
use super::network::{TensorId, Type};
use super::ops::{Attributes, Op};
use crate::diagnostics::Code;
use crate::tensor::{Dims, Tensor};

/// Computes an operation on numbers; also for constants of a flat graph.
pub(crate) fn compute(
    site: &Site,
    (op, attributes, known): (Op, &Attributes, Option<&Type>),
    inputs: &[&Tensor],
) -> Slot<Tensor> {
    let inferred;
    let result = match known.filter(|known| known.dims.iter().all(Option::is_some)) {
        Some(known) => known,
        None => {
            let types: Vec<Type> = inputs.iter().map(|input| Type::of(input)).collect();
            inferred = op.infer(&types, attributes).map_err(|message| refuse(site, op, &message))?;
            &inferred
        }
    };
    op.compute(inputs, attributes, result).map_err(|message| refuse(site, op, &message))
}

fn refuse(site: &Site, op: Op, message: &str) -> Arc<Failure> {
    site.fail(Code::LayerOperands, format!("`{}` of `{}`: {message}", op.name(), site.name()))
}

/// What is at an index of an axis.
pub(crate) fn element(site: &Site, of: (TensorId, &Tensor), axis: usize, index: i64) -> Slot<Tensor> {
    let found = usize::try_from(index).ok().and_then(|index| of.1.element(axis, index));
    found.ok_or_else(|| out_of_range(site, of.0, index, of.1.shape().get(axis).copied().unwrap_or(0)))
}

/// That an iterator left its axis.
pub(crate) fn out_of_range(site: &Site, of: TensorId, index: i64, extent: usize) -> Arc<Failure> {
    let (name, tensor) = (site.name(), site.net.name_of(of));
    let message = format!("iterator `{name}` asks for index {index} of an axis of `{tensor}` that has {extent}");
    site.fail(Code::IteratorRange, message)
}

/// That a loop output is too short for the trips.
pub(crate) fn too_short(collecting: &Collecting) -> Arc<Failure> {
    let message =
        format!("loop output `{}` has length {}, and there are more trips", collecting.site.name(), collecting.length);
    collecting.site.fail(Code::OutputTooShort, message)
}

/// The shape of the elements of a loop output without any, if it is known.
pub(crate) fn element_type<'a>(collecting: &Collecting<'a>) -> Slot<(&'a Type, Dims)> {
    let dims = collecting.element.and_then(|ty| Some((ty, ty.dims.iter().copied().collect::<Option<Dims>>()?)));
    dims.ok_or_else(|| {
        let message = format!("without any trip the shape of `{}` is not known", collecting.site.name());
        collecting.site.fail(Code::OutputShape, message)
    })
}

/// That the shape of an element differs from that of those before.
pub(crate) fn other_shape(collecting: &Collecting) -> Arc<Failure> {
    let message = format!("the elements of loop output `{}` have different shapes", collecting.site.name());
    collecting.site.fail(Code::OutputShape, message)
}
