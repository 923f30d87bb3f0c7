//! Adds operations to the graph, and constants where operations need them.

use rustc_hash::FxHashMap;

use super::item::{FlatTensor, KnownItems, KnownTensor, NnefItem, counts, primitive};
use super::refusal::{Lowered, NodeRefusal};
use super::variables::{NnefVariables, stored_form};
use crate::Options;
use crate::diagnostics::too_many;
use crate::eval::Budget;
use crate::graph::names::NameId;
use crate::graph::standard::{CONSTANT, VARIABLE};
use crate::graph::{Operand, Shape, TensorId, Value, constant};
use crate::library::assembly::Assembly;
pub(super) use crate::library::assembly::{integers, pairs};
use crate::library::build::{Builder, Results};
use crate::library::distinct::Distinct;
use crate::library::identifier::identifier;
use crate::source::Location;
use crate::tensor::{DType, Data, Tensor};

/// The number of items up to which a constant is written into the text of the graph.
const SHORT: usize = 8;

/// The refusal of tensors that NNEF does not have.
pub(super) const EMPTY: NodeRefusal = NodeRefusal::because("NNEF has no tensors without items");

/// Adds operations to a graph.
pub(super) struct Emitter<'o> {
    pub(super) builder: Builder,
    pub(super) options: &'o Options,
    /// What is made of extents counts here: these are not memory before.
    budget: &'o Budget,
    /// The data of variables.
    pub(super) variables: NnefVariables,
    names: Distinct,
    labels: Distinct,
    /// Tensors that nothing may use any more.
    pub(super) droppable: Vec<TensorId>,
    /// Tensors with leading axes that were added, by tensor and rank.
    raised: FxHashMap<(TensorId, usize), FlatTensor>,
    /// The name under which the operations of a node get theirs, and how many of each kind it has.
    scope: NameId,
    counts: FxHashMap<&'static str, u32>,
}

/// Axes as an attribute.
pub(super) fn listed(axes: &[usize]) -> Value {
    integers(axes.iter().map(|axis| *axis as i64))
}

/// A text as an attribute.
pub(super) fn text(text: &str) -> Value {
    Value::String(text.into())
}

/// The number that is written for an item: of a float of fewer than 64 bits the shortest one that is read as this float,
/// of others the item itself.
pub(super) fn shortest(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::Float64 => value,
        dtype if dtype.is_float() => constant::shortest(value as f32),
        _ => value,
    }
}

impl<'o> Emitter<'o> {
    pub(super) fn new(registries: bool, budget: &'o Budget, options: &'o Options) -> Self {
        let builder = if registries { Builder::with_registries("model") } else { Builder::new("model") };
        Emitter {
            builder,
            options,
            budget,
            variables: NnefVariables::default(),
            names: Distinct::default(),
            labels: Distinct::default(),
            droppable: Vec::new(),
            raised: FxHashMap::default(),
            scope: NameId::ROOT,
            counts: FxHashMap::default(),
        }
    }

    /// Begins the operations of a node, whose first result has this name.
    pub(super) fn begin(&mut self, scope: NameId, at: Location) {
        self.builder.come_from(at);
        self.scope = scope;
        self.counts.clear();
    }

    /// The name of a value of the model as a name of the graph that no other value has.
    pub(super) fn named(&mut self, text: &str) -> NameId {
        let text = self.names.add(&identifier(text), false);
        self.builder.name(&text)
    }

    fn fresh(&mut self, word: &'static str) -> NameId {
        let count = self.counts.entry(word).or_default();
        *count = count.saturating_add(1);
        self.builder.numbered(self.scope, word, *count)
    }

    /// The operand of the operation that makes a tensor, if it has this kind and no other operand.
    pub(super) fn only_operand(&self, of: FlatTensor, kind: &str) -> Option<TensorId> {
        let producer = self.builder.graph.producer(of.id).filter(|producer| producer.name() == kind)?;
        match producer.inputs()[..] {
            [(_, Operand::Tensor(operand))] => Some(operand),
            _ => None,
        }
    }

