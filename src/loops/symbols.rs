//! Computes values: numbers if all operands are known, otherwise operations of a flat graph.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::emit::{Emitter, Flat, integers};
use super::lower;
use super::network::StaticType;
use super::ops::{Attributes, Op};
use super::site::{ComputationError, Computed, Site};
use crate::diagnostics::Code;
use crate::graph::predication::Predicated;
use crate::graph::{self, Value};
use crate::tensor::usage::Usage;
use crate::tensor::{DType, Data, Dims, Tensor};

/// The number of computed elements that count as one step.
const ELEMENTS_PER_STEP: u64 = 256;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Sym {
    /// A tensor whose elements are known.
    Known(Arc<Tensor>),
    /// A tensor of the graph.
    Flat(Flat),
}

impl Sym {
    /// The element type.
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Sym::Known(value) => value.dtype(),
            Sym::Flat(flat) => flat.dtype,
        }
    }

    /// The shape.
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Sym::Known(value) => value.shape(),
            Sym::Flat(flat) => &flat.shape,
        }
    }

    /// The type.
    pub(crate) fn ty(&self) -> StaticType {
        StaticType { dtype: self.dtype(), dims: self.shape().iter().map(|&extent| Some(extent)).collect() }
    }

    /// The tensor, if its elements are known.
    pub(crate) fn known(&self) -> Option<&Arc<Tensor>> {
        match self {
            Sym::Known(value) => Some(value),
            Sym::Flat(_) => None,
        }
    }

    /// The value as an integer, if it is a known single integer.
    pub(crate) fn number(&self) -> Option<i64> {
        self.known()?.as_integer()
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.known().map_or(0, |value| value.bytes())
    }
}

/// Computes known values and emits operations for the others.
pub(crate) struct Symbols<'n> {
    /// Builds the graph; none in an evaluation, where all values are known.
    emitter: Option<Emitter<'n>>,
    /// All slices of a tensor along an axis, made by `unstack`.
    parts: FxHashMap<(graph::TensorId, usize), Arc<[Flat]>>,
    /// Single slices, by tensor, axis and index.
    single: FxHashMap<(graph::TensorId, usize, usize), Flat>,
    /// Tensors with added leading axes of extent 1, by the number of these axes.
    widened: FxHashMap<(graph::TensorId, usize), Flat>,
    /// Whether the conditions of all predicated loops became false within the trip limit.
    finished: Option<Sym>,
    /// The steps and bytes used.
    pub(crate) usage: Usage,
}

impl<'n> Symbols<'n> {
    /// Symbols with an optional emitter, and with limits.
    pub(crate) fn new(emitter: Option<Emitter<'n>>, usage: Usage) -> Self {
        let (parts, single, widened) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Symbols { emitter, parts, single, widened, finished: None, usage }
    }

    /// The emitter, and the value `finished`, if a loop was left whose condition may still hold.
    pub(crate) fn into_parts(self) -> (Option<Emitter<'n>>, Option<Sym>) {
        (self.emitter, self.finished)
    }

