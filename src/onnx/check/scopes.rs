//! Scopes of values: visibility and types.

use super::checker::{Check, Pass};
use crate::diagnostics::{Code, PlacePart};
use crate::graph::names::NameId;
use crate::onnx::model::ModelNames;
use crate::onnx::schema::TypeId;

/// The length of the path to a result of a node of a function, which is in no inner graph.
const IN_FUNCTION: usize = 3;

/// A visible value.
#[derive(Clone, Copy, Debug)]
struct VisibleValue {
    /// The nesting depth of the graph that defines it.
    depth: u32,
    ty: Option<TypeId>,
    /// Whether an initializer has its name.
    has_default: bool,
}

/// A declared type, with the nesting depth of the graph that declares it.
type ScopedType = (u32, TypeId);

/// The visible values, by the numbers of their names.
#[derive(Debug)]
pub(super) struct Scopes {
    values: Vec<Option<VisibleValue>>,
    /// The declared types of values, with the nesting depths of the graphs that declare them; empty before the first one.
    declared: Vec<Option<ScopedType>>,
    /// The previous values of the names in the open graphs, restored at their ends.
    hidden: Vec<(NameId, Option<VisibleValue>)>,
    redeclared: Vec<(NameId, Option<ScopedType>)>,
    /// For each open graph, the lengths of `hidden` and `redeclared` at its start.
    marks: Vec<(usize, usize)>,
}

impl Scopes {
    pub(super) fn new(names: &ModelNames) -> Self {
        let count = names.all_values().count();
        Scopes {
            values: vec![None; count],
            declared: Vec::new(),
            hidden: Vec::new(),
            redeclared: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub(super) fn enter(&mut self) {
        self.marks.push((self.hidden.len(), self.redeclared.len()));
    }

    pub(super) fn leave(&mut self) {
        let (values, declared) = self.marks.pop().unwrap_or_default();
        for (name, before) in self.hidden.drain(values..).rev() {
            self.values[name.index()] = before;
        }
        for (name, before) in self.redeclared.drain(declared..).rev() {
            self.declared[name.index()] = before;
        }
    }

    /// Records the type that the innermost graph declares for a value.
    pub(super) fn declare(&mut self, name: NameId, ty: TypeId) {
        if self.declared.is_empty() {
            self.declared.resize(self.values.len(), None);
        }
        if let Some(declared) = self.declared.get_mut(name.index()) {
            let depth = self.marks.len() as u32;
            self.redeclared.push((name, declared.replace((depth, ty))));
        }
    }

    fn get(&self, name: NameId) -> Option<VisibleValue> {
        *self.values.get(name.index())?
    }

    fn set(&mut self, name: NameId, value: VisibleValue) {
        self.hidden.push((name, self.values[name.index()].replace(value)));
    }

    fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    /// Whether the innermost graph defines a value.
    pub(super) fn is_own(&self, name: NameId) -> bool {
        self.get(name).is_some_and(|value| value.depth == self.depth())
    }

    pub(super) fn has_default(&self, name: NameId) -> bool {
        self.get(name).is_some_and(|value| value.has_default)
    }

    pub(super) fn give_default(&mut self, name: NameId) {
        if let Some(Some(value)) = self.values.get_mut(name.index()) {
            value.has_default = true;
        }
    }

    /// The type of a value, if it is known.
    pub(super) fn type_of(&self, name: NameId) -> Option<TypeId> {
        self.get(name)?.ty
    }

    /// The type that the innermost graph declares for a value.
    pub(super) fn declared(&self, name: NameId) -> Option<TypeId> {
        let (depth, ty) = (*self.declared.get(name.index())?)?;
        (depth == self.depth()).then_some(ty)
    }
}

impl Check<'_> {
    /// Defines an input or a constant; an empty name defines none. It may hide a value of a graph around this one.
    pub(super) fn define(&mut self, name: NameId, ty: Option<TypeId>, at: u32) {
        self.define_as(name, ty, at, Code::OnnxShadowed);
    }

    /// Defines a result of a node; an empty name defines none. A value is assigned once, also in inner graphs.
    pub(super) fn result(&mut self, name: NameId, ty: Option<TypeId>, at: u32) {
        self.define_as(name, ty, at, Code::OnnxTwice);
    }

    fn define_as(&mut self, name: NameId, ty: Option<TypeId>, at: u32, hiding: Code) {
        if name == NameId::ROOT {
            return;
        }
        if let Some(before) = self.scopes.get(name) {
            let text = self.names.text(name);
            let (code, message) = match before.depth == self.scopes.depth() {
                true if self.path.len() <= IN_FUNCTION
                    && self.path.first().is_some_and(|step| step.0 == "functions") =>
                {
                    (Code::OnnxReassigned, format!("`{text}` is defined twice in the function"))
                }
                true => (Code::OnnxTwice, format!("`{text}` is defined twice")),
                false => (hiding, format!("`{text}` hides a value of an outer graph")),
            };
            self.report(code, at, message, None);
        }
        self.scopes.set(name, VisibleValue { depth: self.scopes.depth(), ty, has_default: false });
    }

    /// Refuses an operand that is not a visible value.
    pub(super) fn operand(&mut self, name: NameId, at: (u32, Option<PlacePart>), later: impl FnOnce() -> bool) {
        if name == NameId::ROOT || self.scopes.get(name).is_some() {
            return;
        }
        let text = self.names.text(name);
        if !self.diagnostics.is_frequent(Code::OnnxNoValue) && later() {
            let message = format!("`{text}` is produced by a later node");
            let help = "a node follows the nodes that produce its operands".to_owned();
            return self.report_part(Code::OnnxNoValue, at.0, at.1, message, Some(help));
        }
        let visible = self.names.all_values().filter(|name| self.scopes.get(*name).is_some());
        let help = self.nearest(Code::OnnxNoValue, text, visible.map(|name| self.names.text(name)));
        self.report_part(Code::OnnxNoValue, at.0, at.1, format!("`{text}` is not defined"), help);
    }

    /// Refuses an output that is not defined in the graph.
    pub(super) fn output(&mut self, name: NameId, at: u32) {
        if name == NameId::ROOT {
            return self.report(Code::OnnxNoValue, at, "an output has no name".to_owned(), None);
        }
        // An expansion copies values of graphs around a graph that returns them.
        if self.scopes.is_own(name) || self.pass == Pass::Structure && self.scopes.get(name).is_some() {
            return;
        }
        let text = self.names.text(name);
        let (what, help) = match self.scopes.get(name) {
            Some(_) => ("is a value of an outer graph", Some("copy it with an Identity in this graph".to_owned())),
            None => ("is not defined by a node", None),
        };
        self.report(Code::OnnxNoValue, at, format!("the output `{text}` {what}"), help);
    }
}