    /// The tensor and the number that a tensor is a product of.
    pub(super) fn multiple(&self, of: TensorId) -> Option<(TensorId, f64)> {
        let producer = self.builder.graph.producer(of).filter(|producer| producer.name() == "mul")?;
        match producer.inputs()[..] {
            [(_, Operand::Tensor(tensor)), (_, Operand::Value(Value::Scalar(number)))]
            | [(_, Operand::Value(Value::Scalar(number))), (_, Operand::Tensor(tensor))] => Some((tensor, *number)),
            _ => None,
        }
    }

    /// Whether operations are written that differ where the row of an operator says.
    pub(super) fn is_plain(&self) -> bool {
        !self.options.strict
    }

    /// Whether the document may name registries.
    pub(super) fn has_registries(&self) -> bool {
        self.builder.has_registries()
    }

    /// An operation of a registry, if these are allowed.
    pub(super) fn registry(&self, operation: &'static str) -> Lowered<&'static str> {
        if self.has_registries() { Ok(operation) } else { Err(NodeRefusal::Registry(operation)) }
    }

    fn check(&self, operation: &'static str, arguments: &[Option<Value>]) -> Lowered<()> {
        if self.builder.graph.operations.len() as u64 >= self.options.max_ops {
            return Err(NodeRefusal::from(too_many("the graph", self.options.max_ops, "operations")));
        }
        let infinite = |value: &Value| matches!(value, Value::Scalar(scalar) if !scalar.is_finite());
        if arguments.iter().flatten().any(infinite) {
            return Err(NodeRefusal::from(format!("`{operation}` would have an argument that is not a finite number")));
        }
        Ok(())
    }

    fn add_results(
        &mut self,
        operation: &'static str,
        arguments: Vec<Option<Value>>,
        dtypes: &[DType],
        is_array: bool,
    ) -> Lowered<Vec<FlatTensor>> {
        self.check(operation, &arguments)?;
        let no_type = || NodeRefusal::because("it has texts or complex numbers, which NNEF does not have");
        let of = dtypes.first().copied().and_then(primitive).ok_or_else(no_type)?;
        let names: Vec<(NameId, Option<Shape>)> = dtypes.iter().map(|_| (self.fresh(operation), None)).collect();
        let results = if is_array { Results::Array(&names) } else { Results::Each(&names) };
        let added = self.builder.add(operation, Some(of), arguments, results);
        let tensors = added.map_err(|_| NodeRefusal::Registry(operation))?;
        for (tensor, dtype) in tensors.iter().zip(dtypes) {
            self.builder.graph.tensors[tensor.index()].dtype = primitive(*dtype);
        }
        self.builder.infer(*tensors.first().ok_or(NodeRefusal::UNFIT)?)?;
        Ok(tensors.iter().zip(dtypes).map(|(id, dtype)| FlatTensor { id: *id, dtype: *dtype }).collect())
    }

    /// Adds an operation with arguments by position. Its result has elements of a type.
    pub(super) fn add(
        &mut self,
        operation: &'static str,
        arguments: impl IntoIterator<Item = Value>,
        dtype: DType,
    ) -> Lowered<FlatTensor> {
        let arguments = arguments.into_iter().map(Some).collect();
        self.add_results(operation, arguments, &[dtype], false)?.into_iter().next().ok_or(NodeRefusal::UNFIT)
    }

    /// Adds an operation with several results.
    pub(super) fn add_several(
        &mut self,
        operation: &'static str,
        arguments: impl IntoIterator<Item = Value>,
        dtypes: &[DType],
    ) -> Lowered<Vec<FlatTensor>> {
        self.add_results(operation, arguments.into_iter().map(Some).collect(), dtypes, false)
    }

    /// Adds an operation whose result is an array of tensors.
    pub(super) fn add_array(
        &mut self,
        operation: &'static str,
        arguments: impl IntoIterator<Item = Value>,
        dtype: DType,
        count: usize,
    ) -> Lowered<Vec<FlatTensor>> {
        self.add_results(operation, arguments.into_iter().map(Some).collect(), &vec![dtype; count], true)
    }

    // Shapes.

    /// The extents of a tensor.
    pub(super) fn extents(&self, of: FlatTensor) -> Lowered<Vec<i64>> {
        let known = self.builder.graph.shape(of.id).and_then(Shape::known);
        known.ok_or(NodeRefusal::because("the shape of an operand is not known before the model runs"))
    }

    /// The rank of a tensor.
    pub(super) fn rank(&self, of: FlatTensor) -> Lowered<usize> {
        let shape = self.builder.graph.shape(of.id);
        shape.map(Shape::rank).ok_or(NodeRefusal::because("the rank of an operand is not known"))
    }

    /// A tensor with leading axes of extent 1 up to a rank. Tensors of rank 0 are broadcast to any shape.
    pub(super) fn raised(&mut self, of: FlatTensor, rank: usize) -> Lowered<FlatTensor> {
        let own = self.rank(of)?;
        if own == 0 || own >= rank {
            return Ok(of);
        }
        if let Some(known) = self.raised.get(&(of.id, rank)) {
            return Ok(*known);
        }
        let raised = self.with_axes(of, 0..(rank - own) as i64)?;
        self.raised.insert((of.id, rank), raised);
        Ok(raised)
    }

    // Constants.

    /// Checks that the limits allow as many items as extents say, which may be any numbers, and counts them until the end
    /// of the node. Rules make items of extents by this and by the functions that call it.
    pub(super) fn room(&self, shape: &[usize]) -> Lowered<usize> {
        Ok(self.budget.room(shape)?)
    }

    /// One item at all places of a shape.
    pub(super) fn filled<T: Clone>(&self, shape: &[usize], item: T) -> Lowered<Vec<T>> {
        Ok(vec![item; self.room(shape)?])
    }

    /// A tensor of zeros.
    pub(super) fn zeros(&self, extents: &[i64], dtype: DType) -> Lowered<Tensor> {
        let shape = counts(extents)?;
        let data = Data::zeros(dtype, self.room(&shape)?);
        Tensor::new(&shape, data).ok_or(NodeRefusal::UNFIT)
    }

    /// A value as a tensor of the graph.
    pub(super) fn flat(&mut self, item: &NnefItem) -> Lowered<FlatTensor> {
        match item {
            NnefItem::FlatTensor(flat) => Ok(*flat),
            NnefItem::Known(constant) => self.constant(constant),
            NnefItem::Loose(items) => self.own_items(items.clone()),
            NnefItem::Sequence(_) => Err(NodeRefusal::because("it has a sequence as an operand")),
            NnefItem::Refused => Err(NodeRefusal::Operand),
        }
    }

    /// The tensor of a constant, which is added unless it is there.
    pub(super) fn constant(&mut self, constant: &KnownTensor) -> Lowered<FlatTensor> {
        self.constant_in(constant, constant.items.shape())
    }

    /// The tensor of a constant in a shape with as many items, which is added unless it is there.
    pub(super) fn constant_in(&mut self, constant: &KnownTensor, shape: &[usize]) -> Lowered<FlatTensor> {
        let (dtype, own) = (constant.items.dtype(), constant.items.shape() == shape);
        let known = constant.stored.borrow().iter().find(|(known, _)| known[..] == *shape).map(|(_, id)| *id);
        if let Some(id) = known {
            return Ok(FlatTensor { id, dtype });
        }
        let is_first = constant.stored.borrow().is_empty();
        let name = if is_first { constant.name } else { self.again(constant.name) };
        let items = match own {
            true => constant.items.clone(),
            false => {
                self.budget.hold(constant.items.weight());
                constant.items.reshaped(shape)?
            }
        };
        let flat = self.store(&items, name, &constant.label)?;
        constant.stored.borrow_mut().push((shape.into(), flat.id));
        Ok(flat)
    }

    /// The text of a name, with a number that makes it another one.
    fn again(&mut self, name: NameId) -> NameId {
        let mut text = String::new();
        self.builder.graph.names.write(&self.builder.graph.symbols, name, &mut text);
        self.named(&text)
    }

    /// Adds a constant that only the operations of this node use.
    pub(super) fn own_constant(&mut self, tensor: Tensor) -> Lowered<FlatTensor> {
        self.own_items(KnownItems::Held(tensor.into()))
    }

    /// [`Self::own_constant`] with items that may be in a file.
    pub(super) fn own_items(&mut self, items: KnownItems) -> Lowered<FlatTensor> {
        let name = self.fresh(CONSTANT);
        self.budget.hold(items.weight());
        self.store(&items, name, "")
    }

    /// Adds a constant of the numbers from 0 on along an axis; the other extents are 1.
    pub(super) fn counting(&mut self, rank: usize, axis: usize, count: i64) -> Lowered<FlatTensor> {
        let mut shape = vec![1; rank];
        *shape.get_mut(axis).ok_or(NodeRefusal::RANK)? = usize::try_from(count).map_err(|_| NodeRefusal::UNFIT)?;
        self.room(&shape)?;
        let numbers = Tensor::integers(&shape, (0..count).collect()).map_err(|_| NodeRefusal::UNFIT)?;
        self.own_constant(numbers)
    }

    /// Adds a tensor: a short one with its items, others as a variable. With registries, all are variables: literals of
    /// these documents cannot be items of lists of tensors. Without a label, a variable has its name for one.
    fn store(&mut self, known: &KnownItems, name: NameId, label: &str) -> Lowered<FlatTensor> {
        let dtype = known.dtype();
        let no_type = || NodeRefusal::because("a constant has texts or complex numbers, which NNEF does not have");
        let of = primitive(dtype).ok_or_else(no_type)?;
        let shape: Vec<i64> = known.shape().iter().map(|extent| *extent as i64).collect();
        let results = [(name, Some(Shape::of(&shape)))];
        if known.len() == 0 {
            return Err(EMPTY);
        }
        let short = known.held().filter(|tensor| !self.has_registries() && tensor.len() <= SHORT);
        let added = match short.and_then(|tensor| items(tensor)) {
            Some(value) => {
                let arguments = [integers(shape), value];
                self.builder.add(CONSTANT, Some(of), arguments, Results::Each(&results))
            }
            None => {
                let stored = stored_form(known, self.budget)?;
                let mut text = label.to_owned();
                if text.is_empty() {
                    self.builder.graph.names.write(&self.builder.graph.symbols, name, &mut text);
                }
                let label = self.labels.add(&text, true);
                self.variables.insert(label.clone(), stored);
                let arguments = [integers(shape), Value::String(label.as_str().into())];
                self.builder.add(VARIABLE, Some(of), arguments, Results::Each(&results))
            }
        };
        let id = *added.map_err(|_| NodeRefusal::UNFIT)?.first().ok_or(NodeRefusal::UNFIT)?;
        Ok(FlatTensor { id, dtype })
    }
}

impl Assembly for Emitter<'_> {
    type Tensor = FlatTensor;
    type Refusal = NodeRefusal;

