//! The names in the current copy for the names of a body.

use crate::graph::names::NameId;
use crate::onnx::model::Values;

/// For each name of a body, the name in the current copy. Scopes are nested; at the end of one its bindings are
/// replaced by those before it.
#[derive(Default)]
pub(super) struct Bindings {
    /// By the number of the name, up to the last one that was bound. Other names are bound to themselves.
    values: Vec<NameId>,
    /// The bindings that the ones of open scopes replaced.
    saved: Vec<(NameId, NameId)>,
}

/// An open scope: the number of saved bindings before it.
pub(super) struct Scope(usize);

impl Bindings {
    pub(super) fn open_scope(&self) -> Scope {
        Scope(self.saved.len())
    }

    /// Binds a name in the innermost scope.
    pub(super) fn bind(&mut self, name: NameId, value: NameId) {
        if name == NameId::ROOT {
            return;
        }
        self.values.extend((self.values.len()..=name.index()).map(NameId::at));
        self.saved.push((name, std::mem::replace(&mut self.values[name.index()], value)));
    }

    pub(super) fn leave(&mut self, scope: Scope) {
        self.saved.drain(scope.0..).rev().for_each(|(name, before)| self.values[name.index()] = before);
    }

    pub(super) fn bound(&self, name: NameId) -> NameId {
        self.values.get(name.index()).copied().unwrap_or(name)
    }

    pub(super) fn all_bound(&self, values: &Values) -> Values {
        let mut bound = Values::from_slice(values);
        bound.iter_mut().for_each(|value| *value = self.bound(*value));
        bound
    }
}
