//! Creates the nodes and constant tensors of a model.

use std::rc::Rc;

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::lists;
use super::translated_call::{Refused, Translation};
use super::value::{Attributes, ItemType, KnownExtents, ModelValue, NnefElement, ints};
use super::walk::{bodies, each_node, each_operand};
use crate::core::budget::Memory;
use crate::dictionary::{self, ShapeRule, Vocabulary};
use crate::graph::names::NameId;
use crate::graph::{Graph, ShapeId, TensorId};
use crate::onnx::model::{
    AttributeProto, AttributeValue, EncodedField, ModelNames, NodeProto, TensorProto, Values, Wire,
};
use crate::onnx::protobuf::fields::tensor::RAW_DATA;
use crate::source::names::Name;

/// The maximum size in bytes of constant tensors that are written again with other extents.
const LONGEST_COPY: usize = 1 << 16;

/// What nodes of an operator have in common.
#[derive(Clone, Copy)]
struct NodeTemplate {
    name: Name,
    /// The last part of the names of its results.
    lower: Name,
    /// The rule for the extents of its result.
    shape: Option<ShapeRule>,
}

/// The bytes that each node takes, excluding its lists: in the list of nodes, in tables of names, and as a value.
pub(super) const NODE: usize = size_of::<NodeProto>() + size_of::<ModelValue>() + 48;

/// The nodes and constant tensors created so far.
pub(super) struct Emitter {
    pub(super) names: ModelNames,
    pub(super) nodes: Vec<NodeProto>,
    pub(super) initializers: Vec<TensorProto>,
    by_id: FxHashMap<NameId, usize>,
    constants: FxHashMap<(ItemType, Vec<i64>, Bytes), ModelValue>,
    reshaped: FxHashMap<(NameId, Vec<i64>), ModelValue>,
    lengthened: FxHashMap<(NameId, usize), ModelValue>,
    /// The extents of shapes of the graph.
    shapes: FxHashMap<ShapeId, Option<KnownExtents>>,
    /// The operators so far by name.
    operators: FxHashMap<String, NodeTemplate>,
    /// What the model takes; see [`Self::check_memory`].
    memory: Memory,
    /// Results of nodes that several operations use.
    shared: FxHashSet<NameId>,
    /// The prefix of the names of new values.
    path: NameId,
    /// The first node of the current operation.
    first: usize,
    /// The number of bodies that the current graph is in.
    nested: usize,
}

/// The state of the graph around a body.
pub(super) struct OuterGraph {
    nodes: Vec<NodeProto>,
    lengthened: FxHashMap<(NameId, usize), ModelValue>,
    shapes: FxHashMap<ShapeId, Option<KnownExtents>>,
    path: NameId,
    first: usize,
}

impl Emitter {
    pub(super) fn new(names: ModelNames, memory: Memory) -> Self {
        Emitter {
            names,
            memory,
            shapes: FxHashMap::default(),
            operators: FxHashMap::default(),
            nodes: Vec::new(),
            initializers: Vec::new(),
            by_id: FxHashMap::default(),
            constants: FxHashMap::default(),
            reshaped: FxHashMap::default(),
            lengthened: FxHashMap::default(),
            shared: FxHashSet::default(),
            path: NameId::ROOT,
            first: 0,
            nested: 0,
        }
    }

    /// Begins the graph of a body; constant tensors stay in the graph around it.
    pub(super) fn enter(&mut self) -> OuterGraph {
        self.nested = self.nested.saturating_add(1);
        OuterGraph {
            nodes: std::mem::take(&mut self.nodes),
            lengthened: std::mem::take(&mut self.lengthened),
            shapes: std::mem::take(&mut self.shapes),
            path: self.path,
            first: std::mem::take(&mut self.first),
        }
    }

    /// Ends the graph of a body, and returns its nodes.
    pub(super) fn leave(&mut self, outer: OuterGraph) -> Vec<NodeProto> {
        self.nested = self.nested.saturating_sub(1);
        (self.lengthened, self.shapes) = (outer.lengthened, outer.shapes);
        (self.path, self.first) = (outer.path, outer.first);
        std::mem::replace(&mut self.nodes, outer.nodes)
    }

    /// The number of bodies that the current graph is in.
    pub(super) fn nested(&self) -> usize {
        self.nested
    }

    /// Counts bytes that are kept in memory.
    pub(super) fn keep(&self, bytes: u64) {
        self.memory.keep(bytes);
    }

