//! Emission: adding operations to the graph, and naming their results.

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::budget::{Budget, FUEL_OF_EMISSION, Failure, Outcome};
use super::frame::{Frame, ResultName};
use super::list::List;
use super::machine::Machine;
use super::program::{FirstOperand, Hint, Site};
use super::sites::{Emission, Reached};
use super::unit::{ResultForm, Unit, UnitId};
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::graph::shapes::Inferred;
use crate::graph::standard;
use crate::graph::{self, Common, Extent, Graph, Key, Kind, KindId, Output, Primitive, Shape, SignatureId, TensorId};
use crate::source::names::Name;
use crate::source::{Location, Span};

/// The result of an emission: one tensor, or an array of tensors.
enum EmittedResult {
    Tensor(TensorId),
    Array(SmallVec<[TensorId; 4]>),
}

type Outputs = SmallVec<[EmittedResult; 2]>;

/// Replaces `?` by the type argument.
#[inline]
fn under(dtype: Option<Primitive>, generic: Option<Primitive>) -> Option<Primitive> {
    if dtype == Some(Primitive::Generic) { generic } else { dtype }
}

impl Machine {
    /// Adds the operation of a site to the graph. Its result goes to the slot of the site, or is pushed.
    #[inline(never)]
    pub(super) fn emit(&mut self, index: u32) -> Outcome<()> {
        self.check_operations()?;
        let emission = match self.sites.reached.get(index as usize) {
            Some(Reached::Emits(emission)) => *emission,
            _ => self.reach(index),
        };
        if emission.single.is_none() {
            let value = self.emit_several(index, emission)?;
            self.place(index, value);
            return Ok(());
        }
        let Site { operands, keys: (_, count), span, hint, name, ordinal, .. } = self.program.sites[index as usize];
        let common = self.push_arguments(operands, count as usize)?;
        let name = self.result_name(hint, (name, ordinal));
        let tensor = self.finish(emission, name, span, count, common);
        self.place(index, Value::Tensor(tensor));
        Ok(())
    }

    /// Stores the result of a site in its slot, or pushes it.
    #[inline(always)]
    fn place(&mut self, index: u32, value: Value) {
        match self.program.sites[index as usize].slot {
            Some(slot) => self.put(slot.get() - 1, value),
            None => self.give(value),
        }
    }

    /// Adds the operation of a site whose result may be anything but one tensor, or whose shape may be replaced.
    #[inline(never)]
    fn emit_several(&mut self, index: u32, emission: Emission) -> Outcome<Value> {
        let site = &{ self.program.sites[index as usize] };
        let outputs = match site.unit {
            Some(unit) if !self.open_results(site) => self.declared_outputs(site, unit)?,
            _ => self.undeclared_outputs(site),
        };
        let mut operands = site.operands;
        let given = self.given_shape(site, &outputs);
        if let Some(shape) = &given {
            if let Some(first) = operands.take() {
                self.push_operands(first, site.keys.1);
            }
            self.replace_shape(site, shape)?;
        }
        self.push_arguments(operands, site.keys.1 as usize)?;
        for output in &outputs {
            self.graph.push_output(match output {
                EmittedResult::Tensor(tensor) => Output::Tensor(tensor),
                EmittedResult::Array(tensors) => Output::Array(tensors),
            });
        }
        let signature = self.graph.signature(emission.kind, self.program.keys_of(site), outputs.len());
        let generic = self.argument_type(&emission, site.keys.1);
        self.set_elements(&outputs, generic);
        let source = (Location::new(emission.file, site.span), self.origin());
        let operation = self.graph.finish_operation(signature, self.written(&emission, generic), source);
        let value = self.value_of(site, &outputs);
        self.infer_shapes(operation);
        if let Some(shape) = given {
            // The shape of the input is known, even if its operation has no shape rule.
            let extent = |extent: &Extent| if extent.known() == Some(0) { Extent::UNKNOWN } else { extent.clone() };
            let shape = Shape::new(&shape.iter().map(extent).collect::<SmallVec<[Extent; 4]>>());
            self.graph.set_shapes(operation, Inferred::Same(Some(shape)));
        }
        Ok(value)
    }

