//! Building flat graphs: the one place of `loops` that knows how a graph is made.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::network::{Network, TensorId};
use super::site::{Computed, Failure, Site};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::graph::shapes::Inferred;
use crate::graph::standard::{CONSTANT, COPY, EXTERNAL, UNUSED_INPUT};
use crate::graph::{self, Argument, Extent, Graph, Key, KindId, OriginId, Output, Shape, Value, prune};
use crate::nnef::migrate::target::{Declarations, Target, identifier};
use crate::source::Span;
use crate::source::names::Names;
use crate::tensor::{DType, Data, Dims, Tensor};

/// A tensor of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    /// The tensor.
    pub(crate) id: graph::TensorId,
    /// The type of its elements, before they became those of NNEF.
    pub(crate) dtype: DType,
    /// Its extents.
    pub(crate) shape: Dims,
}

impl From<&Flat> for Value {
    fn from(flat: &Flat) -> Value {
        Value::Tensor(flat.id)
    }
}

/// A layer and its name, for messages.
pub(crate) type Place<'a> = (Span, &'a str);

/// Constants up to this size are shared by their elements, larger ones by their place in memory.
const SMALL: usize = 64;

/// What equal constants have in common.
#[derive(PartialEq, Eq, Hash)]
enum ConstantKey {
    Elements(DType, Dims, Vec<u64>),
    Place(*const Tensor, Dims),
}

/// Makes a graph.
pub(crate) struct Emitter<'n> {
    net: &'n Network,
    graph: Graph,
    declarations: Declarations<'n>,
    kinds: FxHashMap<&'static str, KindId>,
    /// The names of the network's tensors.
    tensors: Vec<NameId>,
    /// The names of loops, for what belongs to no tensor of theirs.
    loops: Vec<NameId>,
    /// The constants that were made already, kept alive so that their places stay theirs.
    constants: FxHashMap<ConstantKey, (Arc<Tensor>, Flat)>,
    /// The inputs and outputs so far.
    boundary: FxHashSet<graph::TensorId>,
    max_ops: u64,
}

/// The primitive type that stands for a type of elements.
pub(crate) fn primitive(dtype: DType) -> Primitive {
    match dtype {
        DType::Float32 | DType::Float64 => Primitive::Scalar,
        DType::Int32 | DType::Int64 => Primitive::Integer,
        DType::Bool => Primitive::Logical,
    }
}

/// A scalar as it is written: the shortest decimal that reads back in the precision of the tensor.
pub(crate) fn scalar(data: &Data, at: usize) -> f64 {
    match data {
        Data::Float32(items) => items[at].to_string().parse().unwrap_or(f64::from(items[at])),
        other => other.float(at),
    }
}

/// Extents, axes or places as an attribute.
pub(crate) fn integers(items: &[usize]) -> Value {
    Value::Integers(items.iter().map(|&item| item as i64).collect())
}

