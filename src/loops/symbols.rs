//! How values are computed: numbers where all operands are known, operations of a flat graph where
//! not.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::domain::{Collecting, Failure, Site, Slot};
use super::emit::{Emitter, Flat};
use super::lower;
use super::network::{MAX_ELEMENTS, TensorId, Type, volume};
use super::ops::{Attributes, Op};
use crate::diagnostics::Code;
use crate::graph::predication::Predicated;
use crate::graph::{self, Value};
use crate::source::Span;
use crate::tensor::{DType, Data, Dims, Tensor};

/// How many elements an operation handles in the time of a step.
const ELEMENTS_PER_STEP: u64 = 256;

/// The most elements of a loop output that are not all known.
const MAX_ITEMS: usize = 10_000_000;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Sym {
    /// Numbers.
    Known(Arc<Tensor>),
    /// A tensor of the graph.
    Flat(Flat),
}

impl Sym {
    /// The type of elements.
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Sym::Known(value) => value.dtype(),
            Sym::Flat(flat) => flat.dtype,
        }
    }

    /// The extents.
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Sym::Known(value) => value.shape(),
            Sym::Flat(flat) => &flat.shape,
        }
    }

    /// The type.
    pub(crate) fn ty(&self) -> Type {
        Type { dtype: self.dtype(), dims: self.shape().iter().map(|&extent| Some(extent)).collect() }
    }

    /// Whether both are surely the same.
    fn same(&self, other: &Sym) -> bool {
        match (self, other) {
            (Sym::Known(a), Sym::Known(b)) => Arc::ptr_eq(a, b) || a == b,
            (Sym::Flat(a), Sym::Flat(b)) => a.id == b.id,
            _ => false,
        }
    }

    /// The numbers, if they are known.
    pub(crate) fn known(&self) -> Option<&Arc<Tensor>> {
        match self {
            Sym::Known(value) => Some(value),
            Sym::Flat(_) => None,
        }
    }
}

/// Computes with numbers where it can, and emits operations where not.
#[derive(Default)]
pub(crate) struct Symbols<'n> {
    /// Makes the graph; none for an evaluation, in which everything is known.
    emitter: Option<Emitter<'n>>,
    /// Parts of tensors along an axis.
    parts: FxHashMap<(graph::TensorId, usize), Arc<[Flat]>>,
    /// Parts made one by one.
    single: FxHashMap<(graph::TensorId, usize, usize), Flat>,
    /// Tensors with axes of extent 1 added at the front.
    widened: FxHashMap<(graph::TensorId, usize), Flat>,
    /// By tensor, how many loops it is inside.
    depths: Vec<usize>,
    bound: Option<u64>,
    /// Whether all loops that were left came to their end.
    finished: Option<Sym>,
    work: u64,
    held: u64,
}

/// Elements of a loop output so far.
#[derive(Default)]
pub(crate) struct Gathered {
    /// The type and extents of an element, once there is one.
    element: Option<(DType, Dims)>,
    count: usize,
    /// All elements, while all are known.
    packed: Option<Data>,
    /// All elements otherwise.
    items: Vec<Sym>,
    /// Whether it depends on run-time data which element is the last and comes first.
    shifted: bool,
}

impl<'n> Symbols<'n> {
    /// What unrolls, with an emitter, the numbers of loops around each tensor, and the bound of trips.
    pub(crate) fn unrolling(emitter: Emitter<'n>, depths: Vec<usize>, bound: Option<u64>) -> Self {
        Symbols { emitter: Some(emitter), depths, bound, ..Self::default() }
    }

    /// The emitter, and whether all loops came to their end, if that depends on run-time data.
    pub(crate) fn into_parts(self) -> (Option<Emitter<'n>>, Option<Sym>) {
        (self.emitter, self.finished)
    }