    /// Adds an operation with one result that is not a call in the source.
    pub(super) fn emit_with(&mut self, site: &Site, arguments: &[(Key, graph::Value)]) -> Outcome<Value> {
        self.check_operations()?;
        let keys: SmallVec<[Key; 8]> = arguments.iter().map(|(key, _)| *key).collect();
        let kind = self.kind(site);
        let signature = self.graph.signature(kind, &keys, 1);
        let emission = self.emission(site, kind, signature);
        let mut common = Common::default();
        for (_, value) in arguments {
            self.graph.push_operand(value.clone(), &mut common);
        }
        let name = self.result_name(site.hint, (site.name, site.ordinal));
        Ok(Value::Tensor(self.finish(emission, name, site.span, arguments.len() as u32, common)))
    }

    /// Adds an operation whose `count` arguments were added to the graph, and returns its only result, which
    /// gets this name. `common` describes the shape that all arguments have.
    #[inline(always)]
    fn finish(&mut self, emission: Emission, name: NameId, span: Span, count: u32, common: Common) -> TensorId {
        let generic = self.argument_type(&emission, count);
        let source = (Location::new(emission.file, span), self.origin());
        // If items of an argument are known, those of the result may be known too, so inference is needed.
        let shape = common.shape().filter(|_| emission.by_item && !common.known);
        let element = emission.single.flatten();
        let element = if emission.follows { common.elements().or(element) } else { element };
        let result = (name, under(element, generic));
        let form = (emission.signature, self.written(&emission, generic));
        let (operation, tensor) = self.graph.add_single(form, count, source, result, shape);
        if shape.is_none() {
            self.infer_shapes(operation);
        }
        tensor
    }

    /// The type argument of the operation whose `count` arguments were added last. It is deduced from the element
    /// types of the arguments, like when the flat text is read: these can differ from the declared types (E0721).
    #[inline(always)]
    fn argument_type(&mut self, emission: &Emission, count: u32) -> Option<Primitive> {
        let deduced = if emission.deduced { self.deduced(emission, count) } else { None };
        deduced.or_else(|| self.type_argument(emission.generic))
    }

    #[inline(never)]
    fn deduced(&self, emission: &Emission, count: u32) -> Option<Primitive> {
        let unit = self.units.get(emission.unit?);
        let decides = |key: &Key| matches!(key, Key::Param(i) if unit.params[*i as usize].decides);
        let arguments = self.graph.keys_of(emission.signature).iter().zip(self.graph.last_operands(count));
        arguments.filter(|(key, _)| decides(key)).find_map(|(_, operand)| self.graph.elements(operand))
    }

    /// The type argument that the graph stores, and whether it was specified.
    #[inline(always)]
    fn written(&self, emission: &Emission, generic: Option<Primitive>) -> (Option<Primitive>, bool) {
        (if self.settings.untyped { None } else { generic }, emission.explicit)
    }

    /// Computes the common properties of the operations of a site. Caches them only if the site can be reached
    /// again: statements of the graph outside of loops run once.
    #[inline(never)]
    fn reach(&mut self, index: u32) -> Emission {
        let site = self.program.sites[index as usize];
        let kind = self.kind(&site);
        let signature = self.graph.signature(kind, self.program.keys_of(&site), 1);
        let emission = self.emission(&site, kind, signature);
        if self.frames.len() > 1 || !self.iterations.is_empty() {
            *self.sites.reached(index, self.program.sites.len()) = Reached::Emits(emission);
        }
        emission
    }