impl<'n> Emitter<'n> {
    /// An emitter of an empty graph, with a name for each tensor and loop of the network.
    pub(crate) fn new(net: &'n Network, target: &'n Target, max_ops: u64, diagnostics: &mut Diagnostics) -> Self {
        let mut names = Names::new();
        let name = names.intern(&identifier(&net.name));
        let mut graph = Graph::new(name, Arc::new(names));
        graph.dialect = Dialect::V1;
        let mut emitter = Emitter {
            net,
            graph,
            declarations: target.declarations(),
            kinds: FxHashMap::default(),
            tensors: Vec::with_capacity(net.tensors.len()),
            loops: Vec::new(),
            constants: FxHashMap::default(),
            boundary: FxHashSet::default(),
            max_ops,
        };
        let outputs = net.outputs.iter().map(|output| output.tensor);
        let boundary: FxHashSet<TensorId> = net.inputs.iter().copied().chain(outputs).collect();
        for (i, info) in net.tensors.iter().enumerate() {
            let spelled = identifier(&info.name);
            if spelled != info.name && boundary.contains(&TensorId::at(i)) {
                let message = format!("`{}` is no name of NNEF 1.0; it becomes `{spelled}`", info.name);
                diagnostics.report(Diagnostic::new(Code::RespelledName, net.location(info.at), message));
            }
            let name = if spelled == info.name {
                let segment = emitter.graph.symbols_mut().intern(&spelled);
                emitter.graph.names.user(segment)
            } else {
                emitter.under(NameId::ROOT, &spelled)
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

    /// The name of what is made at a site, in some of the running trips.
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

    /// A name with a word or a number.
    pub(crate) fn under(&mut self, name: NameId, word: &str) -> NameId {
        let segment = self.graph.symbols_mut().intern(word);
        self.graph.names.child(name, segment, 0, false)
    }

    /// The name of a tensor of the graph.
    pub(crate) fn name_of(&self, tensor: &Flat) -> NameId {
        self.graph.tensors[tensor.id.index()].name
    }

    fn kind(&mut self, operation: &'static str) -> Option<KindId> {
        if let Some(&known) = self.kinds.get(operation) {
            return Some(known);
        }
        let kind = self.declarations.find(operation, &mut self.graph)?.kind.clone();
        let id = self.graph.add_kind(kind);
        self.kinds.insert(operation, id);
        Some(id)
    }

    /// Adds an operation with arguments by position; its results, one or an array, are all of one
    /// type.
    pub(crate) fn emit_all(
        &mut self,
        (at, name): Place,
        operation: &'static str,
        arguments: impl IntoIterator<Item = impl Into<Option<Value>>>,
        (dtype, shape): (DType, &[usize]),
        (names, array): (&[NameId], bool),
    ) -> Computed<Vec<Flat>> {
        let refuse = |code, message: String| Err(Failure::new(code, at, message));
        if self.graph.operations.len() as u64 >= self.max_ops {
            return refuse(Code::OperationBudget, format!("the flat graph has more than {} operations", self.max_ops));
        }
        if shape.contains(&0) {
            return refuse(Code::NotFlattenable, format!("`{name}` is empty, and NNEF 1.0 has no empty tensors"));
        }
        let Some(kind) = self.kind(operation) else {
            return refuse(Code::NotFlattenable, format!("NNEF 1.0 has no `{operation}`, as `{name}` needs"));
        };
        let elements = primitive(dtype);
        // What cannot be told from operands is written, unless it is the default.
        let written = matches!(operation, EXTERNAL | CONSTANT) && elements != Primitive::Scalar;
        let argument = self.graph.kinds[kind.index()].generic.then_some(elements);
        let made: Vec<Flat> = names
            .iter()
            .map(|&name| Flat { id: self.graph.add_tensor(name, Some(elements)), dtype, shape: shape.into() })
            .collect();
        let ids: SmallVec<[graph::TensorId; 4]> = made.iter().map(|flat| flat.id).collect();
        let output = if array { Output::Array(&ids) } else { Output::Tensor(&ids[0]) };
        let keyed = |(i, value)| Some(Argument { key: Key::Param(i), value: Into::<Option<Value>>::into(value)? });
        let arguments: SmallVec<[Argument; 4]> = (0..).zip(arguments).filter_map(keyed).collect();
        let source = (self.net.location(at), OriginId::NONE);
        let id = self.graph.add_operation(kind, (argument, written), arguments, &[output], source);
        let extents: SmallVec<[Extent; 8]> = shape.iter().map(|&extent| Extent::new(extent as i64)).collect();
        self.graph.set_shapes(id, Inferred::Same(Some(Shape::new(&extents))));
        Ok(made)
    }

    /// Adds an operation with one result.
    pub(crate) fn emit(
        &mut self,
        place: Place,
        operation: &'static str,
        arguments: impl IntoIterator<Item = impl Into<Option<Value>>>,
        result: (DType, &[usize]),
        name: NameId,
    ) -> Computed<Flat> {
        let made = self.emit_all(place, operation, arguments, result, (&[name], false))?;
        let nothing = || Failure::new(Code::NotFlattenable, place.0, format!("`{operation}` gives nothing"));
        made.into_iter().next().ok_or_else(nothing)
    }

    /// Adds an input.
    pub(crate) fn external(&mut self, tensor: TensorId, dtype: DType, shape: &[usize]) -> Computed<Flat> {
        let info = &self.net.tensors[tensor.index()];
        let name = self.root(tensor);
        let flat = self.emit((info.at, &info.name), EXTERNAL, [integers(shape)], (dtype, shape), name)?;
        self.graph.inputs.push(flat.id);
        self.boundary.insert(flat.id);
        Ok(flat)
    }

    /// A constant as a tensor, with its items in a shape; equal ones share it unless they are given a name.
    pub(crate) fn constant(
        &mut self,
        place: Place,
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
            return Err(Failure::new(Code::NotFlattenable, place.0, message));
        };
        let own = name.unwrap_or_else(|| self.under(NameId::ROOT, "constant"));
        let flat = self.emit(place, CONSTANT, [integers(shape), items], (value.dtype(), shape), own)?;
        if let Some(key) = key {
            self.constants.insert(key, (Arc::clone(value), flat.clone()));
        }
        Ok(flat)
    }

    /// Makes a tensor an output of the graph, under a name of its own. In NNEF inputs are no outputs, and
    /// no output is listed twice: a copy is, with a further name.
    pub(crate) fn output(&mut self, place: Place, flat: &Flat, name: NameId) -> Computed<()> {
        let output = match self.name_of(flat) == name {
            true if self.boundary.insert(flat.id) => flat.id,
            same => {
                let own = if same { self.under(name, COPY) } else { name };
                self.emit(place, COPY, [Value::from(flat)], (flat.dtype, &flat.shape), own)?.id
            }
        };
        self.graph.outputs.push(output);
        Ok(())
    }

    /// The finished graph.
    pub(crate) fn finish(mut self) -> Computed<Graph> {
        if self.graph.inputs.is_empty() {
            let name = self.under(NameId::ROOT, UNUSED_INPUT);
            let place = (Span::default(), "");
            let unused = self.emit(place, EXTERNAL, [integers(&[1])], (DType::Float32, &[1]), name)?;
            self.graph.inputs.push(unused.id);
        }
        let kept = self.graph.inputs.clone();
        // Inputs stay whether anything needs them or not; as outputs they do.
        self.graph.outputs.extend(&kept);
        prune::prune(&mut self.graph);
        let outputs = self.graph.outputs.len() - kept.len();
        self.graph.outputs.truncate(outputs);
        self.graph.finish_names();
        Ok(self.graph)
    }
}

/// An element bit by bit, so that equal ones are the same.
fn bits(data: &Data, at: usize) -> u64 {
    if data.dtype().is_integer() { data.integer(at) as u64 } else { data.float(at).to_bits() }
}

/// The elements of a constant, one where all are equal; none where NNEF 1.0 cannot write them.
fn items(data: &Data) -> Option<Value> {
    if data.dtype().is_float() && (0..data.len()).any(|i| !data.float(i).is_finite()) {
        return None;
    }
    let equal = (1..data.len()).all(|i| bits(data, i) == bits(data, 0));
    let len = if equal { data.len().min(1) } else { data.len() };
    Some(match primitive(data.dtype()) {
        Primitive::Integer => Value::Integers((0..len).map(|i| data.integer(i)).collect()),
        Primitive::Logical => Value::Array((0..len).map(|i| Value::Logical(data.float(i) != 0.0)).collect()),
        _ => Value::Scalars((0..len).map(|i| scalar(data, i)).collect()),
    })
}
