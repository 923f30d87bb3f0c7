//! The internal form of loops: tensors, layers and the four boundary layers, after TensorRT.
//!
//! A network is built by calls ([`Network::input`] and so on) or read from JSON
//! ([`super::read`]). Building checks nothing; [`super::check`] knows the rules.

use rustc_hash::FxHashMap;

use super::ops::{Attributes, Op};
use crate::source::{FileId, Location, Span};
use crate::tensor::{self, DType, Tensor};

/// The most elements of a tensor.
pub(super) const MAX_ELEMENTS: usize = 1 << 28;

/// How many elements a shape has; none where that is too many, or where there are too many axes.
pub(super) fn volume(shape: &[usize]) -> Option<usize> {
    // An extent of 0 must not hide others whose product is too large.
    let full = shape.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent.max(1)));
    let fits = full.is_some_and(|full| full <= MAX_ELEMENTS) && shape.len() <= tensor::MAX_RANK;
    fits.then(|| tensor::volume(shape)).flatten()
}

/// Identifies a tensor of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub(crate) u32);

/// Identifies a layer of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayerId(pub(crate) u32);

/// Identifies a loop of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub(crate) u32);

macro_rules! indexed {
    ($($id:ident),*) => {
        $(impl $id {
            /// The position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(crate) fn at(index: usize) -> Self {
                $id(index as u32)
            }
        })*
    };
}
indexed!(TensorId, LayerId, LoopId);

/// What a tensor is known to be before anything runs: an extent may be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub dims: Vec<Option<usize>>,
}

impl Type {
    /// A type of which everything is known.
    pub fn of(tensor: &Tensor) -> Type {
        Type { dtype: tensor.dtype(), dims: tensor.shape().iter().map(|&extent| Some(extent)).collect() }
    }

    /// Whether a tensor may have this type.
    pub fn admits(&self, other: &Type) -> bool {
        self.dtype == other.dtype && self.fits(other)
    }

    /// Whether the extents that both know are equal.
    pub fn fits(&self, other: &Type) -> bool {
        let agree = |(a, b): (&Option<usize>, &Option<usize>)| a.is_none() || b.is_none() || a == b;
        self.dims.len() == other.dims.len() && self.dims.iter().zip(&other.dims).all(agree)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (i, extent) in self.dims.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match extent {
                Some(extent) => write!(f, "{comma}{extent}")?,
                None => write!(f, "{comma}?")?,
            }
        }
        f.write_str("]")
    }
}

/// Where a tensor comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// An input of the network.
    Input(Type),
    /// A constant.
    Constant(std::sync::Arc<Tensor>),
    /// A layer.
    Layer(LayerId),
    /// Nowhere: it is used and never defined.
    Undefined,
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Where that stands.
    pub at: Span,
}

/// A use of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The tensor.
    pub tensor: TensorId,
    /// Where it is named.
    pub at: Span,
}

impl From<TensorId> for Use {
    fn from(tensor: TensorId) -> Use {
        Use { tensor, at: Span::default() }
    }
}

/// The kinds of trip limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// As many trips as the input says.
    Count,
    /// As long as the input is true, tested before each trip.
    While,
}

/// The kinds of loop outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The value of a recurrence after the last trip.
    LastValue,
    /// The values of all trips along a new axis.
    Concatenate,
    /// The same, the last trip first.
    Reverse,
}

/// What a layer does.
#[derive(Clone, Debug)]
pub enum LayerKind {
    /// Limits the trips of a loop.
    TripLimit {
        /// The loop.
        of: LoopId,
        /// By what.
        limit: Limit,
        /// The count or condition.
        input: Use,
    },
    /// Gives each trip its part of a tensor.
    Iterator {
        /// The loop.
        of: LoopId,
        /// The tensor.
        input: Use,
        /// The axis along which it is cut.
        axis: i64,
        /// Whether from the last trip's part to the first.
        reverse: bool,
    },
    /// Carries a value from trip to trip.
    Recurrence {
        /// The loop.
        of: LoopId,
        /// The value in the first trip.
        initial: Option<Use>,
        /// What becomes the value in the next trip.
        next: Option<Use>,
    },
    /// Brings a value out of a loop.
    LoopOutput {
        /// The loop.
        of: LoopId,
        /// Which value.
        kind: Output,
        /// The value inside.
        input: Use,
        /// The place of the new axis.
        axis: i64,
        /// The extent of the new axis.
        length: Option<Use>,
    },
    /// Computes.
    Operation {
        /// What.
        op: Op,
        /// Of what.
        inputs: Vec<Use>,
        /// How.
        attributes: Box<Attributes>,
    },
}

