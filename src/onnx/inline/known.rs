//! Values that are known before a model runs: single integers and truth values, and extents of tensors.

use std::mem::discriminant;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::dictionary::elementwise::REMAINDER;
use crate::dictionary::{Kernel, Row};
use crate::graph::dims::{self, Dim};
use crate::graph::names::NameId;
use crate::onnx::elements::Elements;
pub(super) use crate::onnx::model::Scalar;
use crate::onnx::model::{
    AttributeProto, AttributeValue, Extent, Fact, GraphProto, ModelNames, NodeProto, TensorProto, TypeForm, ValueInfo,
};
use crate::onnx::operators::row_of;
use crate::onnx::types::ElementType;
use crate::source::names::Name;

/// A single value that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownScalar {
    value: Scalar,
    /// Whether it is the value in any case; else only if the trip of the loop around it takes place.
    is_certain: bool,
}

/// What is known about a value.
#[derive(Debug, Default)]
struct Facts {
    scalar: Option<KnownScalar>,
    /// Extents by axis; each is stored also for the negative axis, counted from the end.
    extents: FxHashMap<i64, i64>,
}

/// What was known before a change.
#[derive(Debug)]
enum Before {
    Scalar(Option<KnownScalar>),
    Extent(i64, Option<i64>),
    All(Facts),
}

/// The known values and extents.
#[derive(Debug, Default)]
pub(super) struct Known {
    facts: FxHashMap<NameId, Facts>,
    /// While scopes are open, what was known before each change.
    changes: Vec<(NameId, Before)>,
    scopes: usize,
    /// The meanings of operators by the numbers of their names, as far as they were asked for.
    meanings: Vec<Option<Meaning>>,
}

/// How an operator computes known values.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Unknown,
    Constant,
    Cast,
    /// The single item of the operand, in another shape.
    Same,
    /// The remainder, whose sign depends on an attribute.
    Remainder,
    /// As the dictionary says.
    Item(&'static Row),
}

/// A scope: the number of changes before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeMark(usize);

impl KnownScalar {
    fn certain(value: Scalar) -> Self {
        KnownScalar { value, is_certain: true }
    }
}

/// What the dictionary says about integers of one width and truth values; none if the result overflows.
fn computed(row: &Row, of: &[Scalar]) -> Option<Scalar> {
    let result = match row.kernel? {
        Kernel::Select => of.get(1)?,
        Kernel::Arithmetic(_) | Kernel::Number(..) => of.first().filter(|of| !matches!(of, Scalar::Bool(_)))?,
        Kernel::Not | Kernel::Logic(_) if !of.iter().all(|of| matches!(of, Scalar::Bool(_))) => return None,
        _ => &Scalar::Bool(false),
    };
    let operands = if let Kernel::Select = row.kernel? { of.get(1..)? } else { of };
    let is_alike = |pair: &[Scalar]| pair.windows(2).all(|pair| discriminant(&pair[0]) == discriminant(&pair[1]));
    if !is_alike(operands) {
        return None;
    }
    let items: SmallVec<[Dim; 4]> = of.iter().map(|of| Dim::Int(integer(*of))).collect();
    whole(*result, dims::computed(row, &items).known()?)
}

fn integer(of: Scalar) -> i64 {
    match of {
        Scalar::Int(value) => value,
        Scalar::Int32(value) => value.into(),
        Scalar::Bool(value) => value.into(),
    }
}

/// An integer of the type of another one; none if it does not fit.
fn whole(like: Scalar, value: i64) -> Option<Scalar> {
    match like {
        Scalar::Int(_) => Some(Scalar::Int(value)),
        Scalar::Int32(_) => i32::try_from(value).ok().map(Scalar::Int32),
        Scalar::Bool(_) => Some(Scalar::Bool(value != 0)),
    }
}

impl Known {
    /// The known values of the constants and the types of a graph.
    pub(super) fn of_graph(names: &ModelNames, graph: &GraphProto) -> Self {
        let mut known = Known::default();
        known.note_declared(&graph.inputs, &graph.initializers, &graph.value_info);
        known.note_facts(&graph.facts, |name| name);
        graph.nodes.iter().for_each(|node| known.note(names, node));
        known
    }

    /// Records the constants and the types of a graph.
    pub(super) fn note_declared(&mut self, inputs: &[ValueInfo], initializers: &[TensorProto], types: &[ValueInfo]) {
        // An input with a default may have another value.
        let given: FxHashSet<_> = inputs.iter().filter_map(|input| input.name).collect();
        for tensor in initializers {
            let Some(name) = tensor.name.filter(|name| !given.contains(name)) else { continue };
            self.note_shape(name, tensor.dims.iter().map(|extent| Some(*extent)));
            self.set_scalar(name, single(tensor).map(KnownScalar::certain));
        }
        inputs.iter().chain(types).for_each(|value| self.note_type(value));
    }

