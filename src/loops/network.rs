//! The representation of networks with loops: tensors, layers and the four boundary layers, after TensorRT.
//!
//! Reading a network checks only its format; [`Network::check`] checks the rules.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ops::{Attributes, Op};
use crate::room::table_id;
use crate::source::{FileId, Location, Span};
use crate::tensor::{self, DType, Dims, Tensor};

/// The maximum number of elements of a tensor.
pub(super) const MAX_ELEMENTS: usize = 1 << 28;

/// The number of elements of a shape; none if that exceeds the limit or there are too many axes.
pub(super) fn volume(shape: &[usize]) -> Option<usize> {
    // An extent of 0 must not hide that the product of the others is too large.
    let full = shape.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent.max(1)));
    let fits = full.is_some_and(|full| full <= MAX_ELEMENTS) && shape.len() <= tensor::MAX_RANK;
    fits.then(|| tensor::volume(shape)).flatten()
}

table_id! {
    /// Identifies a tensor of a [`Network`].
    #[derive(Default)]
    pub(crate) TensorId;
    /// Identifies a layer of a [`Network`].
    #[derive(Default)]
    pub(crate) LayerId;
    /// Identifies a loop of a [`Network`].
    #[derive(Default)]
    pub(crate) LoopId;
}

/// The type of a tensor before a run: an extent may be unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StaticType {
    /// The type of its elements.
    pub(crate) dtype: DType,
    /// Its extents.
    pub(crate) dims: Vec<Option<usize>>,
}

impl StaticType {
    /// The type, if all of its extents are known.
    pub(crate) fn closed(&self) -> Option<(DType, Dims)> {
        Some((self.dtype, self.dims.iter().copied().collect::<Option<Dims>>()?))
    }

    /// The type of a tensor with a value; all extents are known.
    pub(crate) fn of(tensor: &Tensor) -> StaticType {
        StaticType { dtype: tensor.dtype(), dims: tensor.shape().iter().map(|&extent| Some(extent)).collect() }
    }

    /// Whether a tensor of type `other` may have this type.
    pub(crate) fn admits(&self, other: &StaticType) -> bool {
        self.dtype == other.dtype && self.fits(other)
    }

    /// Whether the ranks are equal, and all extents that are known in both types.
    pub(crate) fn fits(&self, other: &StaticType) -> bool {
        let agree = |(a, b): (&Option<usize>, &Option<usize>)| a.is_none() || b.is_none() || a == b;
        self.dims.len() == other.dims.len() && self.dims.iter().zip(&other.dims).all(agree)
    }
}

impl std::fmt::Display for StaticType {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let extent = |extent: &Option<usize>| extent.map_or("?".to_owned(), |extent| extent.to_string());
        write!(f, "{}[{}]", self.dtype, self.dims.iter().map(extent).collect::<Vec<_>>().join(","))
    }
}

/// What defines a tensor.
#[derive(Clone, Debug)]
pub(crate) enum TensorSource {
    /// An input of the network.
    Input(StaticType),
    /// A constant.
    Constant(std::sync::Arc<Tensor>),
    /// A layer.
    Layer(LayerId),
    /// Nothing: it is used but never defined.
    Undefined,
}

/// A tensor.
#[derive(Clone, Debug)]
pub(crate) struct TensorInfo {
    /// Its name.
    pub(crate) name: String,
    /// What defines it.
    pub(crate) origin: TensorSource,
    /// The location of its definition.
    pub(crate) at: Span,
}

/// A use of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The tensor.
    pub(crate) tensor: TensorId,
    /// The location of the use.
    pub(crate) at: Span,
}

/// The kinds of trip limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitKind {
    /// The input is the number of trips.
    Count,
    /// The loop runs while the input is true; it is tested before each trip.
    While,
}

/// The kinds of loop outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// The value of a recurrence after the last trip.
    LastValue,
    /// The values of all trips, stacked along a new axis.
    Concatenate,
    /// Like `Concatenate`, but with the last trip first.
    Reverse,
}

