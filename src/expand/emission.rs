//! Emission: operations are added to the graph, and their results get names.

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::arithmetic::{Failure, Outcome, Space};
use super::calls::Target;
use super::code::{Hint, Site};
use super::frame::{Frame, Reached};
use super::list::List;
use super::machine::Machine;
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::Dialect;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::graph::standard;
use crate::graph::{
    Argument, Common, Graph, Key, Kind, KindId, KindParam, OriginId, Output, ShapeId, SignatureId, TensorId,
};
use crate::nnef::check::{Checked, FragmentId, Generic, ParamInfo};
use crate::nnef::document::ModuleId;
use crate::nnef::types::{Element, Type};
use crate::source::Location;
use crate::source::names::Name;

/// What the operations of a site have in common that give one tensor and have nothing out of the
/// ordinary. `?` among the types is the type argument of the running fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emission {
    pub(super) signature: SignatureId,
    /// Whether the result may share its shape with the arguments.
    pub(super) by_item: bool,
    /// The elements of the result.
    element: Option<Primitive>,
    /// The type argument as the graph has it, and whether it was written.
    dtype: (Option<Primitive>, bool),
}

impl Emission {
    /// The type argument and the elements of the result under a type argument of the running fragment.
    #[inline]
    pub(super) fn types(&self, generic: Option<Primitive>) -> ((Option<Primitive>, bool), Option<Primitive>) {
        let known = |dtype| if dtype == Some(Primitive::Generic) { generic } else { dtype };
        ((known(self.dtype.0), self.dtype.1), known(self.element))
    }
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
    /// Adds the operation of a site to the graph and pushes its results.
    #[inline]
    pub(super) fn emit(&mut self, index: u32) -> Outcome<()> {
        let emission = match self.reached.get(index as usize) {
            Some(Reached::Single(emission)) => *emission,
            _ => match self.single_result(index) {
                Some(ty) => self.reach(index, ty),
                None => return self.emit_several(index),
            },
        };
        self.check_operations()?;
        let first = self.stack.len() - self.program.sites[index as usize].keys.1 as usize;
        let mut common = Common::default();
        for value in &self.stack[first..] {
            push_operand(&mut self.graph, value, &self.space, &mut common)?;
        }
        self.drop_stack(first);
        let tensor = self.emit_single(index, emission, common);
        self.give(Value::Tensor(tensor));
        Ok(())
    }

    /// The same for an operation that may have other results than one tensor.
    #[inline(never)]
    fn emit_several(&mut self, index: u32) -> Outcome<()> {
        let site = self.program.sites[index as usize];
        let first = self.stack.len() - site.keys.1 as usize;
        let mut arguments: SmallVec<[Argument; 8]> = SmallVec::new();
        for (key, value) in self.program.keys_of(&site).iter().zip(&self.stack[first..]) {
            arguments.push(Argument { key: *key, value: value.freeze(&self.space)? });
        }
        self.stack.truncate(first);
        self.emit_with(&site, arguments)
    }

    /// Adds the operation of a site to the graph, with operands that are not on the stack.
    #[inline]
    pub(super) fn apply(&mut self, index: u32) -> Outcome<()> {
        self.check_operations()?;
        let emission = match self.reached.get(index as usize) {
            Some(Reached::Single(emission)) => *emission,
            _ => {
                // The compiler sees to it that there is a declaration with one result.
                let ty = self.single_type(index).unwrap_or(Type::Unknown);
                self.reach(index, ty)
            }
        };
        let Site { operands, keys, slot, .. } = self.program.sites[index as usize];
        let mut common = Common::default();
        self.push_operands(operands, keys.1, &mut common)?;
        let tensor = self.emit_single(index, emission, common);
        match slot {
            Some(slot) => self.put(slot.get() - 1, Value::Tensor(tensor)),
            None => self.stack.push(Value::Tensor(tensor)),
        }
        Ok(())
    }

    /// The type of the first result of a site's operation, if that is declared.
    fn single_type(&self, index: u32) -> Option<Type> {
        let info = self.checked.fragment(self.program.sites[index as usize].fragment?);
        info.results.first().map(|result| result.ty)
    }

    /// The type of the one tensor that a site's operation gives, if nothing about it is out of the
    /// ordinary.
    #[inline(never)]
    fn single_result(&self, index: u32) -> Option<Type> {
        let info = self.checked.fragment(self.program.sites[index as usize].fragment?);
        let plain = !info.open_results && self.input_shapes.is_empty();
        match info.results[..] {
            [result] if plain && !matches!(result.ty, Type::Array(_)) => Some(result.ty),
            _ => None,
        }
    }