    /// Records what was found out about values of a graph, by their names in the current copy of it.
    pub(super) fn note_facts(&mut self, facts: &[(NameId, Fact)], bound: impl Fn(NameId) -> NameId) {
        for (name, fact) in facts {
            match *fact {
                Fact::Is(value) => self.set_scalar(bound(*name), Some(KnownScalar::certain(value))),
                Fact::Extent { axis, extent } => self.set_extent(bound(*name), axis, extent),
            }
        }
    }

    /// Opens a scope, whose changes can be undone.
    pub(super) fn open(&mut self) -> ScopeMark {
        self.scopes += 1;
        ScopeMark(self.changes.len())
    }

    /// The place of the next change in the current scope.
    pub(super) fn mark(&self) -> ScopeMark {
        ScopeMark(self.changes.len())
    }

    /// Removes what was found out since a mark about names that were new then, except for `kept` ones: values of a trip
    /// that no later trip reads.
    pub(super) fn forget(&mut self, ScopeMark(mark): ScopeMark, kept: &[NameId]) {
        let mut left = mark;
        for i in mark..self.changes.len() {
            let (name, before) = &self.changes[i];
            let is_new = matches!(before, Before::Scalar(None) | Before::Extent(_, None));
            if is_new && !kept.contains(name) {
                self.facts.remove(name);
            } else {
                self.changes.swap(left, i);
                left += 1;
            }
        }
        self.changes.truncate(left);
    }

    /// Ends a scope and undoes its changes.
    pub(super) fn undo(&mut self, ScopeMark(mark): ScopeMark) {
        for (name, before) in self.changes.drain(mark..).rev() {
            let facts = self.facts.entry(name).or_default();
            match before {
                Before::Scalar(scalar) => facts.scalar = scalar,
                Before::Extent(axis, Some(extent)) => _ = facts.extents.insert(axis, extent),
                Before::Extent(axis, None) => _ = facts.extents.remove(&axis),
                Before::All(all) => *facts = all,
            }
        }
        self.scopes -= 1;
    }

    /// Ends a scope; scopes around it can still undo its changes.
    pub(super) fn accept(&mut self, _: ScopeMark) {
        self.scopes -= 1;
        if self.scopes == 0 {
            self.changes.clear();
        }
    }

    /// Removes what is known about a name: in the current scope it is another value.
    pub(super) fn hide(&mut self, name: NameId) {
        if let Some(facts) = self.facts.get_mut(&name) {
            let before = Before::All(std::mem::take(facts));
            self.changed(name, before);
        }
    }

    fn changed(&mut self, name: NameId, before: Before) {
        if self.scopes > 0 {
            self.changes.push((name, before));
        }
    }

    fn set_scalar(&mut self, name: NameId, value: Option<KnownScalar>) {
        if name != NameId::ROOT && self.known_scalar(name) != value {
            let before = std::mem::replace(&mut self.facts.entry(name).or_default().scalar, value);
            self.changed(name, Before::Scalar(before));
        }
    }

    /// Records the value that a name has if the trip of the loop around it takes place: what follows from it decides
    /// branches, since results of other trips are not used, but not how often something is done.
    pub(super) fn assume(&mut self, name: NameId, value: Scalar) {
        self.set_scalar(name, Some(KnownScalar { value, is_certain: false }));
    }

    fn known_scalar(&self, name: NameId) -> Option<KnownScalar> {
        self.facts.get(&name)?.scalar
    }

    /// The value with a name.
    pub(super) fn scalar(&self, name: NameId) -> Option<Scalar> {
        Some(self.known_scalar(name)?.value)
    }

    /// Whether a value is known in any case.
    pub(super) fn is_certain(&self, name: NameId) -> bool {
        self.known_scalar(name).is_some_and(|known| known.is_certain)
    }

    /// The integer with a name.
    pub(super) fn int(&self, name: NameId) -> Option<i64> {
        match self.scalar(name)? {
            Scalar::Int(value) => Some(value),
            Scalar::Int32(value) => Some(value.into()),
            Scalar::Bool(_) => None,
        }
    }

    /// The truth value with a name.
    pub(super) fn bool(&self, name: NameId) -> Option<bool> {
        match self.scalar(name)? {
            Scalar::Bool(value) => Some(value),
            Scalar::Int(_) | Scalar::Int32(_) => None,
        }
    }

    /// The extent of a value along an axis.
    pub(super) fn extent(&self, name: NameId, axis: i64) -> Option<i64> {
        self.facts.get(&name)?.extents.get(&axis).copied()
    }

    /// Records the extent of a value along an axis.
    pub(super) fn set_extent(&mut self, name: NameId, axis: i64, extent: i64) {
        let before = self.facts.entry(name).or_default().extents.insert(axis, extent);
        self.changed(name, Before::Extent(axis, before));
    }

    fn note_shape(&mut self, name: NameId, extents: impl ExactSizeIterator<Item = Option<i64>>) {
        let rank = extents.len() as i64;
        for (axis, extent) in extents.enumerate() {
            if let Some(extent) = extent {
                self.set_extent(name, axis as i64, extent);
                self.set_extent(name, axis as i64 - rank, extent);
            }
        }
    }