/// The kind of a layer.
#[derive(Clone, Debug)]
pub(crate) enum LayerKind {
    /// Limits the trips of a loop.
    TripLimit {
        /// The loop.
        of: LoopId,
        /// Whether by a count or a condition.
        limit: LimitKind,
        /// The count or condition.
        input: Use,
    },
    /// In trip `i`, the slice `i` of a tensor.
    Iterator {
        /// The loop.
        of: LoopId,
        /// The tensor.
        input: Use,
        /// The axis that is iterated over.
        axis: i64,
        /// Whether it starts with the slice of the last trip.
        reverse: bool,
    },
    /// Passes a value from one trip to the next.
    Recurrence {
        /// The loop.
        of: LoopId,
        /// The value in the first trip.
        initial: Option<Use>,
        /// The value that it has in the next trip.
        next: Option<Use>,
    },
    /// A value outside of the loop, made from values inside.
    LoopOutput {
        /// The loop.
        of: LoopId,
        /// Which values it takes.
        kind: OutputKind,
        /// The value inside.
        input: Use,
        /// The position of the new axis.
        axis: i64,
        /// The extent of the new axis.
        length: Option<Use>,
    },
    /// An operation.
    Operation {
        /// The operation.
        op: Op,
        /// The operands.
        inputs: Vec<Use>,
        /// The attributes.
        attributes: Box<Attributes>,
    },
}

impl LayerKind {
    /// The loop of a boundary layer.
    pub(crate) fn boundary(&self) -> Option<LoopId> {
        match self {
            LayerKind::TripLimit { of, .. }
            | LayerKind::Iterator { of, .. }
            | LayerKind::Recurrence { of, .. }
            | LayerKind::LoopOutput { of, .. } => Some(*of),
            LayerKind::Operation { .. } => None,
        }
    }

    /// The tensors that it uses.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Use> {
        let (few, many): ([Option<Use>; 2], &[Use]) = match self {
            LayerKind::TripLimit { input, .. } | LayerKind::Iterator { input, .. } => ([Some(*input), None], &[]),
            LayerKind::Recurrence { initial, next, .. } => ([*initial, *next], &[]),
            LayerKind::LoopOutput { input, length, .. } => ([Some(*input), *length], &[]),
            LayerKind::Operation { inputs, .. } => ([None, None], inputs),
        };
        few.into_iter().flatten().chain(many.iter().copied())
    }
}

/// A layer.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// Its kind.
    pub(crate) kind: LayerKind,
    /// Its result; trip limits have none.
    pub(crate) output: Option<TensorId>,
    /// Its location in the source.
    pub(crate) at: Span,
}

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Its name.
    pub(crate) name: String,
    /// Its boundary layers.
    pub(crate) layers: Vec<LayerId>,
}

/// A network with loops.
///
/// ```
/// use nnef_flatten::loops::Network;
/// use nnef_flatten::source::Sources;
/// use nnef_flatten::tensor::{Data, Tensor};
///
/// // for (i = j; …; i += 4), five times.
/// let text = r#"{"inputs": {"j": {"dtype": "int32", "shape": []}},
///     "constants": {"n": {"dtype": "int32", "data": 5}, "four": {"dtype": "int32", "data": 4}},
///     "layers": [
///         {"op": "trip_limit", "loop": "L", "kind": "count", "input": "n"},
///         {"op": "recurrence", "loop": "L", "name": "i", "initial": "j", "next": "next"},
///         {"op": "add", "name": "next", "inputs": ["i", "four"]},
///         {"op": "loop_output", "loop": "L", "name": "last", "kind": "last_value", "input": "i"}],
///     "outputs": ["last"]}"#;
/// let (net, found) = Network::read("steps", text.to_owned(), &mut Sources::new(), false);
/// let net = net.filter(|_| !found.has_errors()).expect("a valid network");
/// let number = |x| Tensor::scalar(Data::Int32(vec![x])).unwrap();
/// let found = net.evaluate([("j".to_owned(), number(3))], &Default::default()).unwrap();
/// assert_eq!(found.outputs, [("last".to_owned(), number(23))]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Its name.
    pub(crate) name: String,
    /// Its tensors.
    pub(crate) tensors: Vec<TensorInfo>,
    /// Its layers.
    pub(crate) layers: Vec<Layer>,
    /// Its loops.
    pub(crate) loops: Vec<Loop>,
    /// Its inputs.
    pub(crate) inputs: Vec<TensorId>,
    /// Its outputs.
    pub(crate) outputs: Vec<Use>,
    pub(crate) file: FileId,
    /// Repeated definitions of a name: rule E-DUP.
    pub(crate) duplicates: Vec<(Span, TensorId)>,
    names: FxHashMap<String, TensorId>,
}