    /// Finds out what the operations of a site have in common, which give a tensor of this type.
    #[inline(never)]
    fn reach(&mut self, index: u32, ty: Type) -> Emission {
        let site = self.program.sites[index as usize];
        let kind = self.kind(&site);
        let emission = Emission {
            signature: self.graph.signature(kind, self.program.keys_of(&site), 1),
            by_item: self.is_by_item(kind),
            element: element(ty, site.generic),
            dtype: self.written_type(&site, site.generic),
        };
        *self.reached(index) = Reached::Single(emission);
        emission
    }

    /// Adds an operation with one tensor as result, whose arguments are in the graph already.
    #[inline]
    fn emit_single(&mut self, index: u32, emission: Emission, common: Common) -> TensorId {
        let fragment = self.frame().fragment;
        let at = self.location_in(fragment, self.program.sites[index as usize].span);
        let source = (at, self.origin());
        let name = self.result_name(index);
        let (dtype, element) = emission.types(self.frame().dtype);
        let shape = common.shape().filter(|_| emission.by_item);
        self.add_single((emission.signature, shape), dtype, source, (name, element))
    }

    /// The same for an operation of a signature, with the shape of its result where it is known.
    #[inline]
    pub(super) fn add_single(
        &mut self,
        (signature, shape): (SignatureId, Option<ShapeId>),
        dtype: (Option<Primitive>, bool),
        source: (Location, OriginId),
        result: (NameId, Option<Primitive>),
    ) -> TensorId {
        let is_inferred = shape.is_some();
        let (operation, tensor) = self.graph.add_single(signature, dtype, source, result, shape);
        if !is_inferred {
            self.infer_by_rule(operation);
        }
        tensor
    }

    /// The name of the one result of a site's operation.
    #[inline]
    fn result_name(&mut self, index: u32) -> NameId {
        let Site { hint, name, ordinal, .. } = self.program.sites[index as usize];
        let Frame { path, result, inner, .. } = *self.frame();
        match hint {
            Hint::None => self.graph.names.child(path, name, ordinal, inner),
            Hint::Local(name) => self.graph.names.child(path, name, 0, inner),
            Hint::Result(0) if result != NameId::ROOT => result,
            hint => match self.target(hint, 0, 1) {
                Target::Name(id) => id,
                _ => self.child(name, ordinal),
            },
        }
    }

    /// Adds operands that are not on the stack to the operation that is finished next.
    #[inline]
    pub(super) fn push_operands(&mut self, first: u32, count: u32, common: &mut Common) -> Outcome<()> {
        for i in first..first + count {
            let operand = self.program.operands[i as usize];
            // The compiler lets no slot without a value be read.
            let value = operand.value(self.base, &self.slots, &self.program.constants);
            push_operand(&mut self.graph, value.unwrap_or(&Value::Logical(false)), &self.space, common)?;
        }
        Ok(())
    }

    /// The type argument as the graph has it, and whether it was written. The draft has data-types,
    /// but no type arguments.
    fn written_type(&self, site: &Site, dtype: Option<Primitive>) -> (Option<Primitive>, bool) {
        (dtype.filter(|_| self.checked.document.dialect() == Dialect::V1), site.explicit)
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
        let dtype = self.type_argument(site.generic);
        let kind = self.kind(site);
        let outputs = match site.fragment {
            Some(fragment) if !self.open_results(site) => self.declared_outputs(site, fragment, dtype)?,
            _ => self.undeclared_outputs(site),
        };
        self.override_shape(site, &mut arguments, &outputs);
        self.push_outputs(site, &outputs);
        let fragment = self.frame().fragment;
        let at = Location::new(self.file_of(fragment), site.span);
        let (dtype, source) = (self.written_type(site, dtype), (at, self.origin()));
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
        let declared = fragment.index();
        if let Some(kind) = self.kinds[declared] {
            return kind;
        }
        let id = self.graph.add_kind(kind_of(self.checked, fragment, &self.space));
        self.kinds[declared] = Some(id);
        id
    }
}

/// Adds a value to the arguments of the operation that is finished next.
#[inline(always)]
fn push_operand(graph: &mut Graph, value: &Value, space: &Space, common: &mut Common) -> Outcome<()> {
    match value {
        Value::Tensor(tensor) => graph.push_tensor_operand(*tensor, common),
        number if number.is_plain() => {
            let kept = number.keep(graph);
            graph.push_kept(kept);
        }
        value => value.push(graph, space, common)?,
    }
    Ok(())
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

/// The elements of a tensor result.
pub(super) fn element(ty: Type, generic: Option<Primitive>) -> Option<Primitive> {
    match ty {
        Type::Tensor(Element::Of(Primitive::Generic)) => generic,
        Type::Tensor(Element::Of(primitive)) => Some(primitive),
        _ => None,
    }
}