    /// The emitter, which exists only during unrolling.
    fn emitter(&mut self, site: &Site) -> Computed<&mut Emitter<'n>> {
        self.emitter.as_mut().ok_or_else(|| site.fail(Code::NotFlattenable, "an evaluation emits nothing"))
    }

    /// A value as a tensor of the graph.
    pub(crate) fn tensor(&mut self, site: &Site, value: &Sym) -> Computed<Flat> {
        match value {
            Sym::Known(value) => self.constant(site, value, value.shape()),
            Sym::Flat(flat) => Ok(flat.clone()),
        }
    }

    /// Whether no item of a tensor of the graph can be negative or -0.
    pub(crate) fn never_negative(&self, flat: &Flat) -> bool {
        self.emitter.as_ref().is_some_and(|emitter| emitter.never_negative(flat))
    }

    /// The items of a known tensor as a constant of a shape.
    pub(crate) fn constant(&mut self, site: &Site, value: &Arc<Tensor>, shape: &[usize]) -> Computed<Flat> {
        self.emitter(site)?.constant(site.place(), value, shape, None)
    }

    /// Emits an operation at a site; `word` extends the name of a result that is not the site's own.
    pub(crate) fn emit(
        &mut self,
        site: &Site,
        operation: &'static str,
        arguments: impl IntoIterator<Item = impl Into<Option<Value>>>,
        result: (DType, &[usize]),
        word: &str,
    ) -> Computed<Flat> {
        let emitter = self.emitter(site)?;
        let mut name = emitter.name(site, site.trips.len());
        if !word.is_empty() {
            name = emitter.under(name, word);
        }
        emitter.emit(site.place(), operation, arguments, result, name)
    }

    /// All slices of a tensor along an axis; `depth` is the number of loops around the tensor.
    fn unstack(&mut self, site: &Site, flat: &Flat, depth: usize, axis: usize) -> Computed<Arc<[Flat]>> {
        let key = (flat.id, axis);
        if let Some(known) = self.parts.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut shape = flat.shape.clone();
        let extent = shape.remove(axis);
        let emitter = self.emitter(site)?;
        let base = emitter.name(site, depth);
        let names: Vec<_> = (0..extent).map(|i| emitter.under(base, &i.to_string())).collect();
        let arguments = [Value::from(flat), Value::Int(axis as i64)];
        let result = (flat.dtype, shape.as_slice());
        let made: Arc<[Flat]> = emitter.emit_all(site.place(), "unstack", arguments, result, (&names, true))?.into();
        self.parts.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// One slice of a tensor along an axis; `word` is that of [`Symbols::emit`].
    pub(crate) fn part(&mut self, site: &Site, flat: &Flat, axis: usize, index: usize, word: &str) -> Computed<Flat> {
        if let Some(known) = self.single.get(&(flat.id, axis, index)) {
            return Ok(known.clone());
        }
        let mut shape = flat.shape.clone();
        shape[axis] = 1;
        let arguments = [Value::from(flat), integers(&[axis]), integers(&[index]), integers(&[index + 1])];
        let sliced = self.emit(site, "slice", arguments, (flat.dtype, &shape), "slice")?;
        shape.remove(axis);
        let part = self.emit(site, "squeeze", [Value::from(&sliced), integers(&[axis])], (flat.dtype, &shape), word)?;
        self.single.insert((flat.id, axis, index), part.clone());
        Ok(part)
    }

    /// A tensor with `missing` added leading axes of extent 1; emitted once.
    pub(crate) fn widened(&mut self, site: &Site, flat: &Flat, missing: usize) -> Computed<Flat> {
        if let Some(known) = self.widened.get(&(flat.id, missing)) {
            return Ok(known.clone());
        }
        let mut shape = Dims::from_elem(1, missing);
        shape.extend_from_slice(&flat.shape);
        let emitter = self.emitter(site)?;
        let name = emitter.name_of(flat);
        let name = emitter.under(name, "unsqueezed");
        let axes = Value::Integers((0..missing as i64).collect());
        let arguments = [Value::from(flat), axes];
        let wide = emitter.emit(site.place(), "unsqueeze", arguments, (flat.dtype, &shape), name)?;
        self.widened.insert((flat.id, missing), wide.clone());
        Ok(wide)
    }

    /// The result of an operation, computed or emitted; its type is inferred unless `ty` has it.
    pub(crate) fn operation(
        &mut self,
        site: &Site,
        (op, attributes, ty): (Op, &Attributes, Option<&StaticType>),
        inputs: &[&Sym],
    ) -> Computed<Sym> {
        let result = match ty.and_then(StaticType::closed) {
            Some(known) => known,
            None => {
                let types: Vec<StaticType> = inputs.iter().map(|input| input.ty()).collect();
                let result = op.infer(&types, attributes).map_err(|message| site.refuse(op, &message))?;
                result.closed().ok_or_else(|| site.refuse(op, "its shape is not known"))?
            }
        };
        let known: Option<SmallVec<[&Tensor; 4]>> = inputs.iter().map(|input| input.known().map(|x| &**x)).collect();
        let Some(known) = known else { return lower::operation(self, site, (op, attributes), inputs, result) };
        let result = op.compute(&known, attributes, result).map_err(|message| site.refuse(op, &message))?;
        // A matrix product reads each element several times.
        let visits = match op.name() {
            "matmul" => result.shape().last().copied().unwrap_or(1).saturating_mul(known[0].len()),
            _ => known.iter().map(|input| input.len()).sum(),
        };
        self.count(visits.max(result.len()));
        Ok(Sym::Known(Arc::new(result)))
    }

    /// Counts elements that were computed.
    pub(crate) fn count(&mut self, elements: usize) {
        self.usage.spend(elements as u64 / ELEMENTS_PER_STEP);
    }

    /// The slice at an index of an axis; none past the end. `depth` is the number of loops around the value, `trips`
    /// the number of trips, if known.
    pub(crate) fn element(
        &mut self,
        site: &Site,
        of: &Sym,
        depth: usize,
        axis: usize,
        index: usize,
        trips: Option<u64>,
    ) -> Computed<Option<Sym>> {
        let extent = of.shape().get(axis).copied().unwrap_or(0);
        match of {
            _ if index >= extent => Ok(None),
            Sym::Known(value) => {
                let found = value.element(axis, index);
                self.count(found.as_ref().map_or(0, Tensor::len));
                Ok(found.map(|found| Sym::Known(Arc::new(found))))
            }
            Sym::Flat(flat) if trips == Some(extent as u64) || self.parts.contains_key(&(flat.id, axis)) => {
                let parts = self.unstack(site, flat, depth, axis)?;
                Ok(parts.get(index).cloned().map(Sym::Flat))
            }
            Sym::Flat(flat) => Ok(Some(Sym::Flat(self.part(site, flat, axis, index, "")?))),
        }
    }

    /// Access to the operations of predication at a site.
    pub(crate) fn at<'s>(&'s mut self, site: &'s Site<'s>) -> Predication<'s, 'n> {
        Predication { symbols: self, site }
    }

    /// Records that a loop was left while its predicate `active` may still hold.
    pub(crate) fn unfinished(&mut self, site: &Site, active: &Sym) -> Computed<()> {
        let done = match active {
            Sym::Known(known) => {
                let done = Tensor::scalar(Data::Bool(vec![known.as_bool() == Some(false)]));
                let done = done.ok_or_else(|| site.fail(Code::NotFlattenable, "no logical can be made"))?;
                Sym::Known(Arc::new(done))
            }
            Sym::Flat(flat) => Sym::Flat(self.emit(site, "not", [Value::from(flat)], (DType::Bool, &[]), "done")?),
        };
        self.finished = Some(match self.finished.take() {
            Some(before) => self.at(site).both(&before, &done)?,
            None => done,
        });
        Ok(())
    }
}