impl Network {
    /// An empty network.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Network { name: name.into(), ..Self::default() }
    }

    /// The tensor with a name, defined or not.
    pub(crate) fn tensor(&mut self, name: &str) -> TensorId {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let id = TensorId(self.tensors.len() as u32);
        self.tensors.push(TensorInfo { name: name.to_owned(), origin: TensorSource::Undefined, at: Span::default() });
        self.names.insert(name.to_owned(), id);
        id
    }

    /// Defines a tensor. A second definition of a name is recorded as a duplicate and defines another tensor.
    pub(crate) fn define(&mut self, name: &str, origin: TensorSource, at: Span) -> TensorId {
        let mut id = self.tensor(name);
        if !matches!(self.tensors[id.index()].origin, TensorSource::Undefined) {
            self.duplicates.push((at, id));
            id = TensorId(self.tensors.len() as u32);
            self.tensors.push(TensorInfo { name: name.to_owned(), origin: TensorSource::Undefined, at });
        }
        let info = &mut self.tensors[id.index()];
        (info.origin, info.at) = (origin, at);
        id
    }

    pub(crate) fn push(&mut self, name: Option<&str>, kind: LayerKind, at: Span) -> Option<TensorId> {
        let id = LayerId(self.layers.len() as u32);
        if let Some(of) = kind.boundary() {
            self.loops[of.index()].layers.push(id);
        }
        let output = name.map(|name| self.define(name, TensorSource::Layer(id), at));
        self.layers.push(Layer { kind, output, at });
        output
    }

    /// Adds a loop.
    pub(crate) fn add_loop(&mut self, name: &str) -> LoopId {
        self.loops.push(Loop { name: name.to_owned(), layers: Vec::new() });
        LoopId(self.loops.len() as u32 - 1)
    }

    /// The inputs with their declared types.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (TensorId, &StaticType)> {
        self.inputs.iter().filter_map(|&input| match &self.tensors[input.index()].origin {
            TensorSource::Input(ty) => Some((input, ty)),
            _ => None,
        })
    }

    /// The names of the inputs, with the types of their items.
    pub(crate) fn typed_inputs(&self) -> Vec<(String, Option<DType>)> {
        self.declared().map(|(input, of)| (self.name_of(input).to_owned(), Some(of.dtype))).collect()
    }

    /// The declared type of an input.
    pub(crate) fn input_type(&self, name: &str) -> Option<&StaticType> {
        self.declared().find(|(input, _)| self.name_of(*input) == name).map(|(_, ty)| ty)
    }

    /// A tensor's name.
    pub(crate) fn name_of(&self, tensor: TensorId) -> &str {
        &self.tensors[tensor.index()].name
    }

    /// A layer.
    pub(crate) fn layer(&self, id: LayerId) -> &Layer {
        &self.layers[id.index()]
    }

    /// The location of a loop: that of its first layer.
    pub(crate) fn place(&self, of: LoopId) -> Span {
        let first = self.loops[of.index()].layers.first();
        first.map_or(Span::default(), |&layer| self.layer(layer).at)
    }

    /// The layer that defines a tensor.
    pub(crate) fn producer(&self, tensor: TensorId) -> Option<&Layer> {
        match self.tensors[tensor.index()].origin {
            TensorSource::Layer(layer) => Some(self.layer(layer)),
            _ => None,
        }
    }

    /// Visits a tensor and, recursively, the operands of the operations that compute it, while `visit` returns true.
    pub(crate) fn walk_back(&self, start: TensorId, mut visit: impl FnMut(TensorId) -> bool) {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![start];
        while let Some(tensor) = waiting.pop() {
            if !seen.insert(tensor) || !visit(tensor) {
                continue;
            }
            if let Some(LayerKind::Operation { inputs, .. }) = self.producer(tensor).map(|layer| &layer.kind) {
                waiting.extend(inputs.iter().map(|input| input.tensor));
            }
        }
    }

    pub(crate) fn location(&self, at: Span) -> Location {
        Location::new(self.file, at)
    }
}
