//! Building flat graphs: the one place of `loops` that knows how a graph is made.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::domain::{Failure, Site, Slot};
use super::network::{Network, TensorId};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::graph::shapes::Inferred;
use crate::graph::standard::{CONSTANT, COPY, EXTERNAL, UNUSED_INPUT};
use crate::graph::{self, Argument, Extent, Graph, Key, KindId, OriginId, Output, Shape, Value, prune};
use crate::nnef::migrate::target::{Declarations, Target, identifier};
use crate::source::names::{Name, Names};
use crate::source::{FileId, Location, Span};
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

/// What was made already.
type Constants = FxHashMap<(DType, Dims, Vec<u64>), Flat>;

/// Constants up to this size are shared by their elements, larger ones by their place in memory.
const SMALL: usize = 64;

/// Makes a graph.
pub(crate) struct Emitter<'n> {
    net: &'n Network,
    graph: Graph,
    declarations: Declarations<'n>,
    kinds: FxHashMap<&'static str, KindId>,
    /// The names of the network's tensors.
    roots: Vec<Option<NameId>>,
    /// Names for loops.
    loops: FxHashMap<usize, NameId>,
    /// The texts of numbers.
    numbers: Vec<Name>,
    constants: Constants,
    /// Large constants, kept alive so that their places stay theirs.
    places: FxHashMap<*const Tensor, (Arc<Tensor>, Flat)>,
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