    /// The maker of the graph, which there is only while unrolling.
    fn emitter(&mut self, site: &Site) -> Slot<&mut Emitter<'n>> {
        self.emitter.as_mut().ok_or_else(|| site.fail(Code::NotFlattenable, "an evaluation emits nothing"))
    }

    /// Where an operation stands, for messages.
    fn place<'s>(site: &'s Site) -> (Span, &'s str) {
        (site.net.layer(site.layer).at, site.name())
    }

    /// A value as a tensor of the graph.
    pub(crate) fn tensor(&mut self, site: &Site, value: &Sym) -> Slot<Flat> {
        match value {
            Sym::Known(value) => self.emitter(site)?.constant(Self::place(site), value, None),
            Sym::Flat(flat) => Ok(flat.clone()),
        }
    }

    /// Emits an operation at a site; a word names it where it is not the site's own result.
    pub(crate) fn emit(
        &mut self,
        site: &Site,
        operation: &'static str,
        arguments: Vec<(&'static str, Value)>,
        result: (DType, &[usize]),
        word: &str,
    ) -> Slot<Flat> {
        let emitter = self.emitter(site)?;
        let mut name = emitter.name(site, site.trips.len());
        if !word.is_empty() {
            name = emitter.under(name, word);
        }
        emitter.emit(Self::place(site), operation, arguments, result, name)
    }

    /// All parts of a tensor along an axis.
    fn unstack(&mut self, site: &Site, of: (TensorId, &Flat), axis: usize, extent: usize) -> Slot<Arc<[Flat]>> {
        let (source, flat) = of;
        let key = (flat.id, axis);
        if let Some(known) = self.parts.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut shape = flat.shape.clone();
        shape.remove(axis);
        let depth = self.depths[source.index()];
        let emitter = self.emitter(site)?;
        let base = emitter.name(site, depth);
        let names = (0..extent as u64).map(|i| emitter.numbered(base, i)).collect();
        let arguments = vec![("value", Value::Tensor(flat.id)), ("axis", Value::Int(axis as i64))];
        let made = emitter.emit_all(Self::place(site), "unstack", arguments, (flat.dtype, &shape), Err(names))?;
        let made: Arc<[Flat]> = made.into();
        self.parts.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// One part of a tensor along an axis.
    pub(crate) fn part(&mut self, site: &Site, flat: &Flat, axis: usize, index: usize) -> Slot<Flat> {
        if let Some(known) = self.single.get(&(flat.id, axis, index)) {
            return Ok(known.clone());
        }
        let mut shape = flat.shape.clone();
        shape[axis] = 1;
        let axes = || Value::Integers([axis as i64].into());
        let bounds = |at: usize| Value::Integers([at as i64].into());
        let arguments = vec![
            ("input", Value::Tensor(flat.id)),
            ("axes", axes()),
            ("begin", bounds(index)),
            ("end", bounds(index + 1)),
        ];
        let sliced = self.emit(site, "slice", arguments, (flat.dtype, &shape), "slice")?;
        shape.remove(axis);
        let arguments = vec![("input", Value::Tensor(sliced.id)), ("axes", axes())];
        let part = self.emit(site, "squeeze", arguments, (flat.dtype, &shape), "")?;
        self.single.insert((flat.id, axis, index), part.clone());
        Ok(part)
    }

    /// A tensor with axes of extent 1 added at the front, made once.
    pub(crate) fn widened(&mut self, site: &Site, flat: &Flat, shape: &[usize]) -> Slot<Flat> {
        let missing = shape.len() - flat.shape.len();
        if let Some(known) = self.widened.get(&(flat.id, missing)) {
            return Ok(known.clone());
        }
        let emitter = self.emitter(site)?;
        let name = emitter.name_of(flat);
        let name = emitter.under(name, "unsqueezed");
        let axes = Value::Integers((0..missing as i64).collect());
        let arguments = vec![("input", Value::Tensor(flat.id)), ("axes", axes)];
        let wide = emitter.emit(Self::place(site), "unsqueeze", arguments, (flat.dtype, shape), name)?;
        self.widened.insert((flat.id, missing), wide.clone());
        Ok(wide)
    }

    /// The result of an operation, whose type may be known.
    pub(crate) fn operation(
        &mut self,
        site: &Site,
        what: (Op, &Attributes, Option<&Type>),
        inputs: &[&Sym],
    ) -> Slot<Sym> {
        let known: Option<SmallVec<[&Tensor; 4]>> = inputs.iter().map(|input| input.known().map(|x| &**x)).collect();
        let (op, attributes, _) = what;
        let result = result_type(site, what, inputs)?;
        let Some(known) = known else { return lower::operation(self, site, (op, attributes), inputs, result) };
        let result = op.compute(&known, attributes, result).map_err(|message| site.refuse(op, &message))?;
        let operands: usize = known.iter().map(|input| input.len()).sum();
        // A matrix product visits its operands more than once.
        let visits = match op.name() {
            "matmul" => result.shape().last().copied().unwrap_or(1).saturating_mul(known[0].len()),
            _ => operands,
        };
        self.count(visits.max(result.len()));
        Ok(Sym::Known(Arc::new(result)))
    }

    /// Counts elements that were computed.
    fn count(&mut self, elements: usize) {
        self.work = self.work.saturating_add(elements as u64 / ELEMENTS_PER_STEP);
    }

    /// The steps taken since this was asked, beyond one for each layer.
    pub(crate) fn work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }

    /// The memory of elements that are being collected.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// The memory that a value takes.
    pub(crate) fn bytes(&self, value: &Sym) -> u64 {
        value.known().map_or(0, |value| value.bytes())
    }

    /// The number that a value is, if that is known.
    pub(crate) fn number(&self, value: &Sym) -> Option<i64> {
        value.known()?.as_integer()
    }

    /// The truth of a value, if that is known.
    pub(crate) fn truth(&self, value: &Sym) -> Option<bool> {
        value.known()?.as_bool()
    }

    /// How many trips are made of a loop whose condition is not known; none if none at all.
    pub(crate) fn bound(&self) -> Option<u64> {
        self.bound
    }

    /// What is at an index of an axis; `trips` is the number of trips, where known.
    pub(crate) fn element(
        &mut self,
        site: &Site,
        of: (TensorId, &Sym),
        axis: usize,
        index: i64,
        trips: Option<u64>,
    ) -> Slot<Sym> {
        let extent = of.1.shape().get(axis).copied().unwrap_or(0);
        let inside = usize::try_from(index).ok().filter(|&index| index < extent);
        let outside = || site.out_of_range(of.0, index, extent);
        let index = inside.ok_or_else(outside)?;
        let flat = match of.1 {
            Sym::Known(value) => {
                let found = value.element(axis, index).ok_or_else(outside)?;
                self.count(found.len());
                return Ok(Sym::Known(Arc::new(found)));
            }
            Sym::Flat(flat) => flat,
        };
        if trips == Some(extent as u64) || self.parts.contains_key(&(flat.id, axis)) {
            return Ok(Sym::Flat(self.unstack(site, (of.0, flat), axis, extent)?[index].clone()));
        }
        self.part(site, flat, axis, index).map(Sym::Flat)
    }

    /// Adds an element, which counts only if `active` holds.
    pub(crate) fn push(
        &mut self,
        collecting: &Collecting,
        to: &mut Gathered,
        value: &Sym,
        active: Option<&Sym>,
    ) -> Slot<()> {
        if !to.shifted && to.count == collecting.length {
            return Err(collecting.too_short());
        }
        let shape = to.element.get_or_insert_with(|| (value.dtype(), value.shape().into())).1.as_slice();
        if shape != value.shape() {
            return Err(collecting.other_shape());
        }
        let Sym::Known(known) = value else { return self.push_item(collecting, to, value, active) };
        if active.is_some() || !to.items.is_empty() {
            return self.push_item(collecting, to, value, active);
        }
        let packed = to.packed.get_or_insert_with(|| Data::zeros(known.dtype(), 0));
        if packed.len() + known.len() > MAX_ELEMENTS {
            let message = format!("loop output `{}` has more than {MAX_ELEMENTS} elements", collecting.site.name());
            return Err(collecting.site.fail(Code::MemoryBudget, message));
        }
        packed.append(known.data());
        to.count += 1;
        self.held += (known.len() * known.dtype().size()) as u64;
        self.count(known.len());
        Ok(())
    }

    /// Adds an element beside others that are not known, or that perhaps do not count.
    fn push_item(&mut self, collecting: &Collecting, to: &mut Gathered, value: &Sym, active: Option<&Sym>) -> Slot<()> {
        self.unpack(to);
        let count = to.items.len();
        if count >= MAX_ITEMS {
            let message = format!("loop output `{}` has more than {MAX_ITEMS} elements", collecting.site.name());
            return Err(collecting.site.fail(Code::LengthBudget, message));
        }
        let Some(active) = active else {
            to.items.push(value.clone());
            to.count += 1;
            return Ok(());
        };
        let len = value.shape().iter().product();
        let zeros = Tensor::new(value.shape(), Data::zeros(value.dtype(), len));
        let zeros = Sym::Known(Arc::new(zeros.ok_or_else(|| collecting.other_shape())?));
        if !collecting.reverse {
            to.items.push(self.at(&collecting.site).choose(active, value, &zeros)?);
            to.count += 1;
            return Ok(());
        }
        // The last trip made comes first: each trip that is made moves the others back by one.
        if !to.shifted {
            to.items.reverse();
            to.shifted = true;
        } else if count == collecting.length {
            return Err(collecting.too_short());
        }
        let mut moved = Vec::with_capacity(count + 1);
        for i in 0..=count {
            let new = if i == 0 { value } else { &to.items[i - 1] };
            let old = to.items.get(i).unwrap_or(&zeros);
            moved.push(self.at(&collecting.site).choose(active, new, old)?);
        }
        (to.items, to.count) = (moved, count + 1);
        Ok(())
    }

    /// Takes packed elements apart.
    fn unpack(&mut self, from: &mut Gathered) {
        let (Some(packed), Some((_, shape))) = (from.packed.take(), &from.element) else { return };
        self.held = self.held.saturating_sub((packed.len() * packed.dtype().size()) as u64);
        let mut all = shape.clone();
        all.insert(0, from.count);
        let whole = Tensor::new(&all, packed);
        let item = |i: usize| Some(Sym::Known(Arc::new(whole.as_ref()?.element(0, i)?)));
        from.items = (0..from.count).filter_map(item).collect();
    }

    /// The collected elements in one tensor.
    pub(crate) fn close(&mut self, collecting: &Collecting, mut from: Gathered) -> Slot<Sym> {
        let site = &collecting.site;
        let too_large = || site.fail(Code::MemoryBudget, format!("loop output `{}` is too large", site.name()));
        let (dtype, shape) = match from.element {
            Some(element) => element,
            None => collecting.element_type()?,
        };
        let size: usize = shape.iter().product();
        let reverse = collecting.reverse && !from.shifted;
        if from.items.iter().all(|item| item.known().is_some()) {
            let mut data = from.packed.unwrap_or_else(|| Data::zeros(dtype, 0));
            self.held = self.held.saturating_sub((data.len() * dtype.size()) as u64);
            from.items.iter().filter_map(Sym::known).for_each(|item| data.append(item.data()));
            if reverse {
                data = data.pick((0..from.count).rev().flat_map(|i| i * size..(i + 1) * size));
            }
            let mut whole = shape;
            whole.insert(0, collecting.length);
            data.pad(volume(&whole).ok_or_else(too_large)?);
            let whole = Tensor::new(&whole, data).ok_or_else(|| collecting.other_shape())?;
            return Ok(Sym::Known(Arc::new(whole.move_first_axis(collecting.axis))));
        }
        if reverse {
            from.items.reverse();
        }
        if collecting.length.saturating_mul(size.max(1)) > MAX_ELEMENTS {
            return Err(too_large());
        }
        let zeros = Tensor::new(&shape, Data::zeros(dtype, size)).ok_or_else(too_large)?;
        from.items.resize(collecting.length, Sym::Known(Arc::new(zeros)));
        let mut values = Vec::with_capacity(from.items.len());
        for item in &from.items {
            values.push(Value::Tensor(self.tensor(site, item)?.id));
        }
        let mut whole = shape;
        whole.insert(collecting.axis, collecting.length);
        let arguments = vec![("values", Value::Array(values.into())), ("axis", Value::Int(collecting.axis as i64))];
        self.emit(site, "stack", arguments, (dtype, &whole), "").map(Sym::Flat)
    }

    /// What makes the operations of predication at a site.
    pub(crate) fn at<'s>(&'s mut self, site: &'s Site<'s>) -> At<'s, 'n> {
        At { symbols: self, site }
    }

    /// Notes that a loop was left although the condition may hold.
    pub(crate) fn unfinished(&mut self, site: &Site, active: &Sym) -> Slot<()> {
        let done = match active {
            Sym::Known(_) => Sym::Known(Arc::new(
                Tensor::scalar(Data::Bool(vec![self.truth(active) == Some(false)]))
                    .ok_or_else(|| site.fail(Code::NotFlattenable, "no logical can be made"))?,
            )),
            Sym::Flat(flat) => {
                let arguments = vec![("x", Value::Tensor(flat.id))];
                Sym::Flat(self.emit(site, "not", arguments, (DType::Bool, &[]), "done")?)
            }
        };
        self.finished = Some(match self.finished.take() {
            Some(before) => self.at(site).both(&before, &done)?,
            None => done,
        });
        Ok(())
    }
}

