//! The names in the current copy for the names of a body.

use crate::graph::names::NameId;
use crate::onnx::model::Values;

/// For each name of a body, the name in the current copy. Scopes are nested; at the end of one its bindings are
/// replaced by those before it.
///
/// A graph that a call gives sees only the values that are defined before the node that takes it, so there are two tables.
#[derive(Default)]
pub(super) struct Bindings {
    /// The names of all values.
    all: Table,
    /// The names of values that are defined so far.
    defined: Table,
    /// The number of open calls.
    calls: u32,
    /// Whether a graph that the innermost call gives is copied.
    is_given: bool,
}

/// A name in a copy, and the number of calls that were open when it was bound. In a call within, the name means itself: what
/// a graph that is handed to a function names was bound where the call is, and is not bound once more.
#[derive(Clone, Copy)]
struct Binding {
    value: NameId,
    call: u32,
}

#[derive(Default)]
struct Table {
    /// By the number of the name, up to the last one that was bound. Other names are bound to themselves.
    values: Vec<Binding>,
    /// The bindings that the ones of open scopes replaced.
    saved: Vec<(NameId, Binding)>,
}

impl Table {
    fn bind(&mut self, name: NameId, bound: Binding) {
        let itself = |i: usize| Binding { value: NameId::at(i), call: 0 };
        self.values.extend((self.values.len()..=name.index()).map(itself));
        self.saved.push((name, std::mem::replace(&mut self.values[name.index()], bound)));
    }

    fn bound(&self, name: NameId, calls: u32) -> NameId {
        let bound = self.values.get(name.index()).filter(|bound| bound.call == calls);
        bound.map_or(name, |bound| bound.value)
    }

    fn leave(&mut self, saved: usize) {
        self.saved.drain(saved..).rev().for_each(|(name, before)| self.values[name.index()] = before);
    }
}

/// An open scope: what is restored at its end.
pub(super) struct Scope {
    /// The number of saved bindings in each table.
    saved: [usize; 2],
    calls: u32,
    is_given: bool,
}

impl Bindings {
    pub(super) fn open_scope(&self) -> Scope {
        let saved = [self.all.saved.len(), self.defined.saved.len()];
        Scope { saved, calls: self.calls, is_given: self.is_given }
    }

    /// Opens the scope of a call: names around it mean themselves.
    pub(super) fn open_call(&mut self) -> Scope {
        let scope = self.open_scope();
        self.calls += 1;
        self.is_given = false;
        scope
    }

    /// Opens the scope of a graph that the innermost call gives: values that are not defined yet are not seen in it.
    pub(super) fn open_given(&mut self) -> Scope {
        let scope = self.open_scope();
        self.is_given = true;
        scope
    }

    /// Binds a name in the innermost scope.
    pub(super) fn bind(&mut self, name: NameId, value: NameId) {
        if name != NameId::ROOT {
            let bound = Binding { value, call: self.calls };
            self.all.bind(name, bound);
            self.defined.bind(name, bound);
        }
    }

    /// Binds the name of a result of a node in the innermost scope. Until the result is defined, a graph that the call gives
    /// does not see it.
    pub(super) fn bind_result(&mut self, name: NameId, value: NameId) {
        if self.is_given {
            // The whole graph is given, with the values that are defined in it.
            self.bind(name, value);
        } else if name != NameId::ROOT {
            self.all.bind(name, Binding { value, call: self.calls });
        }
    }

    /// Notes that the results of a node are defined from now on.
    pub(super) fn define(&mut self, results: &[NameId]) {
        for &name in results {
            let bound = self.all.values.get(name.index()).copied();
            if let Some(bound) = bound.filter(|bound| name != NameId::ROOT && bound.call == self.calls) {
                self.defined.bind(name, bound);
            }
        }
    }

    pub(super) fn leave(&mut self, scope: Scope) {
        (self.calls, self.is_given) = (scope.calls, scope.is_given);
        self.all.leave(scope.saved[0]);
        self.defined.leave(scope.saved[1]);
    }

    pub(super) fn bound(&self, name: NameId) -> NameId {
        let table = if self.is_given { &self.defined } else { &self.all };
        table.bound(name, self.calls)
    }

    pub(super) fn all_bound(&self, values: &Values) -> Values {
        let mut bound = Values::from_slice(values);
        bound.iter_mut().for_each(|value| *value = self.bound(*value));
        bound
    }
}
