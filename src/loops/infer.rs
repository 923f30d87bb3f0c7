//! Infers the types of all tensors before a run.

use super::network::{LayerId, LayerKind, LoopId, Network, OutputKind, StaticType, TensorId, TensorSource};
use super::order::{ComputationUnit, Order};
use crate::source::Span;
use crate::tensor::DType;

/// Types by tensor; none if they could not be inferred.
pub(crate) struct Types {
    types: Vec<Option<StaticType>>,
    /// Operands that break a rule: location and message.
    pub(crate) wrong: Vec<(Span, String)>,
}

impl Types {
    /// Infers the types of a network. `bound` has the actual types of inputs whose values are known.
    pub(crate) fn new(net: &Network, order: &Order, bound: &[Option<StaticType>]) -> Types {
        let mut types = Types { types: vec![None; net.tensors.len()], wrong: Vec::new() };
        for (i, info) in net.tensors.iter().enumerate() {
            types.types[i] = match &info.origin {
                TensorSource::Input(declared) => {
                    Some(bound.get(i).cloned().flatten().unwrap_or_else(|| declared.clone()))
                }
                TensorSource::Constant(value) => Some(StaticType::of(value)),
                _ => None,
            };
        }
        types.block(net, order, None);
        types
    }

    /// The type of a tensor.
    pub(crate) fn get(&self, tensor: TensorId) -> Option<&StaticType> {
        self.types[tensor.index()].as_ref()
    }

    fn block(&mut self, net: &Network, order: &Order, of: Option<LoopId>) {
        for item in order.items(of) {
            match item {
                ComputationUnit::Layer(layer) => self.layer(net, *layer),
                ComputationUnit::Loop(inner) => {
                    let layers = &net.loops[inner.index()].layers;
                    let of_kind = |wanted: fn(&LayerKind) -> bool| {
                        layers.iter().copied().filter(move |&layer| wanted(&net.layer(layer).kind))
                    };
                    of_kind(|kind| matches!(kind, LayerKind::Recurrence { .. })).for_each(|id| self.layer(net, id));
                    self.block(net, order, Some(*inner));
                    of_kind(|kind| matches!(kind, LayerKind::LoopOutput { .. })).for_each(|id| self.layer(net, id));
                }
            }
        }
    }

    fn layer(&mut self, net: &Network, id: LayerId) {
        let layer = net.layer(id);
        let Some(output) = layer.output else { return };
        self.types[output.index()] = match &layer.kind {
            LayerKind::Recurrence { initial, .. } => initial.and_then(|initial| self.get(initial.tensor).cloned()),
            LayerKind::Iterator { input, axis, .. } => self.get(input.tensor).cloned().and_then(|mut ty| {
                let axis = usize::try_from(*axis).ok().filter(|&axis| axis < ty.dims.len())?;
                ty.dims.remove(axis);
                Some(ty)
            }),
            LayerKind::LoopOutput { kind: OutputKind::LastValue, input, .. } => self.get(input.tensor).cloned(),
            LayerKind::LoopOutput { input, axis, length, .. } => self.get(input.tensor).cloned().and_then(|mut ty| {
                let axis = usize::try_from(*axis).ok().filter(|&axis| axis <= ty.dims.len())?;
                let length = length.and_then(|length| known_length(net, length.tensor));
                ty.dims.insert(axis, length);
                Some(ty)
            }),
            LayerKind::Operation { op, inputs, attributes } => {
                let known: Option<Vec<StaticType>> =
                    inputs.iter().map(|input| self.get(input.tensor).cloned()).collect();
                let place = || format!("`{}` of `{}`", op.name(), net.name_of(output));
                let mut refuse = |message| self.wrong.push((layer.at, format!("{}: {message}", place())));
                known.and_then(|types| op.infer(&types, attributes).map_err(&mut refuse).ok())
            }
            LayerKind::TripLimit { .. } => None,
        };
    }
}

/// The value of a length, if it is a constant.
fn known_length(net: &Network, length: TensorId) -> Option<usize> {
    match &net.tensors[length.index()].origin {
        TensorSource::Constant(value) => value.as_integer().and_then(|length| usize::try_from(length).ok()),
        _ => None,
    }
}

/// Whether a type is valid for a count or a length.
pub(crate) fn is_number(ty: &StaticType) -> bool {
    ty.dims.is_empty() && ty.dtype.is_integer()
}

/// Whether a type is valid for a condition.
pub(crate) fn is_condition(ty: &StaticType) -> bool {
    ty.dims.is_empty() && ty.dtype == DType::Bool
}