/// The type of a result, inferred from the operands unless it was known before the network ran.
fn result_type(
    site: &Site,
    (op, attributes, known): (Op, &Attributes, Option<&Type>),
    inputs: &[&Sym],
) -> Slot<(DType, Dims)> {
    if let Some(known) = known.and_then(Type::closed) {
        return Ok(known);
    }
    let types: Vec<Type> = inputs.iter().map(|input| input.ty()).collect();
    let result = op.infer(&types, attributes).map_err(|message| site.refuse(op, &message))?;
    result.closed().ok_or_else(|| site.refuse(op, "its shape is not known"))
}

/// Makes operations at a site.
pub(crate) struct At<'s, 'n> {
    symbols: &'s mut Symbols<'n>,
    site: &'s Site<'s>,
}

impl Predicated for At<'_, '_> {
    type Value = Sym;
    type Failure = Arc<Failure>;

    fn truth(&self, value: &Sym) -> Option<bool> {
        self.symbols.truth(value)
    }

    fn same(&self, a: &Sym, b: &Sym) -> bool {
        a.same(b)
    }

    fn emit(&mut self, operation: &'static str, operands: &[&Sym]) -> Slot<Sym> {
        let (parameters, word): (&[_], _) = match operation {
            "select" => (&["condition", "true_value", "false_value"], "chosen"),
            _ => (&["x", "y"], "active"),
        };
        let mut arguments = Vec::with_capacity(operands.len());
        for (parameter, operand) in parameters.iter().zip(operands) {
            arguments.push((*parameter, Value::Tensor(self.symbols.tensor(self.site, operand)?.id)));
        }
        // Of `and` and of `select` the second operand has the type of the result.
        let result = operands[1];
        self.symbols.emit(self.site, operation, arguments, (result.dtype(), result.shape()), word).map(Sym::Flat)
    }
}
