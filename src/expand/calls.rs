//! Calls of fragments and operations: frames, names of results, and emission into the graph.

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::arithmetic::{Failure, Outcome, Space};
use super::code::{Head, Hint, Operand, Site};
use super::list::List;
use super::machine::{Active, Frame, Machine, Reached, Slot};
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::graph::{Argument, Key, Kind, KindId, KindParam, OriginId, Output, TensorId};
use crate::nnef::ast::Primitive;
use crate::nnef::check::{Checked, FragmentId, Generic, ParamInfo};
use crate::nnef::dialect::Dialect;
use crate::nnef::document::ModuleId;
use crate::nnef::names::Name;
use crate::nnef::standard;
use crate::nnef::types::{Element, Type};
use crate::source::{FileId, Location};

/// The name that a result is to have.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// None in particular.
    Auto,
    /// This one.
    Name(NameId),
    /// Its items these.
    Items(Rc<[Target]>),
}

/// A result that was made: one tensor, or an array of tensors.
enum Made {
    Tensor(TensorId),
    Array(SmallVec<[TensorId; 4]>),
}

impl Made {
    fn view(&self) -> Output<'_> {
        match self {
            Made::Tensor(tensor) => Output::Tensor(tensor),
            Made::Array(tensors) => Output::Array(tensors),
        }
    }
}

type Outputs = SmallVec<[Made; 2]>;

impl Machine<'_, '_> {
    pub(super) fn child(&mut self, segment: Name, ordinal: u32) -> NameId {
        let frame = self.frame();
        let (path, inner) = (frame.path, frame.inner);
        self.graph.names.child(path, segment, ordinal, inner)
    }

    /// The target that a hint gives to the `result`th of `count` results.
    pub(super) fn target(&mut self, hint: Hint, result: u32, count: usize) -> Target {
        match hint {
            Hint::None => Target::Auto,
            Hint::Local(name) if count == 1 => Target::Name(self.child(name, 0)),
            Hint::Local(_) => Target::Auto,
            Hint::Named(id) if count == 1 => Target::Name(id),
            Hint::Named(_) => Target::Auto,
            Hint::Result(i) if count == 1 => {
                let frame = self.frame();
                let (base, fragment) = (frame.targets, frame.fragment);
                match (self.targets.get((base + i) as usize).cloned(), fragment) {
                    (Some(Target::Auto), Some(fragment)) => {
                        let name = self.checked.fragment(fragment).results[i as usize].name;
                        Target::Name(self.child(name, 0))
                    }
                    (target, _) => target.unwrap_or(Target::Auto),
                }
            }
            Hint::Result(_) => Target::Auto,
            Hint::Items { start, len, .. } if count > 1 => {
                if result < len {
                    self.target(self.program.hints[(start + result) as usize], 0, 1)
                } else {
                    Target::Auto
                }
            }
            Hint::Items { start, len, .. } => {
                let items: Vec<Target> =
                    (start..start + len).map(|i| self.target(self.program.hints[i as usize], 0, 1)).collect();
                Target::Items(items.into())
            }
        }
    }

    pub(super) fn call(&mut self, index: u32) -> Outcome<()> {
        self.step()?;
        self.check_depth()?;
        let site = self.program.sites[index as usize];
        let Some(fragment) = site.fragment else { return Ok(()) };
        let head = self.head(fragment);
        let names = self.call_targets(&site, fragment, head.results as usize, head.makes_tensors);
        let dtype = self.type_argument(&site);
        self.enter(index, fragment, head, names, dtype);
        Ok(())
    }

    /// Enters the body of a fragment whose arguments are on the stack, with the path and the first
    /// target of what it makes. It comes back to the next instruction.
    pub(super) fn enter(
        &mut self,
        index: u32,
        fragment: FragmentId,
        head: Head,
        (path, targets): (NameId, u32),
        dtype: Option<Primitive>,
    ) {
        let pc = self.pc;
        let caller = self.frame();
        caller.pc = pc;
        let inner = caller.inner || head.standard;
        let base = self.slots.len();
        let first = self.stack.len() - head.params as usize;
        match head.params {
            1 => self.slots.push(Slot::ready(self.stack.pop())),
            _ => self.slots.extend(self.stack.drain(first..).map(Slot::Ready)),
        }
        for _ in head.params..head.slots {
            self.slots.push(Slot::Empty);
        }
        (self.pc, self.base) = (head.entry, base as u32);
        let frame = self.frames.len() as u32;
        let active = &mut self.active[fragment.index()];
        if active.count == 0 {
            active.first_frame = frame;
        }
        active.count += 1;
        self.frames.push(Frame {
            pc: head.entry,
            slots: base as u32,
            targets,
            fragment: Some(fragment),
            site: index,
            path,
            dtype,
            inner,
            recursions: 0,
            origin: None,
            file: head.file,
        });
    }