/// Emits the operations of predication at a site.
pub(crate) struct Predication<'s, 'n> {
    symbols: &'s mut Symbols<'n>,
    site: &'s Site<'s>,
}

impl Predicated for Predication<'_, '_> {
    type Value = Sym;
    type Failure = Arc<ComputationError>;

    fn truth(&self, value: &Sym) -> Option<bool> {
        value.known()?.as_bool()
    }

    fn same(&self, a: &Sym, b: &Sym) -> bool {
        match (a, b) {
            (Sym::Known(a), Sym::Known(b)) => Arc::ptr_eq(a, b) || a == b,
            (Sym::Flat(a), Sym::Flat(b)) => a.id == b.id,
            _ => false,
        }
    }

    fn emit(&mut self, operation: &'static str, operands: &[&Sym]) -> Computed<Sym> {
        let word = if operation == "select" { "chosen" } else { "active" };
        let argument = |operand: &&Sym| Ok(Value::from(&self.symbols.tensor(self.site, operand)?));
        let arguments = operands.iter().map(argument).collect::<Computed<Vec<Value>>>()?;
        // The second operand of `and` and of `select` has the type of the result.
        let result = operands[1];
        self.symbols.emit(self.site, operation, arguments, (result.dtype(), result.shape()), word).map(Sym::Flat)
    }
}