    /// The prefix of the names of new values.
    pub(super) fn path(&self) -> NameId {
        self.path
    }

    /// Fails if the model takes more memory than allowed.
    pub(super) fn check_memory(&self) -> Translation<()> {
        self.memory.check(super::limits::WHAT).map_err(|failure| Refused::memory(&failure))
    }

    /// The extents of a tensor of a graph, if the rank is known.
    pub(super) fn dims_of(&mut self, graph: &Graph, tensor: TensorId) -> Option<KnownExtents> {
        let memory = &self.memory;
        let extents = || {
            let dims: KnownExtents = graph.shape(tensor)?.extents().iter().map(|extent| extent.known()).collect();
            memory.keep(size_of_val(&*dims) as u64);
            Some(dims)
        };
        self.shapes.entry(graph.shape_id(tensor)?).or_insert_with(extents).clone()
    }

    /// Begins an operation; `path` is the name of its first result.
    pub(super) fn begin(&mut self, path: NameId) {
        (self.path, self.first) = (path, self.nodes.len());
    }

    /// Removes the nodes of the current operation.
    pub(super) fn cancel(&mut self) {
        let dropped: FxHashSet<NameId> =
            self.nodes.drain(self.first..).flat_map(|node| node.outputs.into_iter()).collect();
        self.lengthened.retain(|_, value| !dropped.contains(&value.id));
    }

    /// Ends the operation: its results get the names `targets`.
    pub(super) fn end(&mut self, results: &[ModelValue], targets: &[NameId]) {
        let mut made: FxHashSet<NameId> =
            lists::from(&self.nodes, self.first).iter().flat_map(|node| node.outputs.iter().copied()).collect();
        made.retain(|id| !self.shared.contains(id));
        let mut renamed = FxHashMap::default();
        let mut copies = Vec::new();
        for (result, &target) in results.iter().zip(targets) {
            if made.remove(&result.id) {
                renamed.insert(result.id, target);
            } else if result.id != target {
                copies.push((result.id, target));
            }
        }
        let new = |id: &mut NameId| *id = renamed.get(id).copied().unwrap_or(*id);
        for node in self.nodes.iter_mut().skip(self.first) {
            node.inputs.iter_mut().chain(&mut node.outputs).for_each(new);
            node.name.iter_mut().for_each(new);
        }
        for (from, to) in copies {
            let from = renamed.get(&from).copied().unwrap_or(from);
            let op_type = Some(self.names.texts.intern("Identity"));
            let (inputs, outputs) = (SmallVec::from_slice(&[from]), SmallVec::from_slice(&[to]));
            self.nodes.push(NodeProto { inputs, outputs, op_type, name: Some(to), ..NodeProto::default() });
        }
    }

    /// Adds a node with one result.
    pub(super) fn node(&mut self, op: &str, inputs: &[&ModelValue], attributes: Attributes) -> ModelValue {
        let dims = match self.operator(op).shape {
            Some(ShapeRule::Broadcast | ShapeRule::Sum) => dims_of(inputs),
            Some(ShapeRule::LikeFirst | ShapeRule::AlongAxes) => inputs.first().and_then(|first| first.dims.clone()),
            _ => None,
        };
        let outputs = self.outputs(op, inputs, attributes, 1);
        // A node always has the results that were asked for.
        let id = outputs.first().copied().unwrap_or(NameId::ROOT);
        ModelValue { id, element: element_of(op, inputs), dims }
    }

    fn operator(&mut self, op: &str) -> NodeTemplate {
        if let Some(known) = self.operators.get(op) {
            return *known;
        }
        let shape = dictionary::find(Vocabulary::Foreign, op).and_then(|row| row.shape);
        let (name, lower) = (self.names.texts.intern(op), self.names.texts.intern(&op.to_ascii_lowercase()));
        let operator = NodeTemplate { name, lower, shape };
        self.operators.insert(op.to_owned(), operator);
        operator
    }

    /// Adds a node with several results of the type of its first operand.
    pub(super) fn nodes(
        &mut self,
        op: &str,
        inputs: &[&ModelValue],
        attributes: Attributes,
        count: usize,
    ) -> Vec<ModelValue> {
        let element = element_of(op, inputs);
        let outputs = self.outputs(op, inputs, attributes, count);
        outputs.into_iter().map(|id| ModelValue { id, element, dims: None }).collect()
    }