    /// The common properties of the operations of a site, given their kind and signature.
    fn emission(&mut self, site: &Site, kind: KindId, signature: SignatureId) -> Emission {
        // The shape of an input can be replaced, depending on its name.
        let replaced = !self.settings.input_shapes.is_empty() && self.is_input(site);
        let single = site.unit.and_then(|unit| {
            let unit = self.units.get(unit);
            match unit.results[..] {
                [result] if !unit.open_results && !replaced => match result.form {
                    ResultForm::Tensor(element) => Some(element),
                    ResultForm::Tensors(_) | ResultForm::Tuple => None,
                },
                _ => None,
            }
        });
        let by_item = self.shapes.is_by_item(&self.graph, kind) && single.is_some();
        let params = site.unit.map_or(&[][..], |unit| &self.units.get(unit).params);
        let deduced = !site.explicit && !self.settings.untyped && params.iter().any(|param| param.decides);
        Emission {
            kind,
            signature,
            by_item,
            follows: self.shapes.follows(kind),
            single,
            file: self.file_of(self.frames.last().and_then(|frame| frame.unit)),
            unit: site.unit,
            generic: site.generic,
            explicit: site.explicit,
            deduced,
        }
    }

    /// Adds arguments to the operation that is built next: operands, or the top `count` values of the stack.
    #[inline(always)]
    fn push_arguments(&mut self, operands: Option<FirstOperand>, count: usize) -> Outcome<Common> {
        let mut common = Common::default();
        let Some(first) = operands else {
            let first = self.stack.len() - count;
            for value in &self.stack[first..] {
                match value {
                    Value::Tensor(tensor) => self.graph.push_tensor_operand(*tensor, &mut common),
                    value => common = push_argument(&mut self.graph, value, &self.budget, common)?,
                }
            }
            self.drop_stack(first);
            return Ok(common);
        };
        for operand in &self.program.operands[first.index()..][..count] {
            if let Some(tensor) = self.slots.tensor(operand) {
                self.graph.push_tensor_operand(tensor, &mut common);
                continue;
            }
            // Unreachable default: the compiler emits no read of a slot that has no value.
            let value = operand.value(self.slots.own(), &self.program.constants);
            let value = value.unwrap_or(&Value::Logical(false));
            common = push_argument(&mut self.graph, value, &self.budget, common)?;
        }
        Ok(common)
    }

    /// The name of the only result of an operation: by the hint, or else `otherwise`, the operation's name and
    /// ordinal.
    #[inline(always)]
    fn result_name(&mut self, hint: Hint, otherwise: (Name, u32)) -> NameId {
        let Frame { path, result, inner, .. } = *self.frame();
        let (segment, ordinal) = match hint {
            Hint::None => otherwise,
            Hint::Local(name) => (name, 0),
            Hint::Named(id) => return id,
            Hint::Result(0) if result != NameId::ROOT => return result,
            hint => return self.target_name(hint, otherwise.0, otherwise.1),
        };
        self.graph.names.child(path, segment, ordinal, inner)
    }

    /// The name for a hint that [`Machine::result_name`] does not handle itself.
    #[inline(never)]
    fn target_name(&mut self, hint: Hint, segment: Name, ordinal: u32) -> NameId {
        match self.target(hint, 0, 1) {
            ResultName::Name(id) => id,
            _ => self.child(segment, ordinal),
        }
    }

    /// Fails if the limit of operations is reached. Each operation increases the limit of instructions.
    #[inline]
    fn check_operations(&mut self) -> Outcome<()> {
        self.budget.fuel = self.budget.fuel.saturating_add(FUEL_OF_EMISSION);
        self.budget.check_operations(self.graph.operations.len(), self.graph.bytes_of_shapes())
    }

    /// Whether the left side determines the number of results.
    fn open_results(&self, site: &Site) -> bool {
        site.unit.is_some_and(|unit| self.units.get(unit).open_results)
    }

