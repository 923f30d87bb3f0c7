//! Unrolling: partial evaluation of lazy sequences. What is known becomes numbers, the rest
//! operations of a flat graph.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::domain::{Collecting, Domain, Failure, Site, Slot};
use super::emit::{Emitter, Flat};
use super::eval::{compute, element, element_type, other_shape, out_of_range, too_short};
use super::infer::Types;
use super::lower;
use super::machine::Machine;
use super::network::{MAX_ELEMENTS, volume};
use super::network::{Network, Origin, TensorId, Type};
use super::ops::{Attributes, Op};
use super::plan::Plan;
use crate::Options;
use crate::diagnostics::{Code, Diagnostics};
use crate::graph::{self, Graph, Value};
use crate::migrate::target::Target;
use crate::source::Span;
use crate::tensor::{DType, Data, Dims, Tensor};

/// A value while unrolling.
#[derive(Clone, Debug)]
pub enum Sym {
    /// Numbers.
    Known(Arc<Tensor>),
    /// A tensor of the graph.
    Flat(Flat),
}

impl Sym {
    /// The type of elements.
    pub fn dtype(&self) -> DType {
        match self {
            Sym::Known(value) => value.dtype(),
            Sym::Flat(flat) => flat.dtype,
        }
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        match self {
            Sym::Known(value) => value.shape(),
            Sym::Flat(flat) => &flat.shape,
        }
    }

    /// The type.
    pub fn ty(&self) -> Type {
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
}

/// Computes with numbers where it can, and emits operations where not.
pub struct Symbols<'n> {
    /// Makes the graph.
    pub emitter: Emitter<'n>,
    /// Parts of tensors along an axis.
    parts: FxHashMap<(graph::TensorId, usize), Arc<[Flat]>>,
    /// Parts made one by one.
    single: FxHashMap<(graph::TensorId, usize, usize), Flat>,
    /// Tensors with axes of extent 1 added at the front.
    pub widened: FxHashMap<(graph::TensorId, usize), Flat>,
    /// By tensor, how many loops it is inside.
    depths: Vec<usize>,
    bound: Option<u64>,
    /// Whether all loops that were left came to their end.
    finished: Option<Sym>,
    work: u64,
}

/// The most elements of a loop output.
const MAX_ITEMS: usize = 10_000_000;

/// Elements of a loop output so far.
pub struct Elements {
    items: Vec<Sym>,
    /// The whole, once it depends on run-time data which element is the last and comes first.
    shifted: bool,
}