    fn outputs(&mut self, op: &str, inputs: &[&ModelValue], attributes: Attributes, count: usize) -> Values {
        let NodeTemplate { name, lower, .. } = self.operator(op);
        let outputs: Values = (0..count).map(|_| self.names.values.child(self.path, lower, 0, true)).collect();
        let texts = &mut self.names.texts;
        let attributes = attributes.into_iter().map(|(name, value)| AttributeProto::new(texts, name, value)).collect();
        let node = NodeProto {
            inputs: inputs.iter().map(|input| input.id).collect(),
            outputs: outputs.clone(),
            op_type: Some(name),
            name: outputs.first().copied(),
            attributes,
            ..NodeProto::default()
        };
        self.memory.keep(NODE.saturating_add(node.heap_bytes()) as u64);
        self.nodes.push(node);
        outputs
    }

    /// Adds a constant tensor.
    pub(super) fn initializer(&mut self, id: NameId, element: NnefElement, dims: &[i64], bytes: Bytes) -> ModelValue {
        let made = self.codes(id, element.number(), dims, bytes);
        ModelValue { element, ..made }
    }

    /// Adds a constant tensor of items that need not be those of NNEF, as an operand that only suitable operators get.
    pub(super) fn codes(&mut self, id: NameId, items: ItemType, dims: &[i64], bytes: Bytes) -> ModelValue {
        let taken = bytes.len().saturating_add(size_of_val(dims)).saturating_add(NODE);
        self.memory.keep(taken as u64);
        self.by_id.insert(id, self.initializers.len());
        self.initializers.push(TensorProto {
            dims: SmallVec::from_slice(dims),
            data_type: Some(items),
            name: Some(id),
            external: Vec::new(),
            rest: Some(Box::new(vec![raw(bytes)])),
        });
        ModelValue { id, element: NnefElement::Int, dims: Some(dims.iter().copied().map(Some).collect()) }
    }

    /// A constant tensor of numbers; equal constants are shared.
    pub(super) fn constant(&mut self, what: &str, element: NnefElement, dims: &[i64], items: &[f64]) -> ModelValue {
        self.constant_of(what, element, dims, element.bytes(items))
    }

    fn constant_of(&mut self, what: &str, element: NnefElement, dims: &[i64], bytes: Vec<u8>) -> ModelValue {
        let made = self.constant_codes(what, element.number(), dims, bytes);
        ModelValue { element, ..made }
    }

    /// A constant tensor of items that need not be those of NNEF; equal constants are shared.
    pub(super) fn constant_codes(&mut self, what: &str, items: ItemType, dims: &[i64], bytes: Vec<u8>) -> ModelValue {
        let key = (items, dims.to_vec(), Bytes::from(bytes));
        if let Some(known) = self.constants.get(&key) {
            return known.clone();
        }
        let id = self.new_name(what);
        let made = self.codes(id, items, dims, key.2.clone());
        self.constants.insert(key, made.clone());
        made
    }

    /// A name that no other value has.
    pub(super) fn new_name(&mut self, what: &str) -> NameId {
        let segment = self.names.texts.intern(what);
        self.names.values.child(NameId::ROOT, segment, 0, true)
    }

    /// A number.
    pub(super) fn number(&mut self, element: NnefElement, value: f64) -> ModelValue {
        self.constant("number", element, &[], &[value])
    }

    /// An integer, exact to all 64 bits.
    pub(super) fn integer(&mut self, value: i64) -> ModelValue {
        self.constant_of("number", NnefElement::Int, &[], value.to_le_bytes().to_vec())
    }

    /// A list of integers.
    pub(super) fn list(&mut self, what: &str, items: &[i64]) -> ModelValue {
        let bytes = items.iter().flat_map(|item| item.to_le_bytes()).collect();
        self.constant_of(what, NnefElement::Int, &[items.len() as i64], bytes)
    }

    /// A copy of a constant tensor with other extents, if the value is a constant tensor and not too large.
    fn again(&mut self, value: &ModelValue, dims: &[i64]) -> Option<ModelValue> {
        let tensor = self.initializers.get(*self.by_id.get(&value.id)?)?;
        let bytes = tensor.rest.as_ref()?.first()?.bytes.held()?.clone();
        if bytes.len() > LONGEST_COPY {
            return None;
        }
        let key = (value.id, dims.to_vec());
        if let Some(known) = self.reshaped.get(&key) {
            return Some(known.clone());
        }
        let id = self.names.values.sibling(value.id);
        let made = self.initializer(id, value.element, dims, bytes);
        self.reshaped.insert(key, made.clone());
        Some(made)
    }