    /// Decides the names of a call's results and of what it makes on the way, and notes the
    /// former. A recursive call continues the names of the first one, so that names stay short.
    fn call_targets(
        &mut self,
        site: &Site,
        fragment: FragmentId,
        results: usize,
        makes_tensors: bool,
    ) -> (NameId, u32) {
        let base = self.targets.len() as u32;
        if !makes_tensors {
            let path = self.frame().path;
            self.targets.resize(base as usize + results, Target::Auto);
            return (path, base);
        }
        let named = match site.hint {
            Hint::None | Hint::Local(_) => None,
            hint => Some(hint),
        };
        if let (Some(hint), 1) = (named, results) {
            let target = self.target(hint, 0, 1);
            if let Some(path) = first_name(&target) {
                self.targets.push(target);
                return (path, base);
            }
        } else if let Some(hint) = named {
            let targets: SmallVec<[Target; 4]> = (0..results as u32).map(|i| self.target(hint, i, results)).collect();
            let path = targets.iter().find_map(first_name);
            self.targets.extend(targets);
            if let Some(path) = path {
                return (path, base);
            }
        }
        let path = self.fresh_path(site, fragment);
        self.targets.truncate(base as usize);
        let single = match site.hint {
            Hint::None | Hint::Local(_) if results == 1 => Target::Name(path),
            _ => Target::Auto,
        };
        self.targets.resize(base as usize + results, single);
        (path, base)
    }

    fn fresh_path(&mut self, site: &Site, fragment: FragmentId) -> NameId {
        let (segment, ordinal) = match site.hint {
            Hint::Local(name) => (name, 0),
            _ => (site.name, site.ordinal),
        };
        let Active { count, first_frame } = self.active[fragment.index()];
        if count == 0 {
            return self.child(segment, ordinal);
        }
        let inner = self.frame().inner;
        let first = &mut self.frames[first_frame as usize];
        first.recursions += 1;
        let (path, recursions) = (first.path, first.recursions);
        self.graph.names.child(path, segment, recursions, inner)
    }

    /// Leaves a fragment and pushes its results.
    pub(super) fn finish_call(&mut self) {
        let Some(&Frame { slots, targets, fragment: Some(fragment), .. }) = self.frames.last() else { return };
        self.frames.truncate(self.frames.len() - 1);
        self.active[fragment.index()].count -= 1;
        let Some(body) = self.bodies[fragment.index()].as_ref() else { return };
        let base = slots as usize;
        if let [result] = body.results[..] {
            // The checks see to it that results are assigned.
            match self.slots[base + result as usize].take() {
                Some(Value::Tensor(tensor)) => self.stack.push(Value::Tensor(tensor)),
                value => self.stack.push(value.unwrap_or(Value::Logical(false))),
            }
        } else {
            let values = body.results.iter().filter_map(|&slot| self.slots[base + slot as usize].take()).collect();
            self.stack.push(Value::Tuple(List::from_values(values, Some(&self.space.meter))));
        }
        self.slots.truncate(base);
        self.targets.truncate(targets as usize);
        if let Some(caller) = self.frames.last() {
            (self.pc, self.base) = (caller.pc, caller.slots);
        }
    }

    /// Adds the operation of a site to the graph and pushes its results.
    pub(super) fn emit(&mut self, index: u32) -> Outcome<()> {
        let site = self.program.sites[index as usize];
        let first = self.stack.len() - site.keys.1 as usize;
        if let Some(ty) = self.single_result(&site) {
            self.check_operations()?;
            for i in first..self.stack.len() {
                match &self.stack[i] {
                    Value::Tensor(tensor) => self.graph.push_tensor_operand(*tensor),
                    value => self.graph.push_operand(value.freeze(&self.space)?),
                }
            }
            self.stack.truncate(first);
            let tensor = self.emit_single(&site, index, ty);
            self.stack.push(Value::Tensor(tensor));
            return Ok(());
        }
        let mut arguments: SmallVec<[Argument; 8]> = SmallVec::new();
        for (key, value) in self.program.keys_of(&site).iter().zip(&self.stack[first..]) {
            arguments.push(Argument { key: *key, value: value.freeze(&self.space)? });
        }
        self.stack.truncate(first);
        self.emit_with(&site, arguments)
    }