impl<'n> Emitter<'n> {
    /// An emitter of an empty graph, with a name for each tensor of the network.
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
            roots: Vec::with_capacity(net.tensors.len()),
            loops: FxHashMap::default(),
            numbers: Vec::new(),
            constants: Constants::default(),
            places: FxHashMap::default(),
            max_ops,
        };
        for (i, info) in net.tensors.iter().enumerate() {
            let spelled = identifier(&info.name);
            let segment = emitter.graph.symbols_mut().intern(&spelled);
            let outer = net.inputs.contains(&TensorId::at(i)) || net.outputs.iter().any(|o| o.tensor.index() == i);
            if spelled != info.name && outer {
                let message = format!("`{}` is no name of NNEF 1.0; it becomes `{spelled}`", info.name);
                diagnostics.report(Diagnostic::new(Code::RespelledName, net.location(info.at), message));
            }
            emitter.roots.push(Some(if spelled == info.name {
                emitter.graph.names.user(segment)
            } else {
                emitter.graph.names.child(NameId::ROOT, segment, 0, false)
            }));
        }
        emitter
    }

    fn segment(&mut self, text: &str) -> Name {
        self.graph.symbols_mut().intern(text)
    }

    /// The name of a tensor of the network outside of all loops.
    pub(crate) fn root(&self, tensor: TensorId) -> NameId {
        self.roots.get(tensor.index()).copied().flatten().unwrap_or(NameId::ROOT)
    }

    /// The name of what is made at a site, in some of the running trips.
    pub(crate) fn name(&mut self, site: &Site, depth: usize) -> NameId {
        let mut name = match site.net.layer(site.layer).output {
            Some(output) => self.root(output),
            None => self.loop_name(site),
        };
        for (_, trip) in site.trips.iter().take(depth) {
            name = self.numbered(name, *trip);
        }
        name
    }

    /// The name of a loop, for what belongs to no tensor of it.
    fn loop_name(&mut self, site: &Site) -> NameId {
        let of = site.net.layer(site.layer).kind.boundary().map_or(0, |of| of.index());
        if let Some(&known) = self.loops.get(&of) {
            return known;
        }
        let text = site.net.loops.get(of).map_or(String::new(), |of| identifier(&of.name));
        let segment = self.segment(&text);
        let name = self.graph.names.child(NameId::ROOT, segment, 0, false);
        self.loops.insert(of, name);
        name
    }

    /// A name with the number of a trip.
    pub(crate) fn numbered(&mut self, name: NameId, number: u64) -> NameId {
        while self.numbers.len() as u64 <= number {
            let text = self.numbers.len().to_string();
            let segment = self.segment(&text);
            self.numbers.push(segment);
        }
        let segment = self.numbers[number as usize];
        self.graph.names.child(name, segment, 0, false)
    }

    /// A name with a word.
    pub(crate) fn under(&mut self, name: NameId, word: &str) -> NameId {
        let segment = self.segment(word);
        self.graph.names.child(name, segment, 0, false)
    }

    /// A name that stands for itself.
    pub(crate) fn fresh(&mut self, word: &str) -> NameId {
        self.under(NameId::ROOT, word)
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

    /// Emits an operation that gives several tensors of one type, as an array or alone.
    pub(crate) fn emit_all(
        &mut self,
        site: (Span, &str),
        operation: &'static str,
        arguments: Vec<(&'static str, Value)>,
        result: (DType, &[usize]),
        names: Result<NameId, Vec<NameId>>,
    ) -> Slot<Vec<Flat>> {
        let fail = |code: Code, message: String| Arc::new(Failure { code, at: site.0, message, trips: Vec::new() });
        if self.graph.operations.len() as u64 >= self.max_ops {
            return Err(fail(
                Code::OperationBudget,
                format!("the flat graph has more than {} operations", self.max_ops),
            ));
        }
        if result.1.contains(&0) {
            return Err(fail(
                Code::NotFlattenable,
                format!("`{}` is empty, and NNEF 1.0 has no empty tensors", site.1),
            ));
        }
        let Some(kind) = self.kind(operation) else {
            return Err(fail(Code::NotFlattenable, format!("NNEF 1.0 has no `{operation}`, as `{}` needs", site.1)));
        };
        let dtype = primitive(result.0);
        let declared = &self.graph.kinds[kind.index()];
        let place = |name: &str| declared.params.iter().position(|param| self.graph.text_of(param.name) == name);
        let keyed = arguments
            .into_iter()
            .map(|(name, value)| Argument { key: Key::Param(place(name).unwrap_or(0) as u32), value });
        let arguments: smallvec::SmallVec<[Argument; 4]> = keyed.collect();
        // What cannot be told from operands is written, unless it is the default.
        let told = matches!(operation, EXTERNAL | CONSTANT) && dtype != Primitive::Scalar || operation == "cast";
        let dtypes = (declared.generic.then_some(dtype), told);
        let alone = names.is_ok();
        let names = names.map_or_else(|all| all, |one| vec![one]);
        let made: Vec<Flat> = names
            .into_iter()
            .map(|name| Flat { id: self.graph.add_tensor(name, Some(dtype)), dtype: result.0, shape: result.1.into() })
            .collect();
        let ids: smallvec::SmallVec<[graph::TensorId; 4]> = made.iter().map(|flat| flat.id).collect();
        let output = if alone { Output::Tensor(&ids[0]) } else { Output::Array(&ids) };
        let at = Location::new(self.file(), site.0);
        let id = self.graph.add_operation(kind, dtypes, arguments, &[output], (at, OriginId::NONE));
        let extents: smallvec::SmallVec<[Extent; 8]> =
            result.1.iter().map(|&extent| Extent::new(extent as i64)).collect();
        self.graph.set_shapes(id, Inferred::Same(Some(Shape::new(&extents))));
        Ok(made)
    }

    fn file(&self) -> FileId {
        self.net.location(Span::default()).file
    }

    /// Emits an operation with one result.
    pub(crate) fn emit(
        &mut self,
        site: (Span, &str),
        operation: &'static str,
        arguments: Vec<(&'static str, Value)>,
        result: (DType, &[usize]),
        name: NameId,
    ) -> Slot<Flat> {
        let mut made = self.emit_all(site, operation, arguments, result, Ok(name))?;
        made.pop().ok_or_else(|| {
            let message = format!("`{operation}` gives nothing");
            Arc::new(Failure { code: Code::NotFlattenable, at: site.0, message, trips: Vec::new() })
        })
    }

    /// Emits an input.
    pub(crate) fn external(&mut self, tensor: TensorId, dtype: DType, shape: &[usize]) -> Slot<Flat> {
        let info = &self.net.tensors[tensor.index()];
        let extents: Arc<[i64]> = shape.iter().map(|&extent| extent as i64).collect();
        let arguments = vec![("shape", Value::Integers(extents))];
        let name = self.root(tensor);
        let flat = self.emit((info.at, &info.name), EXTERNAL, arguments, (dtype, shape), name)?;
        self.graph.inputs.push(flat.id);
        Ok(flat)
    }

    /// A constant as a tensor; equal ones share it unless they are given a name.
    pub(crate) fn constant(&mut self, site: (Span, &str), value: &Arc<Tensor>, name: Option<NameId>) -> Slot<Flat> {
        let data = value.data();
        let small = data.len() <= SMALL;
        let key = || {
            let bits = (0..data.len())
                .map(|i| if data.dtype().is_integer() { data.integer(i) as u64 } else { data.float(i).to_bits() });
            (value.dtype(), Dims::from(value.shape()), bits.collect())
        };
        let known = match (name, small) {
            (Some(_), _) => None,
            (None, true) => self.constants.get(&key()),
            (None, false) => self.places.get(&Arc::as_ptr(value)).map(|(_, flat)| flat),
        };
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let items = items(data).map_err(|message| {
            let message = format!("`{}`: {message}", site.1);
            Arc::new(Failure { code: Code::NotFlattenable, at: site.0, message, trips: Vec::new() })
        })?;
        let extents: Arc<[i64]> = value.shape().iter().map(|&extent| extent as i64).collect();
        let arguments = vec![("shape", Value::Integers(extents)), ("value", items)];
        let own = name.unwrap_or_else(|| self.fresh("constant"));
        let flat = self.emit(site, CONSTANT, arguments, (value.dtype(), value.shape()), own)?;
        if name.is_none() && small {
            self.constants.insert(key(), flat.clone());
        } else if name.is_none() {
            self.places.insert(Arc::as_ptr(value), (Arc::clone(value), flat.clone()));
        }
        Ok(flat)
    }

    /// Makes a tensor an output of the graph, under a name of its own.
    pub(crate) fn output(&mut self, site: (Span, &str), flat: &Flat, name: NameId) -> Slot<()> {
        let own = self.name_of(flat) == name;
        let flat = if own {
            flat.clone()
        } else {
            self.emit(site, COPY, vec![("x", Value::Tensor(flat.id))], (flat.dtype, &flat.shape), name)?
        };
        self.graph.outputs.push(flat.id);
        Ok(())
    }

    /// The finished graph.
    pub(crate) fn finish(mut self) -> Slot<Graph> {
        if self.graph.inputs.is_empty() {
            let name = self.fresh(UNUSED_INPUT);
            let arguments = vec![("shape", Value::Integers([1].into()))];
            let unused = self.emit((Span::default(), ""), EXTERNAL, arguments, (DType::Float32, &[1]), name)?;
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

/// The elements of a constant; one where all are equal.
fn items(data: &Data) -> Result<Value, String> {
    if data.dtype().is_float() && (0..data.len()).any(|i| !data.float(i).is_finite()) {
        return Err("NNEF 1.0 cannot write infinities and NaN".to_owned());
    }
    let bits = |i: usize| if data.dtype().is_integer() { data.integer(i) as u64 } else { data.float(i).to_bits() };
    let equal = (1..data.len()).all(|i| bits(i) == bits(0));
    let len = if equal { data.len().min(1) } else { data.len() };
    Ok(match primitive(data.dtype()) {
        Primitive::Integer => Value::Integers((0..len).map(|i| data.integer(i)).collect()),
        Primitive::Logical => Value::Array((0..len).map(|i| Value::Logical(data.float(i) != 0.0)).collect()),
        _ => Value::Scalars((0..len).map(|i| scalar(data, i)).collect()),
    })
}