    /// The value of an operation in the body: its result, or the tuple of its results.
    fn value_of(&mut self, site: &Site, outputs: &Outputs) -> Value {
        let meter = Rc::clone(&self.budget.meter);
        let value = |output: &EmittedResult| match output {
            EmittedResult::Tensor(tensor) => Value::Tensor(*tensor),
            EmittedResult::Array(tensors) => Value::Array(List::from_tensors(tensors.iter().copied(), Some(&meter))),
        };
        let tuple =
            (site.unit.is_none() || self.open_results(site)) && matches!(site.hint, Hint::Items { tuple: true, .. });
        match &outputs[..] {
            [single] if !tuple => value(single),
            several => Value::Tuple(List::from_values(several.iter().map(value).collect(), Some(&meter))),
        }
    }

    fn tensor(&mut self, target: ResultName, otherwise: (Name, u32), dtype: Option<Primitive>) -> TensorId {
        let name = match target {
            ResultName::Name(id) => id,
            _ => self.child(otherwise.0, otherwise.1),
        };
        self.graph.add_tensor(name, dtype)
    }

    /// Replaces the element type `?` of results by the type argument.
    fn set_elements(&mut self, outputs: &Outputs, generic: Option<Primitive>) {
        for output in outputs {
            let tensors = match output {
                EmittedResult::Tensor(tensor) => std::slice::from_ref(tensor),
                EmittedResult::Array(tensors) => tensors,
            };
            for tensor in tensors {
                let elements = &mut self.graph.tensors[tensor.index()].dtype;
                *elements = under(*elements, generic);
            }
        }
    }

    /// Creates the results of an operation as its declaration specifies.
    fn declared_outputs(&mut self, site: &Site, unit: UnitId) -> Outcome<Outputs> {
        let units = Rc::clone(&self.units);
        let results = &units.get(unit).results;
        let mut outputs = Outputs::new();
        for (i, result) in results.iter().enumerate() {
            let target = self.target(site.hint, i as u32, results.len());
            let otherwise = if results.len() == 1 { (site.name, site.ordinal) } else { (result.name, 0) };
            outputs.push(match (result.form, target) {
                (ResultForm::Tensor(element), target) => EmittedResult::Tensor(self.tensor(target, otherwise, element)),
                (ResultForm::Tensors(element), ResultName::Items(items)) => self.output_array(site, &items, element),
                (ResultForm::Tuple, _) => {
                    let name = self.units.text(site.name);
                    let message = format!("`{name}` returns a tuple, which an operation of a flat graph cannot");
                    let failure = Failure::new(Code::StructureMismatch, message).label("a tuple as one result");
                    return Err(failure.help(format!("declare `{name}` with several results, or with a body")));
                }
                (ResultForm::Tensors(_), _) => {
                    let message =
                        format!("the number of tensors that `{}` returns is not known here", units.text(site.name));
                    return Err(Failure::new(Code::UnknownLength, message).help("assign them to names: `[a, b] = ..;`"));
                }
            });
        }
        Ok(outputs)
    }

    /// Creates the results of an operation that is not declared, as the left side specifies.
    fn undeclared_outputs(&mut self, site: &Site) -> Outputs {
        let Hint::Items { tuple, .. } = site.hint else {
            let target = self.target(site.hint, 0, 1);
            return smallvec::smallvec![self.output(site, target, site.ordinal, site.generic)];
        };
        let hints: SmallVec<[Hint; 4]> = self.program.items_of(&site.hint).into();
        let targets: Vec<ResultName> = hints.into_iter().map(|hint| self.target(hint, 0, 1)).collect();
        if !tuple {
            return smallvec::smallvec![self.output_array(site, &targets, None)];
        }
        (1..).zip(targets).map(|(i, target)| self.output(site, target, i, None)).collect()
    }

    /// Creates a result of an operation that is not declared; `number` is the ordinal if it has no target.
    fn output(&mut self, site: &Site, target: ResultName, number: u32, dtype: Option<Primitive>) -> EmittedResult {
        match target {
            ResultName::Items(items) => self.output_array(site, &items, None),
            target => EmittedResult::Tensor(self.tensor(target, (site.name, number), dtype)),
        }
    }