    /// The type of the one tensor that a site's operation gives, if nothing about it is out of the
    /// ordinary.
    fn single_result(&self, site: &Site) -> Option<Type> {
        let info = self.checked.fragment(site.fragment?);
        let plain = !info.open_results && self.input_shapes.is_empty();
        match info.results[..] {
            [result] if plain && !matches!(result.ty, Type::Array(_)) => Some(result.ty),
            _ => None,
        }
    }

    /// Adds an operation with one tensor as result, whose arguments are in the graph already.
    fn emit_single(&mut self, site: &Site, index: u32, ty: Type) -> TensorId {
        let dtype = self.type_argument(site);
        let target = self.target(site.hint, 0, 1);
        let tensor = self.tensor(target, (site.name, site.ordinal), element(ty, dtype));
        self.graph.push_output(Output::Tensor(&tensor));
        let signature = match self.reached(index).signature {
            Some(signature) => signature,
            None => {
                let kind = self.kind(site);
                let signature = self.graph.signature(kind, self.program.keys_of(site), 1);
                self.reached(index).signature = Some(signature);
                signature
            }
        };
        let (dtype, source) = (self.written_type(site, dtype), self.source(site));
        let operation = self.graph.finish_operation(signature, dtype, source);
        self.infer_shapes(operation);
        tensor
    }

    /// Adds the operation of a site to the graph, with operands that are not on the stack.
    pub(super) fn apply(&mut self, index: u32) -> Outcome<()> {
        self.check_operations()?;
        let site = self.program.sites[index as usize];
        self.push_operands(site.operands, site.keys.1)?;
        // The compiler sees to it that there is a declaration with one result.
        let ty = site.fragment.map_or(Type::Unknown, |fragment| self.checked.fragment(fragment).results[0].ty);
        let tensor = self.emit_single(&site, index, ty);
        match site.slot {
            Some(slot) => *self.slot(slot.get() - 1) = Slot::Ready(Value::Tensor(tensor)),
            None => self.stack.push(Value::Tensor(tensor)),
        }
        Ok(())
    }

    /// Adds operands that are not on the stack to the operation that is finished next.
    pub(super) fn push_operands(&mut self, first: u32, count: u32) -> Outcome<()> {
        for operand in &self.program.operands[first as usize..(first + count) as usize] {
            let value = match operand {
                Operand::Slot(slot) => match &self.slots[(self.base + slot) as usize] {
                    Slot::Ready(value) => value,
                    // The compiler lets no other slot be read.
                    Slot::Empty | Slot::Deferred(_) => &Value::Logical(false),
                },
                Operand::Const(constant) => &self.program.constants[*constant as usize],
            };
            match value {
                Value::Tensor(tensor) => self.graph.push_tensor_operand(*tensor),
                value => self.graph.push_operand(value.freeze(&self.space)?),
            }
        }
        Ok(())
    }

    /// The type argument as the graph has it, and whether it was written. The draft has data-types,
    /// but no type arguments.
    fn written_type(&self, site: &Site, dtype: Option<Primitive>) -> (Option<Primitive>, bool) {
        (dtype.filter(|_| self.checked.document.dialect() == Dialect::V1), site.explicit)
    }

    /// Where an operation comes from.
    fn source(&mut self, site: &Site) -> (Location, OriginId) {
        (Location::new(self.frame().file, site.span), self.origin())
    }

    /// What the graph has of a site.
    fn reached(&mut self, site: u32) -> &mut Reached {
        if self.reached.len() <= site as usize {
            self.reached.resize(self.program.sites.len(), Reached::default());
        }
        &mut self.reached[site as usize]
    }

    /// The type argument of a call; `?` is that of the running fragment.
    fn type_argument(&mut self, site: &Site) -> Option<Primitive> {
        match site.generic {
            Some(Primitive::Generic) => self.frame().dtype,
            generic => generic,
        }
    }

    pub(super) fn check_operations(&self) -> Outcome<()> {
        if (self.graph.operations.len() as u64) < self.max_ops {
            return Ok(());
        }
        let message = format!("the flat graph has more than {} operations", self.max_ops);
        Err(Failure::new(Code::OperationBudget, message).help("raise the limit with --max-ops"))
    }