    /// The items of a constant tensor of floats, if the value is one and not too large.
    pub(super) fn floats(&self, value: &ModelValue) -> Option<Vec<f32>> {
        let tensor = self.initializers.get(*self.by_id.get(&value.id)?)?;
        let bytes = tensor.rest.as_ref()?.first()?.bytes.held()?;
        if value.element != NnefElement::Float || bytes.len() > LONGEST_COPY {
            return None;
        }
        Some(bytes.chunks_exact(4).filter_map(|item| Some(f32::from_le_bytes(item.try_into().ok()?))).collect())
    }

    /// Reshapes a value; one extent may be -1, and extents of 0 are copied from the value.
    pub(super) fn reshape(&mut self, value: &ModelValue, dims: &[i64]) -> ModelValue {
        if value.known().as_deref() == Some(dims) {
            return value.clone();
        }
        let known = dims.iter().all(|extent| *extent > 0);
        if let Some(again) = known.then(|| self.again(value, dims)).flatten() {
            return again;
        }
        let shape = self.list("shape", dims);
        let of = |(axis, extent): (usize, &i64)| match extent {
            0 => value.dims.as_ref().and_then(|dims| dims.get(axis).copied()).flatten(),
            extent => (*extent > 0).then_some(*extent),
        };
        let extents: KnownExtents = dims.iter().enumerate().map(of).collect();
        self.node("Reshape", &[value, &shape], Vec::new()).shaped(extents)
    }

    /// Adds trailing axes of extent 1 to a value: NNEF aligns first axes, ONNX last ones.
    pub(super) fn lengthen(&mut self, value: &ModelValue, rank: usize) -> ModelValue {
        let Some(dims) = value.dims.clone().filter(|dims| dims.len() < rank && !dims.is_empty()) else {
            return value.clone();
        };
        if let Some(known) = self.lengthened.get(&(value.id, rank)) {
            return known.clone();
        }
        let all = dims.iter().copied().chain(std::iter::repeat(Some(1))).take(rank).collect::<KnownExtents>();
        let known: Option<Vec<i64>> = all.iter().copied().collect();
        let again = known.and_then(|known| self.again(value, &known));
        let made = again.unwrap_or_else(|| {
            let axes: Vec<i64> = (dims.len() as i64..rank as i64).collect();
            let made = self.unsqueeze(value, &axes);
            self.shared.insert(made.id);
            made
        });
        let made = made.shaped(all);
        self.lengthened.insert((value.id, rank), made.clone());
        made
    }

    /// Adds axes of extent 1 to a value; `axes` are positions in the result in ascending order.
    pub(super) fn unsqueeze(&mut self, value: &ModelValue, axes: &[i64]) -> ModelValue {
        let places = self.list("axes", axes);
        let made = self.node("Unsqueeze", &[value, &places], Vec::new());
        let dims = value.dims.as_ref().map(|dims| {
            let (mut rest, mut new) = (dims.iter().copied(), axes.iter().copied().peekable());
            let mut at = -1;
            let all = std::iter::from_fn(|| {
                at = i64::saturating_add(at, 1);
                if new.next_if(|axis| *axis <= at).is_some() {
                    return Some(Some(1));
                }
                // Axes beyond the end follow the last one.
                rest.next().or_else(|| new.next().map(|_| Some(1)))
            });
            all.collect()
        });
        ModelValue { dims, ..made }
    }

    /// Transposes a value.
    pub(super) fn transpose(&mut self, value: &ModelValue, order: &[usize]) -> ModelValue {
        if order.iter().copied().eq(0..order.len()) {
            return value.clone();
        }
        let dims = value.dims.as_ref().map(|dims| order.iter().map(|&axis| lists::known_at(dims, axis)).collect());
        let made = self.node("Transpose", &[value], vec![("perm", ints(order.iter().map(|&axis| axis as i64)))]);
        ModelValue { dims, ..made }
    }

    /// Converts a value to another element type.
    pub(super) fn cast(&mut self, value: &ModelValue, element: NnefElement) -> ModelValue {
        if value.element == element {
            return value.clone();
        }
        let made = self.node("Cast", &[value], vec![("to", AttributeValue::Int(element.number().into()))]);
        ModelValue { element, dims: value.dims.clone(), ..made }
    }