    fn output_array(&mut self, site: &Site, targets: &[ResultName], dtype: Option<Primitive>) -> EmittedResult {
        let tensor = |(i, target): (u32, &ResultName)| self.tensor(target.clone(), (site.name, i), dtype);
        EmittedResult::Array((1..).zip(targets).map(tensor).collect())
    }

    /// Whether the operation of a site can be an input of the graph: `external`, or an operation of a vendor,
    /// which has no body.
    fn is_input(&self, site: &Site) -> bool {
        let of_vendor = |unit: &Unit| !unit.standard && !unit.has_body;
        self.units.text(site.name) == standard::EXTERNAL || site.unit.is_none_or(|unit| of_vendor(self.units.get(unit)))
    }

    /// The shape that the settings specify for the result of a site, if it is an input of the graph.
    fn given_shape(&self, site: &Site, outputs: &Outputs) -> Option<Arc<[Extent]>> {
        let input_shapes = &self.settings.input_shapes;
        if input_shapes.is_empty() || !self.is_input(site) {
            return None;
        }
        let [EmittedResult::Tensor(tensor)] = &outputs[..] else { return None };
        let name = self.graph.names.user_name(self.graph.tensors[tensor.index()].name)?;
        input_shapes.get(&name).cloned()
    }

    /// Replaces the shape among the arguments of a site, which are on the stack: the argument `shape`, or else
    /// the only array that is passed by position.
    fn replace_shape(&mut self, site: &Site, shape: &[Extent]) -> Outcome<()> {
        let keys = self.program.keys_of(site);
        let arguments = self.stack.len() - keys.len()..;
        let named = keys.iter().position(|key| self.units.is_for(site.unit, *key, "shape"));
        let unnamed = || {
            let is_array = |value: &Value| matches!(value, Value::Array(list) if list.with_tensors(|_| ()).is_none());
            let arguments = keys.iter().zip(&self.stack[arguments.clone()]).enumerate();
            let mut arrays = arguments.filter(|(_, (key, value))| **key == Key::Positional && is_array(value));
            arrays.next().filter(|_| arrays.next().is_none()).map(|(place, _)| place)
        };
        let Some(place) = named.or_else(unnamed) else {
            let name = self.units.text(site.name);
            let message = format!("the shape of this input cannot be replaced: `{name}` has no argument `shape` here");
            return Err(Failure::new(Code::OptionShape, message));
        };
        self.stack[arguments][place] = Value::Array(List::from_values(shape.iter().map(Value::extent).collect(), None));
        Ok(())
    }

    /// The kind of a site's operation, which is added to the graph on first use.
    fn kind(&mut self, site: &Site) -> KindId {
        let known = match site.unit {
            Some(unit) => self.sites.kinds[unit.index()],
            None => self.sites.undeclared.get(&site.name).copied(),
        };
        if let Some(kind) = known {
            return kind;
        }
        let name = site.name;
        let undeclared =
            || Kind { name, params: Vec::new(), results: Vec::new(), declared: false, standard: false, generic: false };
        let id = self.graph.add_kind(site.unit.map_or_else(undeclared, |unit| self.units.get(unit).kind()));
        match site.unit {
            Some(unit) => self.sites.kinds[unit.index()] = Some(id),
            None => drop(self.sites.undeclared.insert(name, id)),
        }
        id
    }
}

/// Adds a value that is not a tensor to the arguments of the operation that is built next, and returns the
/// updated `common`.
#[inline(always)]
fn push_argument(graph: &mut Graph, value: &Value, budget: &Budget, common: Common) -> Outcome<Common> {
    if value.is_plain() {
        let kept = value.keep(graph);
        graph.push_kept(kept);
        return Ok(common);
    }
    let mut common = common;
    value.push(graph, budget, &mut common)?;
    Ok(common)
}