    /// Adds an operation to the graph and pushes its results.
    pub(super) fn emit_with(&mut self, site: &Site, mut arguments: SmallVec<[Argument; 8]>) -> Outcome<()> {
        self.check_operations()?;
        let dtype = self.type_argument(site);
        let kind = self.kind(site);
        let outputs = match site.fragment {
            Some(fragment) if !self.open_results(site) => self.declared_outputs(site, fragment, dtype)?,
            _ => self.undeclared_outputs(site),
        };
        self.override_shape(site, &mut arguments, &outputs);
        self.push_outputs(site, &outputs);
        let (dtype, source) = (self.written_type(site, dtype), self.source(site));
        let outputs: SmallVec<[Output; 2]> = outputs.iter().map(Made::view).collect();
        let operation = self.graph.add_operation(kind, dtype, arguments, &outputs, source);
        self.infer_shapes(operation);
        Ok(())
    }

    /// Whether the left side says how many results there are.
    fn open_results(&self, site: &Site) -> bool {
        site.fragment.is_some_and(|fragment| self.checked.fragment(fragment).open_results)
    }

    fn push_outputs(&mut self, site: &Site, outputs: &Outputs) {
        let meter = Rc::clone(&self.space.meter);
        let value = |output: &Made| match output {
            Made::Tensor(tensor) => Value::Tensor(*tensor),
            Made::Array(tensors) => Value::Array(List::from_tensors(tensors.iter().copied(), Some(&meter))),
        };
        let tuple = (site.fragment.is_none() || self.open_results(site))
            && matches!(site.hint, Hint::Items { tuple: true, .. });
        let value = match &outputs[..] {
            [single] if !tuple => value(single),
            several => Value::Tuple(List::from_values(several.iter().map(value).collect(), Some(&meter))),
        };
        self.stack.push(value);
    }

    fn tensor(&mut self, target: Target, otherwise: (Name, u32), dtype: Option<Primitive>) -> TensorId {
        let name = match target {
            Target::Name(id) => id,
            _ => self.child(otherwise.0, otherwise.1),
        };
        self.graph.add_tensor(name, dtype)
    }

    fn declared_outputs(&mut self, site: &Site, fragment: FragmentId, generic: Option<Primitive>) -> Outcome<Outputs> {
        let count = self.checked.fragment(fragment).results.len();
        let mut outputs = Outputs::new();
        for i in 0..count {
            let info = self.checked.fragment(fragment).results[i];
            let target = self.target(site.hint, i as u32, count);
            let otherwise = if count == 1 { (site.name, site.ordinal) } else { (info.name, 0) };
            match info.ty {
                Type::Array(array) => {
                    let Target::Items(items) = target else {
                        let message =
                            format!("how many tensors `{}` gives is not known here", self.checked.text(site.name));
                        let help = "assign them to names: `[a, b] = ..;`";
                        return Err(Failure::new(Code::UnknownLength, message).help(help));
                    };
                    let dtype = element(self.checked.types.item(array), generic);
                    let tensors: SmallVec<[TensorId; 4]> = items
                        .iter()
                        .enumerate()
                        .map(|(i, target)| self.tensor(target.clone(), (site.name, i as u32 + 1), dtype))
                        .collect();
                    outputs.push(Made::Array(tensors));
                }
                ty => {
                    let tensor = self.tensor(target, otherwise, element(ty, generic));
                    outputs.push(Made::Tensor(tensor));
                }
            }
        }
        Ok(outputs)
    }

    /// The results of an operation that is not declared, as the left side has them.
    fn undeclared_outputs(&mut self, site: &Site) -> Outputs {
        let Hint::Items { start, len, tuple } = site.hint else {
            let target = match self.target(site.hint, 0, 1) {
                Target::Items(items) => return smallvec::smallvec![self.output_array(site, &items)],
                target => target,
            };
            let tensor = self.tensor(target, (site.name, site.ordinal), site.generic);
            return smallvec::smallvec![Made::Tensor(tensor)];
        };
        let targets: Vec<Target> =
            (start..start + len).map(|i| self.target(self.program.hints[i as usize], 0, 1)).collect();
        if !tuple {
            return smallvec::smallvec![self.output_array(site, &targets)];
        }
        let mut outputs = Outputs::new();
        for (i, target) in targets.into_iter().enumerate() {
            outputs.push(match target {
                Target::Items(items) => self.output_array(site, &items),
                target => Made::Tensor(self.tensor(target, (site.name, i as u32 + 1), None)),
            });
        }
        outputs
    }