    /// Records the declared shape of a value.
    pub(super) fn note_type(&mut self, value: &ValueInfo) {
        let (Some(name), Some(TypeForm::Tensor(tensor))) = (value.name, value.ty.as_ref().map(|ty| &ty.form)) else {
            return;
        };
        if let Some(shape) = &tensor.shape {
            let extent = |extent: Extent| if let Extent::Value(extent) = extent { Some(extent) } else { None };
            self.note_shape(name, shape.dims.iter().map(|dim| extent(dim.extent)));
        }
    }

    /// Records the result of a node if its operands are known. Extents are those of declared types. What is certain was
    /// found out before, by more than is known here.
    pub(super) fn note(&mut self, names: &ModelNames, node: &NodeProto) {
        let is_certain = node.inputs.iter().all(|input| self.is_certain(*input));
        let value = self.folded(names, node).map(|value| KnownScalar { value, is_certain });
        for (i, &output) in node.outputs.iter().enumerate() {
            if !self.is_certain(output) {
                self.set_scalar(output, value.filter(|_| i == 0));
            }
        }
    }

    /// The meaning of an operator of the standard domain.
    fn meaning(&mut self, names: &ModelNames, operator: Name) -> Meaning {
        if let Some(Some(known)) = self.meanings.get(operator.index()) {
            return *known;
        }
        let meaning = match names.texts.text(operator) {
            "Constant" => Meaning::Constant,
            "Cast" => Meaning::Cast,
            "Identity" | "Squeeze" | "Unsqueeze" => Meaning::Same,
            "Mod" => Meaning::Remainder,
            text => {
                let meaning = row_of("", text).and_then(|row| row.meaning);
                meaning.map_or(Meaning::Unknown, Meaning::Item)
            }
        };
        if self.meanings.len() <= operator.index() {
            self.meanings.resize(names.texts.len(), None);
        }
        self.meanings[operator.index()] = Some(meaning);
        meaning
    }

    fn scalars(&self, names: &[NameId]) -> Option<SmallVec<[Scalar; 4]>> {
        names.iter().map(|name| self.scalar(*name)).collect()
    }

    /// The only result of a node, if its operands are known.
    fn folded(&mut self, names: &ModelNames, node: &NodeProto) -> Option<Scalar> {
        let text = |name: Option<Name>| name.map_or("", |name| names.texts.text(name));
        let meaning = self.meaning(names, node.op_type?);
        if node.outputs.len() != 1 || matches!(meaning, Meaning::Unknown) {
            return None;
        }
        if !matches!(text(node.domain), "" | "ai.onnx") {
            return None;
        }
        match meaning {
            Meaning::Unknown => None,
            Meaning::Constant => {
                let value = node.attributes.iter().find(|attribute| text(attribute.name).starts_with("value"));
                value.and_then(constant)
            }
            Meaning::Cast => {
                let to = node.attributes.iter().find(|attribute| text(attribute.name) == "to")?;
                let AttributeValue::Int(to) = to.value else { return None };
                cast(self.scalar(*node.inputs.first()?)?, to)
            }
            Meaning::Same => self.scalar(*node.inputs.first()?),
            Meaning::Remainder => {
                let operands = self.scalars(&node.inputs)?;
                // Of numbers that are not negative it is the same with any attribute.
                let is_plain = operands.iter().all(|operand| integer(*operand) >= 0);
                computed(&REMAINDER, &operands).filter(|_| is_plain)
            }
            Meaning::Item(row) => computed(row, &self.scalars(&node.inputs)?),
        }
    }
}

fn constant(of: &AttributeProto) -> Option<Scalar> {
    match &of.value {
        AttributeValue::Int(value) => Some(Scalar::Int(*value)),
        AttributeValue::Tensor(tensor) => single(tensor),
        _ => None,
    }
}

fn cast(value: Scalar, to: i64) -> Option<Scalar> {
    let element = ElementType::numbered(i32::try_from(to).ok()?)?;
    let int = integer(value);
    match element.name {
        "bool" => Some(Scalar::Bool(int != 0)),
        "int64" => Some(Scalar::Int(int)),
        "int32" => i32::try_from(int).ok().map(Scalar::Int32),
        _ => None,
    }
}

/// The only element of a tensor of integers or truth values.
fn single(tensor: &TensorProto) -> Option<Scalar> {
    if tensor.dims.iter().any(|extent| *extent != 1) || !tensor.external.is_empty() {
        return None;
    }
    let element = ElementType::numbered(tensor.data_type?)?;
    let Ok(Elements::Ints(values)) = Elements::of(tensor) else { return None };
    match (element.name, &values[..]) {
        ("bool", [value]) => Some(Scalar::Bool(*value != 0)),
        ("int64", [value]) => Some(Scalar::Int(*value)),
        ("int32", [value]) => i32::try_from(*value).ok().map(Scalar::Int32),
        _ => None,
    }
}