impl LayerKind {
    /// The loop whose boundary it is at.
    pub fn boundary(&self) -> Option<LoopId> {
        match self {
            LayerKind::TripLimit { of, .. }
            | LayerKind::Iterator { of, .. }
            | LayerKind::Recurrence { of, .. }
            | LayerKind::LoopOutput { of, .. } => Some(*of),
            LayerKind::Operation { .. } => None,
        }
    }

    /// What it uses; with `next` of recurrences only if asked for.
    pub fn inputs(&self, back: bool) -> impl Iterator<Item = Use> {
        let (few, many): ([Option<Use>; 2], &[Use]) = match self {
            LayerKind::TripLimit { input, .. } | LayerKind::Iterator { input, .. } => ([Some(*input), None], &[]),
            LayerKind::Recurrence { initial, next, .. } => ([*initial, next.filter(|_| back)], &[]),
            LayerKind::LoopOutput { input, length, .. } => ([Some(*input), *length], &[]),
            LayerKind::Operation { inputs, .. } => ([None, None], inputs),
        };
        few.into_iter().flatten().chain(many.iter().copied())
    }
}

/// A layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// What it does.
    pub kind: LayerKind,
    /// What it gives; trip limits give nothing.
    pub output: Option<TensorId>,
    /// Where it stands.
    pub at: Span,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its name.
    pub name: String,
    /// Its boundary layers.
    pub layers: Vec<LayerId>,
}

/// A network with loops.
///
/// ```
/// use nnef_flatten::loops::{self, Data, DType, Limit, Network, Op, Output, Tensor};
///
/// // for (i = j; …; i += k), five times.
/// let mut net = Network::new("steps");
/// let j = net.input("j", DType::Int32, &[]);
/// let k = net.input("k", DType::Int32, &[]);
/// let five = net.constant("n", Tensor::scalar(Data::Int32(vec![5])).unwrap());
/// let body = net.add_loop("L");
/// net.trip_limit(body, Limit::Count, five);
/// let i = net.recurrence(body, "i", j);
/// let next = net.operation("next", Op::find("add").unwrap(), &[i, k]);
/// net.set_next(i, next);
/// let last = net.loop_output(body, "last", Output::LastValue, i, 0);
/// net.mark_output(last);
///
/// let number = |x| Tensor::scalar(Data::Int32(vec![x])).unwrap();
/// let inputs = [("j".to_owned(), number(3)), ("k".to_owned(), number(4))];
/// let found = loops::evaluate(&net, inputs, &Default::default()).unwrap();
/// assert_eq!(found.outputs, [("last".to_owned(), number(23))]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Its tensors.
    pub tensors: Vec<TensorInfo>,
    /// Its layers.
    pub layers: Vec<Layer>,
    /// Its loops.
    pub loops: Vec<Loop>,
    /// Its inputs.
    pub inputs: Vec<TensorId>,
    /// Its outputs.
    pub outputs: Vec<Use>,
    pub(crate) file: FileId,
    /// Definitions of names that were defined already: rule E-DUP.
    pub(crate) duplicates: Vec<(Span, TensorId)>,
    names: FxHashMap<String, TensorId>,
}

impl Network {
    /// An empty network.
    pub fn new(name: impl Into<String>) -> Self {
        Network { name: name.into(), ..Self::default() }
    }

    /// The tensor of a name, defined or not.
    pub fn tensor(&mut self, name: &str) -> TensorId {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let id = TensorId::at(self.tensors.len());
        self.tensors.push(TensorInfo { name: name.to_owned(), origin: Origin::Undefined, at: Span::default() });
        self.names.insert(name.to_owned(), id);
        id
    }

    /// Defines a tensor. A second definition of a name is noted, and has a tensor of its own.
    pub(crate) fn define(&mut self, name: &str, origin: Origin, at: Span) -> TensorId {
        let mut id = self.tensor(name);
        if !matches!(self.tensors[id.index()].origin, Origin::Undefined) {
            self.duplicates.push((at, id));
            id = TensorId::at(self.tensors.len());
            self.tensors.push(TensorInfo { name: name.to_owned(), origin: Origin::Undefined, at });
        }
        let info = &mut self.tensors[id.index()];
        (info.origin, info.at) = (origin, at);
        id
    }

    pub(crate) fn push(&mut self, name: Option<&str>, kind: LayerKind, at: Span) -> Option<TensorId> {
        let id = LayerId::at(self.layers.len());
        if let Some(of) = kind.boundary() {
            self.loops[of.index()].layers.push(id);
        }
        let output = name.map(|name| self.define(name, Origin::Layer(id), at));
        self.layers.push(Layer { kind, output, at });
        output
    }