    fn output_array(&mut self, site: &Site, targets: &[Target]) -> Made {
        let tensor = |(i, target): (usize, &Target)| self.tensor(target.clone(), (site.name, i as u32 + 1), None);
        Made::Array(targets.iter().enumerate().map(tensor).collect())
    }

    /// Replaces the shape of an external where the caller asks for it.
    fn override_shape(&mut self, site: &Site, arguments: &mut [Argument], outputs: &Outputs) {
        if self.input_shapes.is_empty() || !standard::INPUTS.contains(&self.checked.text(site.name)) {
            return;
        }
        let [Made::Tensor(tensor)] = &outputs[..] else { return };
        let name = self.graph.names.user_name(self.graph.tensors[tensor.index()].name);
        let Some(given) = name.and_then(|name| self.input_shapes.get(&name)) else { return };
        let is_shape = |key: Key| match (key, site.fragment) {
            (Key::Param(i), Some(fragment)) => {
                self.checked.text(self.checked.fragment(fragment).params[i as usize].name) == "shape"
            }
            (Key::Named(key), _) => self.checked.text(key) == "shape",
            _ => false,
        };
        if let Some(shape) = arguments.iter_mut().find(|argument| is_shape(argument.key)) {
            shape.value = crate::graph::Value::Integers(Arc::clone(given));
        }
    }

    /// The kind of a site's operation, added to the graph when it is met first.
    fn kind(&mut self, site: &Site) -> KindId {
        if let Some(fragment) = site.fragment {
            return self.declared_kind(fragment);
        }
        if let Some(kind) = self.undeclared.get(&site.name) {
            return *kind;
        }
        let (params, results) = (Vec::new(), Vec::new());
        let kind = Kind { name: site.name, params, results, declared: false, standard: false, generic: false };
        let id = self.graph.add_kind(kind);
        self.undeclared.insert(site.name, id);
        id
    }

    /// The kind of the operations of a declaration.
    pub(super) fn declared_kind(&mut self, fragment: FragmentId) -> KindId {
        if let Some(kind) = self.kinds[fragment.index()] {
            return kind;
        }
        let id = self.graph.add_kind(kind_of(self.checked, fragment, &self.space));
        self.kinds[fragment.index()] = Some(id);
        id
    }

    /// The chain of calls of the running frame. Frames that emit nothing need none.
    fn origin(&mut self) -> OriginId {
        if let Some(origin) = self.frame().origin {
            return origin;
        }
        let known = self.frames.iter().rposition(|frame| frame.origin.is_some()).unwrap_or(0);
        let mut origin = self.frames[known].origin.unwrap_or(OriginId::NONE);
        for i in known + 1..self.frames.len() {
            let index = self.frames[i].site;
            let place = match self.reached.get(index as usize) {
                Some(Reached { place: Some(place), .. }) => *place,
                _ => self.call_place(index, self.frames[i - 1].file),
            };
            origin = self.graph.add_origin(origin, place);
            self.frames[i].origin = Some(origin);
        }
        origin
    }

    /// The place of a call that is met first.
    fn call_place(&mut self, index: u32, file: FileId) -> u32 {
        let site = &self.program.sites[index as usize];
        let place = self.graph.add_call_place(site.name, Location::new(file, site.span));
        self.reached(index).place = Some(place);
        place
    }
}

/// What a declaration says about an operation.
pub(crate) fn kind_of(checked: &Checked, fragment: FragmentId, space: &Space) -> Kind {
    let info = checked.fragment(fragment);
    let default = |id| super::literal(checked, info.module, id).freeze(space).ok();
    let param = |param: &ParamInfo| KindParam {
        name: param.name,
        tensor: param.tensor,
        default: param.default.and_then(default),
    };
    Kind {
        name: info.name,
        params: info.params.iter().map(param).collect(),
        results: info.results.iter().map(|result| result.name).collect(),
        declared: true,
        standard: info.module == ModuleId::STANDARD,
        generic: info.generic != Generic::No,
    }
}

pub(super) fn first_name(target: &Target) -> Option<NameId> {
    match target {
        Target::Auto => None,
        Target::Name(id) => Some(*id),
        Target::Items(items) => items.iter().find_map(first_name),
    }
}

/// The elements of a tensor result.
pub(super) fn element(ty: Type, generic: Option<Primitive>) -> Option<Primitive> {
    match ty {
        Type::Tensor(Element::Of(Primitive::Generic)) => generic,
        Type::Tensor(Element::Of(primitive)) => Some(primitive),
        _ => None,
    }
}
