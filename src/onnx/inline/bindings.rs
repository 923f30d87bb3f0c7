//! The names in the current copy for the names of a body.

use crate::graph::names::NameId;
use crate::onnx::model::Values;

/// For each name of a body, the name in the current copy. Scopes are nested; at the end of one its bindings are
/// replaced by those before it.
#[derive(Default)]
pub(super) struct Bindings {
    /// By the number of the name, up to the last one that was bound. Other names are bound to themselves.
    values: Vec<Binding>,
    /// The bindings that the ones of open scopes replaced.
    saved: Vec<(NameId, Binding)>,
    /// The number of open calls.
    calls: u32,
}

/// A name in a copy, and the number of calls that were open when it was bound. In a call within, the name means itself: what
/// a graph that is handed to a function names was bound where the call is, and is not bound once more.
#[derive(Clone, Copy)]
struct Binding {
    value: NameId,
    call: u32,
}

/// An open scope: the number of saved bindings before it, and of open calls.
pub(super) struct Scope(usize, u32);

impl Bindings {
    pub(super) fn open_scope(&self) -> Scope {
        Scope(self.saved.len(), self.calls)
    }

    /// Opens the scope of a call: names around it mean themselves.
    pub(super) fn open_call(&mut self) -> Scope {
        let scope = self.open_scope();
        self.calls += 1;
        scope
    }

    /// Binds a name in the innermost scope.
    pub(super) fn bind(&mut self, name: NameId, value: NameId) {
        if name == NameId::ROOT {
            return;
        }
        let itself = |i: usize| Binding { value: NameId::at(i), call: 0 };
        self.values.extend((self.values.len()..=name.index()).map(itself));
        let bound = Binding { value, call: self.calls };
        self.saved.push((name, std::mem::replace(&mut self.values[name.index()], bound)));
    }

    pub(super) fn leave(&mut self, scope: Scope) {
        self.calls = scope.1;
        self.saved.drain(scope.0..).rev().for_each(|(name, before)| self.values[name.index()] = before);
    }

    pub(super) fn bound(&self, name: NameId) -> NameId {
        let bound = self.values.get(name.index()).filter(|bound| bound.call == self.calls);
        bound.map_or(name, |bound| bound.value)
    }

    pub(super) fn all_bound(&self, values: &Values) -> Values {
        let mut bound = Values::from_slice(values);
        bound.iter_mut().for_each(|value| *value = self.bound(*value));
        bound
    }
}