    fn refusal(&self, reason: &'static str) -> NodeRefusal {
        NodeRefusal::because(reason)
    }

    fn extents_of(&self, x: FlatTensor) -> Lowered<Vec<i64>> {
        self.extents(x)
    }

    fn allows(&self, operations: i64) -> Lowered<()> {
        let all = (self.builder.graph.operations.len() as u64).saturating_add(operations.unsigned_abs());
        match all > self.options.max_ops {
            true => Err(NodeRefusal::from(too_many("the graph", self.options.max_ops, "operations"))),
            false => Ok(()),
        }
    }

    fn argument(x: FlatTensor) -> Value {
        Value::Tensor(x.id)
    }

    fn operation(&mut self, nnef: &'static str, arguments: Vec<Value>, like: FlatTensor) -> Lowered<FlatTensor> {
        self.add(nnef, arguments, like.dtype)
    }

    fn formula_of(&mut self, text: &str, operands: &[FlatTensor]) -> Lowered<FlatTensor> {
        self.formula(text, operands)
    }
}

/// The items of a tensor as an attribute, if all can be written.
fn items(tensor: &Tensor) -> Option<Value> {
    let places = 0..tensor.len();
    match tensor.data() {
        Data::Bool(items) => Some(Value::Array(items.iter().map(|item| Value::Logical(*item)).collect())),
        data if tensor.dtype().is_integer() => {
            let items = places.map(|i| i64::try_from(data.wide(i)).ok()).collect::<Option<Vec<i64>>>()?;
            Some(integers(items))
        }
        data if tensor.dtype().is_float() => {
            let items: Vec<f64> = places.map(|i| shortest(tensor.dtype(), data.float(i))).collect();
            items.iter().all(|item| item.is_finite()).then(|| Value::Scalars(items.into()))
        }
        _ => None,
    }
}
