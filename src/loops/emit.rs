//! Building flat graphs: the only module of `loops` that adds operations to a graph.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::network::{Network, TensorId};
use super::site::{ComputationError, Computed, Site};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, too_many};
use crate::graph::constant::{bits, items, primitive};
use crate::graph::names::NameId;
use crate::graph::standard::{CONSTANT, COPY};
use crate::graph::{self, Extent, Graph, Shape, Value, prune};
use crate::library::build::{Builder, Results, Unknown};
use crate::library::identifier::identifier;
use crate::source::Span;
use crate::tensor::{DType, Dims, Tensor};

/// A tensor of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    /// The tensor.
    pub(crate) id: graph::TensorId,
    /// The type of its elements in the network, not in NNEF.
    pub(crate) dtype: DType,
    /// Its extents.
    pub(crate) shape: Dims,
}

impl From<&Flat> for Value {
    fn from(flat: &Flat) -> Value {
        Value::Tensor(flat.id)
    }
}

/// The source location and name of a layer, for messages.
pub(crate) type LayerPlace<'a> = (Span, &'a str);

/// Constants up to this size are shared if their elements are equal, larger ones if their address is.
const SMALL: usize = 64;

/// The key by which constants are shared.
#[derive(PartialEq, Eq, Hash)]
enum ConstantKey {
    Elements(DType, Dims, Vec<u64>),
    Place(*const Tensor, Dims),
}

/// Builds a graph.
pub(crate) struct Emitter<'n> {
    net: &'n Network,
    builder: Builder,
    /// The names of the network's tensors.
    tensors: Vec<NameId>,
    /// The names of loops, for results at boundary layers without an output tensor.
    loops: Vec<NameId>,
    /// The constants added so far, kept alive so that their addresses remain unique.
    constants: FxHashMap<ConstantKey, (Arc<Tensor>, Flat)>,
    /// The names of outputs so far.
    outputs: FxHashSet<NameId>,
    max_ops: u64,
}

/// Extents, axes or indices as an attribute.
pub(crate) fn integers(items: &[usize]) -> Value {
    Value::Integers(items.iter().map(|&item| item as i64).collect())
}

impl<'n> Emitter<'n> {
    /// An emitter of an empty graph, with a name for each tensor and loop of the network.
    pub(crate) fn new(net: &'n Network, max_ops: u64, diagnostics: &mut Diagnostics) -> Self {
        let mut emitter = Emitter {
            net,
            builder: Builder::new(&net.name),
            tensors: Vec::with_capacity(net.tensors.len()),
            loops: Vec::new(),
            constants: FxHashMap::default(),
            outputs: FxHashSet::default(),
            max_ops,
        };
        let outputs = net.outputs.iter().map(|output| output.tensor);
        let boundary: FxHashSet<TensorId> = net.inputs.iter().copied().chain(outputs).collect();
        for (i, info) in net.tensors.iter().enumerate() {
            let spelled = identifier(&info.name);
            if spelled != info.name && boundary.contains(&TensorId(i as u32)) {
                let message = format!("`{}` is not a name of NNEF 1.0; it becomes `{spelled}`", info.name);
                diagnostics.report(Diagnostic::new(Code::RespelledName, net.location(info.at), message));
            }
            let name = match spelled == info.name {
                true => emitter.builder.name(&spelled),
                false => emitter.under(NameId::ROOT, &spelled),
            };
            emitter.tensors.push(name);
        }
        emitter.loops = net.loops.iter().map(|of| emitter.under(NameId::ROOT, &identifier(&of.name))).collect();
        emitter
    }

    /// The name of a tensor of the network outside of all loops.
    pub(crate) fn root(&self, tensor: TensorId) -> NameId {
        self.tensors[tensor.index()]
    }

    /// The name of an emission at a site: that of the layer, followed by the numbers of the `depth` outermost trips.
    pub(crate) fn name(&mut self, site: &Site, depth: usize) -> NameId {
        let layer = site.net.layer(site.layer);
        let mut name = match (layer.output, layer.kind.boundary()) {
            (Some(output), _) => self.root(output),
            (None, of) => of.map_or(NameId::ROOT, |of| self.loops[of.index()]),
        };
        for (_, trip) in site.trips.iter().take(depth) {
            name = self.under(name, &trip.to_string());
        }
        name
    }

    /// A name followed by a word or a number.
    pub(crate) fn under(&mut self, name: NameId, word: &str) -> NameId {
        self.builder.under(name, word)
    }

    /// The name of a tensor of the graph.
    pub(crate) fn name_of(&self, tensor: &Flat) -> NameId {
        self.builder.graph.tensors[tensor.id.index()].name
    }

    /// Whether no item of a tensor can be negative or -0.
    pub(crate) fn never_negative(&self, tensor: &Flat) -> bool {
        self.builder.graph.never_negative(tensor.id)
    }

    /// Fails if an operation with a result of this shape must not be added; otherwise makes this place the source
    /// location of the next operations.
    fn allow(&mut self, (at, name): LayerPlace, shape: &[usize]) -> Computed<()> {
        if self.builder.graph.operations.len() as u64 >= self.max_ops {
            let message = too_many("the flat graph", self.max_ops, "operations");
            return Err(ComputationError::new(Code::OperationBudget, at, message));
        }
        if shape.contains(&0) {
            let message = format!("`{name}` is empty, and NNEF 1.0 has no empty tensors");
            return Err(ComputationError::new(Code::NotFlattenable, at, message));
        }
        self.builder.come_from(self.net.location(at));
        Ok(())
    }

