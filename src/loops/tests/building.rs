//! Functions that build networks layer by layer.

use super::super::network::*;
use super::super::ops::{Attributes, Op};
use crate::source::Span;
use crate::tensor::{DType, Tensor};

impl From<TensorId> for Use {
    fn from(tensor: TensorId) -> Use {
        Use { tensor, at: Span::default() }
    }
}

impl Network {
    fn give(&mut self, name: &str, kind: LayerKind) -> TensorId {
        self.push(Some(name), kind, Span::default()).unwrap_or(TensorId(0))
    }

    /// Adds an input of the network. An extent of -1 is known only at run time.
    pub(crate) fn input(&mut self, name: &str, dtype: DType, dims: &[i64]) -> TensorId {
        let dims = dims.iter().map(|&extent| usize::try_from(extent).ok()).collect();
        let id = self.define(name, TensorSource::Input(StaticType { dtype, dims }), Span::default());
        self.inputs.push(id);
        id
    }

    /// Adds a constant.
    pub(crate) fn constant(&mut self, name: &str, value: Tensor) -> TensorId {
        self.define(name, TensorSource::Constant(value.into()), Span::default())
    }

    /// Adds a trip limit to a loop.
    pub(crate) fn trip_limit(&mut self, of: LoopId, limit: LimitKind, input: TensorId) {
        self.push(None, LayerKind::TripLimit { of, limit, input: input.into() }, Span::default());
    }

    /// Adds an iterator: in trip `i` its value is `input[i]` along the axis, or, reversed, `input[n-1-i]`, where `n` is
    /// the trip count.
    pub(crate) fn iterator(&mut self, of: LoopId, name: &str, input: TensorId, axis: i64, reverse: bool) -> TensorId {
        self.give(name, LayerKind::Iterator { of, input: input.into(), axis, reverse })
    }

    /// Adds a recurrence without a next value, which [`Network::set_next`] sets.
    pub(crate) fn recurrence(&mut self, of: LoopId, name: &str, initial: TensorId) -> TensorId {
        self.give(name, LayerKind::Recurrence { of, initial: Some(initial.into()), next: None })
    }

    /// Sets the next value of a recurrence. Other layers are not changed.
    pub(crate) fn set_next(&mut self, recurrence: TensorId, value: TensorId) {
        let TensorSource::Layer(layer) = self.tensors[recurrence.index()].origin else { return };
        if let LayerKind::Recurrence { next, .. } = &mut self.layers[layer.index()].kind {
            *next = Some(value.into());
        }
    }

    /// Adds a loop output. All kinds but last values need a length: [`Network::set_length`].
    pub(crate) fn loop_output(
        &mut self,
        of: LoopId,
        name: &str,
        kind: OutputKind,
        input: TensorId,
        axis: i64,
    ) -> TensorId {
        self.give(name, LayerKind::LoopOutput { of, kind, input: input.into(), axis, length: None })
    }

    /// Sets the length of a loop output. Other layers are not changed.
    pub(crate) fn set_length(&mut self, output: TensorId, value: TensorId) {
        let TensorSource::Layer(layer) = self.tensors[output.index()].origin else { return };
        if let LayerKind::LoopOutput { length, .. } = &mut self.layers[layer.index()].kind {
            *length = Some(value.into());
        }
    }

    /// Adds an operation without attributes.
    pub(crate) fn operation(&mut self, name: &str, op: Op, inputs: &[TensorId]) -> TensorId {
        self.operation_with(name, op, inputs, Attributes::default())
    }

    /// Adds an operation.
    pub(crate) fn operation_with(
        &mut self,
        name: &str,
        op: Op,
        inputs: &[TensorId],
        attributes: Attributes,
    ) -> TensorId {
        let inputs = inputs.iter().map(|&input| input.into()).collect();
        self.give(name, LayerKind::Operation { op, inputs, attributes: Box::new(attributes) })
    }

    /// Makes a tensor an output of the network.
    pub(crate) fn mark_output(&mut self, tensor: TensorId) {
        self.outputs.push(tensor.into());
    }
}