    fn give(&mut self, name: &str, kind: LayerKind) -> TensorId {
        self.push(Some(name), kind, Span::default()).unwrap_or(TensorId(0))
    }

    /// Adds an input of the network. An extent of -1 is open: known when the network runs.
    pub fn input(&mut self, name: &str, dtype: DType, dims: &[i64]) -> TensorId {
        let dims = dims.iter().map(|&extent| usize::try_from(extent).ok()).collect();
        let id = self.define(name, Origin::Input(Type { dtype, dims }), Span::default());
        self.inputs.push(id);
        id
    }

    /// Adds a constant.
    pub fn constant(&mut self, name: &str, value: Tensor) -> TensorId {
        self.define(name, Origin::Constant(value.into()), Span::default())
    }

    /// Adds a loop.
    pub fn add_loop(&mut self, name: &str) -> LoopId {
        self.loops.push(Loop { name: name.to_owned(), layers: Vec::new() });
        LoopId::at(self.loops.len() - 1)
    }

    /// Adds a limit to a loop.
    pub fn trip_limit(&mut self, of: LoopId, limit: Limit, input: TensorId) {
        self.push(None, LayerKind::TripLimit { of, limit, input: input.into() }, Span::default());
    }

    /// Adds an iterator: in trip `i` it gives `input[i]` along the axis, or, reversed, `input[n-1-i]`
    /// where `n` is the count of the loop.
    pub fn iterator(&mut self, of: LoopId, name: &str, input: TensorId, axis: i64, reverse: bool) -> TensorId {
        self.give(name, LayerKind::Iterator { of, input: input.into(), axis, reverse })
    }

    /// Adds a recurrence; [`Network::set_next`] closes it.
    pub fn recurrence(&mut self, of: LoopId, name: &str, initial: TensorId) -> TensorId {
        self.give(name, LayerKind::Recurrence { of, initial: Some(initial.into()), next: None })
    }

    /// Says what a recurrence is in the next trip. Anything but a recurrence is left as it is.
    pub fn set_next(&mut self, recurrence: TensorId, value: TensorId) {
        let Origin::Layer(layer) = self.tensors[recurrence.index()].origin else { return };
        if let LayerKind::Recurrence { next, .. } = &mut self.layers[layer.index()].kind {
            *next = Some(value.into());
        }
    }

    /// Adds a loop output. All but the last value need a length: [`Network::set_length`].
    pub fn loop_output(&mut self, of: LoopId, name: &str, kind: Output, input: TensorId, axis: i64) -> TensorId {
        self.give(name, LayerKind::LoopOutput { of, kind, input: input.into(), axis, length: None })
    }

    /// Gives a loop output its length. Anything but a loop output is left as it is.
    pub fn set_length(&mut self, output: TensorId, value: TensorId) {
        let Origin::Layer(layer) = self.tensors[output.index()].origin else { return };
        if let LayerKind::LoopOutput { length, .. } = &mut self.layers[layer.index()].kind {
            *length = Some(value.into());
        }
    }

    /// Adds an operation without attributes.
    pub fn operation(&mut self, name: &str, op: Op, inputs: &[TensorId]) -> TensorId {
        self.operation_with(name, op, inputs, Attributes::default())
    }

    /// Adds an operation.
    pub fn operation_with(&mut self, name: &str, op: Op, inputs: &[TensorId], attributes: Attributes) -> TensorId {
        let inputs = inputs.iter().map(|&input| input.into()).collect();
        self.give(name, LayerKind::Operation { op, inputs, attributes: Box::new(attributes) })
    }

    /// Makes a tensor an output of the network.
    pub fn mark_output(&mut self, tensor: TensorId) {
        self.outputs.push(tensor.into());
    }

    /// The type that an input declares.
    pub fn input_type(&self, name: &str) -> Option<&Type> {
        let input = self.inputs.iter().find(|input| self.name_of(**input) == name)?;
        match &self.tensors[input.index()].origin {
            Origin::Input(ty) => Some(ty),
            _ => None,
        }
    }

    /// A tensor's name.
    pub fn name_of(&self, tensor: TensorId) -> &str {
        &self.tensors[tensor.index()].name
    }

    /// A layer.
    pub fn layer(&self, id: LayerId) -> &Layer {
        &self.layers[id.index()]
    }

    /// The layer that makes a tensor.
    pub fn producer(&self, tensor: TensorId) -> Option<&Layer> {
        match self.tensors[tensor.index()].origin {
            Origin::Layer(layer) => Some(self.layer(layer)),
            _ => None,
        }
    }

    pub(crate) fn location(&self, at: Span) -> Location {
        Location::new(self.file, at)
    }
}