    /// Removes unused constant tensors, and marks all remaining names as used.
    ///
    /// # Errors
    ///
    /// The model takes more memory than allowed.
    pub(super) fn finish(&mut self, used: impl IntoIterator<Item = NameId>) -> Translation<()> {
        let mut used: FxHashSet<NameId> = used.into_iter().collect();
        each_node(&self.nodes, &mut |node| used.extend(node.inputs.iter().copied()));
        self.initializers.retain(|tensor| tensor.name.is_some_and(|name| used.contains(&name)));
        // If only a copy with other extents is left of a constant tensor, the copy gets the name.
        let left: FxHashSet<NameId> = self.initializers.iter().filter_map(|tensor| tensor.name).collect();
        let mut moved = FxHashMap::default();
        let mut forms: Vec<_> = self.reshaped.iter().map(|((from, _), to)| (*from, to.id)).collect();
        forms.sort_by_key(|(_, to)| to.index());
        let mut taken = FxHashSet::default();
        for (from, to) in forms {
            if left.contains(&to) && !left.contains(&from) && taken.insert(from) {
                moved.insert(to, from);
            }
        }
        let new = |id: &mut NameId| *id = moved.get(id).copied().unwrap_or(*id);
        self.initializers.iter_mut().for_each(|tensor| tensor.name.iter_mut().for_each(new));
        each_operand(&mut self.nodes, &new);
        let mut names: Vec<NameId> = self.initializers.iter().filter_map(|tensor| tensor.name).collect();
        each_node(&self.nodes, &mut |node| {
            names.extend(&node.outputs);
            names.extend(bodies(node).flat_map(|body| body.inputs.iter().filter_map(|input| input.name)));
        });
        names.into_iter().for_each(|name| self.names.values.mark_used(name));
        self.names.values.resolve(&self.names.texts, &Default::default());
        self.memory.keep(self.written());
        self.check_memory()
    }

    /// About the bytes of the nodes when they are written, most of which are names.
    fn written(&self) -> u64 {
        let lengths = self.names.values.lengths(&self.names.texts);
        let length = |id: &NameId| lengths.get(id.index()).map_or(0, |length| u64::from(*length).saturating_add(3));
        let of = |node: &NodeProto| {
            let names: u64 = node.inputs.iter().chain(&node.outputs).chain(&node.name).map(length).sum();
            names.saturating_add(node.heap_bytes() as u64).saturating_add(16)
        };
        let mut all = 0_u64;
        each_node(&self.nodes, &mut |node| all = all.saturating_add(of(node)));
        all
    }
}

/// Elements as a field of a constant tensor.
pub(super) fn raw(bytes: Bytes) -> EncodedField {
    EncodedField { number: RAW_DATA, wire: Wire::Bytes, bytes: bytes.into() }
}

/// The element type of the result of an operator.
fn element_of(op: &str, inputs: &[&ModelValue]) -> NnefElement {
    let of = |i: usize| inputs.get(i).map_or(NnefElement::Float, |value| value.element);
    match op {
        "Less" | "LessOrEqual" | "Greater" | "GreaterOrEqual" | "Equal" | "Not" | "And" | "Or" | "Xor" | "IsNaN"
        | "IsInf" => NnefElement::Bool,
        "ArgMax" | "ArgMin" | "Shape" | "NonZero" => NnefElement::Int,
        "Where" => of(1),
        "DequantizeLinear" => NnefElement::Float,
        _ => of(0),
    }
}

/// The extents of the result of an element-wise operator.
fn dims_of(inputs: &[&ModelValue]) -> Option<KnownExtents> {
    let dims = inputs.iter().map(|value| value.dims.as_ref()).collect::<Option<Vec<&KnownExtents>>>()?;
    if let Some(same) = shared(dims.iter().copied()) {
        return Some(same);
    }
    let rank = dims.iter().map(|dims| dims.len()).max()?;
    let mut common = vec![Some(1); rank];
    for dims in dims {
        for (so_far, extent) in common.iter_mut().skip(rank.saturating_sub(dims.len())).zip(dims.iter().copied()) {
            *so_far = match (*so_far, extent) {
                (Some(1), other) | (other, Some(1)) => other,
                (one, other) => one.or(other),
            };
        }
    }
    Some(common.into())
}

/// The extents that operands share, beside operands of rank 0: then they need not be compared one by one.
pub(super) fn shared<'d>(dims: impl Iterator<Item = &'d KnownExtents> + Clone) -> Option<KnownExtents> {
    let mut large = dims.clone().filter(|dims| !dims.is_empty());
    let Some(first) = large.next() else { return dims.into_iter().next().cloned() };
    large.all(|other| Rc::ptr_eq(first, other)).then(|| Rc::clone(first))
}