/// Unrolls a network that keeps the rules.
pub fn unroll(
    net: &Network,
    plan: &Plan,
    types: &Types,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Graph, Vec<Arc<Failure>>> {
    let looped = plan.loops.iter().position(|of| !of.outputs.is_empty());
    if let Some(of) = looped.filter(|_| !options.unroll) {
        let at = net.loops[of].layers.first().map_or(Span::default(), |&layer| net.layer(layer).at);
        let message = format!("NNEF 1.0 has no loops, and `{}` is one; --unroll makes it flat", net.loops[of].name);
        return Err(vec![Arc::new(Failure { code: Code::NotFlattenable, at, message, trips: Vec::new() })]);
    }
    let target = Target::new();
    let mut emitter = Emitter::new(net, &target, options.max_ops, diagnostics);
    let start = inputs(net, &mut emitter).map_err(|failure| vec![failure])?;
    let depths = depths(net);
    let symbols = Symbols {
        emitter,
        parts: FxHashMap::default(),
        single: FxHashMap::default(),
        widened: FxHashMap::default(),
        depths,
        bound: options.max_trips,
        finished: None,
        work: 0,
    };
    let mut machine = Machine::new(net, plan, types, super::budget(options), symbols, start);
    machine.run().map_err(|failure| vec![failure])?;
    let values: Vec<(TensorId, Slot<Sym>)> =
        net.outputs.iter().map(|output| (output.tensor, machine.value(output.tensor))).collect();
    let Symbols { mut emitter, finished, .. } = machine.domain;
    let mut failures = Vec::new();
    for (tensor, value) in values {
        failures.extend(value.and_then(|value| give(net, &mut emitter, tensor, &value)).err());
    }
    if let Some(finished) = finished {
        let name = emitter.fresh("finished");
        let site = (Span::default(), "finished");
        let given = match &finished {
            Sym::Known(value) => emitter.constant(site, value, Some(name)),
            Sym::Flat(flat) => Ok(flat.clone()),
        };
        failures.extend(given.and_then(|flat| emitter.output(site, &flat, name)).err());
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    emitter.finish().map_err(|failure| vec![failure])
}

fn inputs(net: &Network, emitter: &mut Emitter) -> Slot<Vec<(TensorId, Sym)>> {
    let mut start = Vec::new();
    for &input in &net.inputs {
        let info = &net.tensors[input.index()];
        let Origin::Input(ty) = &info.origin else { continue };
        let shape: Option<Dims> = ty.dims.iter().copied().collect();
        let shape = shape.ok_or_else(|| {
            let message = format!("an extent of input `{}` is known only when the network runs", info.name);
            Arc::new(Failure { code: Code::NotFlattenable, at: info.at, message, trips: Vec::new() })
        })?;
        start.push((input, Sym::Flat(emitter.external(input, ty.dtype, &shape)?)));
    }
    Ok(start)
}

/// How many loops each tensor is inside.
fn depths(net: &Network) -> Vec<usize> {
    let scopes = super::scope::Scopes::new(net);
    let depth = |i: usize| scopes.home(TensorId::at(i)).map_or(0, |of| scopes.depth(of) + 1);
    (0..net.tensors.len()).map(depth).collect()
}

/// Makes a value an output.
fn give(net: &Network, emitter: &mut Emitter, tensor: TensorId, value: &Sym) -> Slot<()> {
    let info = &net.tensors[tensor.index()];
    let (site, name) = ((info.at, info.name.as_str()), emitter.root(tensor));
    let flat = match value {
        Sym::Known(value) => emitter.constant(site, value, Some(name))?,
        Sym::Flat(flat) => flat.clone(),
    };
    emitter.output(site, &flat, name)
}

impl Symbols<'_> {
    /// Where an operation stands, for messages.
    fn place<'s>(site: &'s Site) -> (Span, &'s str) {
        (site.net.layer(site.layer).at, site.name())
    }

    /// A value as a tensor of the graph.
    pub fn tensor(&mut self, site: &Site, value: &Sym) -> Slot<Flat> {
        match value {
            Sym::Known(value) => self.emitter.constant(Self::place(site), value, None),
            Sym::Flat(flat) => Ok(flat.clone()),
        }
    }

    /// Emits an operation at a site; a word names it where it is not the site's own result.
    pub fn emit(
        &mut self,
        site: &Site,
        operation: &'static str,
        arguments: Vec<(&'static str, Value)>,
        result: (DType, &[usize]),
        word: &str,
    ) -> Slot<Flat> {
        let mut name = self.emitter.name(site, site.trips.len());
        if !word.is_empty() {
            name = self.emitter.under(name, word);
        }
        self.emitter.emit(Self::place(site), operation, arguments, result, name)
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
        let base = self.emitter.name(site, depth);
        let names = (0..extent as u64).map(|i| self.emitter.numbered(base, i)).collect();
        let arguments = vec![("value", Value::Tensor(flat.id)), ("axis", Value::Int(axis as i64))];
        let made = self.emitter.emit_all(Self::place(site), "unstack", arguments, (flat.dtype, &shape), Err(names))?;
        let made: Arc<[Flat]> = made.into();
        self.parts.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// One part of a tensor along an axis.
    pub fn part(&mut self, site: &Site, flat: &Flat, axis: usize, index: usize) -> Slot<Flat> {
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

    /// The larger number of elements that a constant may have while unrolling.
    fn stack_known(items: &[Arc<Tensor>], length: usize, shape: &[usize], dtype: DType) -> Option<Tensor> {
        let mut data = Data::zeros(dtype, 0);
        items.iter().for_each(|item| data.append(item.data()));
        let mut dims = Dims::from(shape);
        dims.insert(0, length);
        data.pad(volume(&dims)?);
        Tensor::new(&dims, data)
    }
}

impl Domain for Symbols<'_> {
    type Value = Sym;
    type Gathered = Elements;

    fn constant(&mut self, value: &Arc<Tensor>) -> Sym {
        Sym::Known(Arc::clone(value))
    }

    fn operation(&mut self, site: &Site, what: (Op, &Attributes, Option<&Type>), inputs: &[&Sym]) -> Slot<Sym> {
        let known: Option<smallvec::SmallVec<[&Tensor; 4]>> = inputs
            .iter()
            .map(|input| match input {
                Sym::Known(value) => Some(&**value),
                Sym::Flat(_) => None,
            })
            .collect();
        match known {
            Some(known) => {
                let result = compute(site, what, &known)?;
                self.work = self.work.saturating_add(result.data().len() as u64 / 64);
                Ok(Sym::Known(Arc::new(result)))
            }
            None => lower::operation(self, site, what, inputs),
        }
    }

    fn element(&mut self, site: &Site, of: (TensorId, &Sym), axis: usize, index: i64, trips: Option<u64>) -> Slot<Sym> {
        let flat = match of.1 {
            Sym::Known(value) => return Ok(Sym::Known(Arc::new(element(site, (of.0, value), axis, index)?))),
            Sym::Flat(flat) => flat,
        };
        let extent = flat.shape.get(axis).copied().unwrap_or(0);
        let inside = usize::try_from(index).ok().filter(|&index| index < extent);
        let index = inside.ok_or_else(|| out_of_range(site, of.0, index, extent))?;
        if trips == Some(extent as u64) || self.parts.contains_key(&(flat.id, axis)) {
            return Ok(Sym::Flat(self.unstack(site, (of.0, flat), axis, extent)?[index].clone()));
        }
        self.part(site, flat, axis, index).map(Sym::Flat)
    }

    fn number(&self, value: &Sym) -> Option<i64> {
        match value {
            Sym::Known(value) => value.as_integer(),
            Sym::Flat(_) => None,
        }
    }

    fn truth(&self, value: &Sym) -> Option<bool> {
        match value {
            Sym::Known(value) => value.as_bool(),
            Sym::Flat(_) => None,
        }
    }

    fn open(&mut self, _: &Collecting) -> Elements {
        Elements { items: Vec::new(), shifted: false }
    }

    fn push(&mut self, collecting: &Collecting, to: &mut Elements, value: &Sym, active: Option<&Sym>) -> Slot<()> {
        let count = to.items.len();
        if !to.shifted && count == collecting.length {
            return Err(too_short(collecting));
        }
        if to.items.first().is_some_and(|first| first.shape() != value.shape()) {
            return Err(other_shape(collecting));
        }
        if count >= MAX_ITEMS {
            let message = format!("loop output `{}` has more than {MAX_ITEMS} elements", collecting.site.name());
            return Err(collecting.site.fail(Code::LengthBudget, message));
        }
        let Some(active) = active else {
            to.items.push(value.clone());
            return Ok(());
        };
        let len = value.shape().iter().product();
        let zeros = Tensor::new(value.shape(), Data::zeros(value.dtype(), len));
        let zeros = Sym::Known(Arc::new(zeros.ok_or_else(|| other_shape(collecting))?));
        if !collecting.reverse {
            to.items.push(self.choose(&collecting.site, active, value, &zeros)?);
            return Ok(());
        }
        // The last trip made comes first: each trip that is made moves the others back by one.
        if !to.shifted {
            to.items.reverse();
            to.shifted = true;
        } else if count == collecting.length {
            return Err(too_short(collecting));
        }
        let mut moved = Vec::with_capacity(count + 1);
        for i in 0..=count {
            let new = if i == 0 { value } else { &to.items[i - 1] };
            let old = to.items.get(i).unwrap_or(&zeros);
            moved.push(self.choose(&collecting.site, active, new, old)?);
        }
        to.items = moved;
        Ok(())
    }

    fn close(&mut self, collecting: &Collecting, from: Elements) -> Slot<Sym> {
        let mut items = from.items;
        if collecting.reverse && !from.shifted {
            items.reverse();
        }
        let (dtype, shape) = match items.first() {
            Some(first) => (first.dtype(), Dims::from(first.shape())),
            None => {
                let (ty, dims) = element_type(collecting)?;
                (ty.dtype, dims)
            }
        };
        let site = &collecting.site;
        let too_large = || site.fail(Code::MemoryBudget, format!("loop output `{}` is too large", site.name()));
        let known: Option<Vec<Arc<Tensor>>> = items
            .iter()
            .map(|item| match item {
                Sym::Known(value) => Some(Arc::clone(value)),
                Sym::Flat(_) => None,
            })
            .collect();
        if let Some(known) = known {
            let whole = Self::stack_known(&known, collecting.length, &shape, dtype).ok_or_else(too_large)?;
            return Ok(Sym::Known(Arc::new(whole.move_first_axis(collecting.axis))));
        }
        let len: usize = shape.iter().product();
        if collecting.length.saturating_mul(len.max(1)) > MAX_ELEMENTS {
            return Err(too_large());
        }
        let zeros = Tensor::new(&shape, Data::zeros(dtype, len)).ok_or_else(too_large)?;
        items.resize(collecting.length, Sym::Known(Arc::new(zeros)));
        let mut values = Vec::with_capacity(items.len());
        for item in &items {
            values.push(Value::Tensor(self.tensor(site, item)?.id));
        }
        let mut whole = shape;
        whole.insert(collecting.axis, collecting.length);
        let arguments = vec![("values", Value::Array(values.into())), ("axis", Value::Int(collecting.axis as i64))];
        self.emit(site, "stack", arguments, (dtype, &whole), "").map(Sym::Flat)
    }

    fn bytes(&self, value: &Sym) -> u64 {
        match value {
            Sym::Known(value) => value.bytes(),
            Sym::Flat(_) => 0,
        }
    }

    fn work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }

    fn bound(&self) -> Option<u64> {
        self.bound
    }

    fn both(&mut self, site: &Site, a: &Sym, b: &Sym) -> Slot<Sym> {
        match (self.truth(a), self.truth(b)) {
            (Some(true), _) => Ok(b.clone()),
            (_, Some(true)) => Ok(a.clone()),
            (Some(false), _) => Ok(a.clone()),
            (_, Some(false)) => Ok(b.clone()),
            (None, None) => {
                let arguments = vec![
                    ("x", Value::Tensor(self.tensor(site, a)?.id)),
                    ("y", Value::Tensor(self.tensor(site, b)?.id)),
                ];
                self.emit(site, "and", arguments, (DType::Bool, &[]), "active").map(Sym::Flat)
            }
        }
    }

    fn choose(&mut self, site: &Site, active: &Sym, new: &Sym, old: &Sym) -> Slot<Sym> {
        if new.same(old) {
            return Ok(old.clone());
        }
        match self.truth(active) {
            Some(true) => Ok(new.clone()),
            Some(false) => Ok(old.clone()),
            None => {
                let arguments = vec![
                    ("condition", Value::Tensor(self.tensor(site, active)?.id)),
                    ("true_value", Value::Tensor(self.tensor(site, new)?.id)),
                    ("false_value", Value::Tensor(self.tensor(site, old)?.id)),
                ];
                self.emit(site, "select", arguments, (new.dtype(), new.shape()), "chosen").map(Sym::Flat)
            }
        }
    }

    fn unfinished(&mut self, site: &Site, active: &Sym) -> Slot<()> {
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
            Some(before) => self.both(site, &before, &done)?,
            None => done,
        });
        Ok(())
    }
}