    /// Adds an operation with arguments by position. Its results, single or an array, all have one type.
    pub(crate) fn emit_all(
        &mut self,
        place: LayerPlace,
        operation: &'static str,
        arguments: impl IntoIterator<Item = impl Into<Option<Value>>>,
        (dtype, shape): (DType, &[usize]),
        (names, array): (&[NameId], bool),
    ) -> Computed<Vec<Flat>> {
        self.allow(place, shape)?;
        let extents: SmallVec<[Extent; 8]> = shape.iter().map(|&extent| Extent::new(extent as i64)).collect();
        let extents = Some(Shape::new(&extents));
        let results: SmallVec<[_; 1]> = names.iter().map(|&name| (name, extents.clone())).collect();
        let results = if array { Results::Array(&results) } else { Results::Each(&results) };
        let made = self.builder.add(operation, Some(primitive(dtype)), arguments, results);
        let made = made.map_err(|unknown| missing(place, unknown))?;
        Ok(made.into_iter().map(|id| Flat { id, dtype, shape: shape.into() }).collect())
    }

    /// Adds an operation with one result.
    pub(crate) fn emit(
        &mut self,
        place: LayerPlace,
        operation: &'static str,
        arguments: impl IntoIterator<Item = impl Into<Option<Value>>>,
        result: (DType, &[usize]),
        name: NameId,
    ) -> Computed<Flat> {
        let made = self.emit_all(place, operation, arguments, result, (&[name], false))?;
        let nothing = || ComputationError::new(Code::NotFlattenable, place.0, format!("`{operation}` has no results"));
        made.into_iter().next().ok_or_else(nothing)
    }

    /// Adds an input.
    pub(crate) fn external(&mut self, tensor: TensorId, dtype: DType, shape: &[usize]) -> Computed<Flat> {
        let info = &self.net.tensors[tensor.index()];
        let name = self.root(tensor);
        self.allow((info.at, &info.name), shape)?;
        let extents: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
        let input = self.builder.input(primitive(dtype), name, &extents);
        let id = input.map_err(|unknown| missing((info.at, &info.name), unknown))?;
        Ok(Flat { id, dtype, shape: shape.into() })
    }

    /// A constant tensor with these items and this shape. Equal constants without a name share one tensor.
    pub(crate) fn constant(
        &mut self,
        place: LayerPlace,
        value: &Arc<Tensor>,
        shape: &[usize],
        name: Option<NameId>,
    ) -> Computed<Flat> {
        let data = value.data();
        let key = name.is_none().then(|| match data.len() {
            0..=SMALL => {
                let elements = (0..data.len()).map(|i| bits(data, i)).collect();
                ConstantKey::Elements(value.dtype(), shape.into(), elements)
            }
            _ => ConstantKey::Place(Arc::as_ptr(value), shape.into()),
        });
        if let Some((_, known)) = key.as_ref().and_then(|key| self.constants.get(key)) {
            return Ok(known.clone());
        }
        let Some(items) = items(data) else {
            let message = format!("`{}`: NNEF 1.0 cannot write infinities and NaN", place.1);
            return Err(ComputationError::new(Code::NotFlattenable, place.0, message));
        };
        let own = name.unwrap_or_else(|| self.under(NameId::ROOT, "constant"));
        let flat = self.emit(place, CONSTANT, [integers(shape), items], (value.dtype(), shape), own)?;
        if let Some(key) = key {
            self.constants.insert(key, (Arc::clone(value), flat.clone()));
        }
        Ok(flat)
    }

    /// Makes a tensor an output of the graph with this name. In NNEF an input cannot be an output, nor can an
    /// output be listed twice: then a copy with another name becomes the output.
    pub(crate) fn output(&mut self, place: LayerPlace, flat: &Flat, name: NameId) -> Computed<()> {
        let is_named = self.name_of(flat) == name;
        let own = if is_named || !self.outputs.insert(name) { self.under(name, COPY) } else { name };
        self.allow(place, &flat.shape)?;
        self.builder.output(flat.id, own, !is_named).map_err(|unknown| missing(place, unknown))
    }

    /// The finished graph.
    pub(crate) fn finish(self) -> Computed<Graph> {
        let mut graph = self.builder.finish().map_err(|unknown| missing((Span::default(), ""), unknown))?;
        let inputs = graph.inputs.clone();
        // Unused inputs are kept: pruning treats them as outputs.
        graph.outputs.extend(&inputs);
        prune::prune(&mut graph);
        graph.outputs.truncate(graph.outputs.len() - inputs.len());
        graph.finish_names();
        Ok(graph)
    }
}

/// The failure of a layer that needs an operation that NNEF 1.0 does not have.
fn missing((at, name): LayerPlace, Unknown(operation): Unknown) -> Arc<ComputationError> {
    let message = format!("NNEF 1.0 has no `{operation}`, as `{name}` needs");
    ComputationError::new(Code::NotFlattenable, at, message)
}
