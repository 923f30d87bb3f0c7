//! The values of a graph while it runs. Inner graphs see those of the graphs around them.

use rustc_hash::FxHashMap;

use super::body::Constants;
use super::holdings::Holdings;
use crate::graph::names::NameId;
use crate::tensor::value::RunValue;

/// The values that a graph has defined. They count in the budget until they are removed.
pub(super) struct RunScope<'s> {
    /// The values; none for an operand that the call of a function leaves out.
    values: FxHashMap<NameId, Option<RunValue>>,
    constants: &'s Constants,
    outer: Option<&'s RunScope<'s>>,
    holdings: &'s Holdings<'s>,
}

impl<'s> RunScope<'s> {
    /// A scope with constants within another one.
    pub(super) fn new(constants: &'s Constants, outer: Option<&'s RunScope<'s>>, holdings: &'s Holdings<'s>) -> Self {
        RunScope { values: FxHashMap::default(), constants, outer, holdings }
    }

    /// The value with a name, of this scope or of those around it.
    pub(super) fn get(&self, name: NameId) -> Option<Option<&RunValue>> {
        let mut scope = Some(self);
        while let Some(found) = scope {
            if let Some(value) = found.values.get(&name) {
                return Some(value.as_ref());
            }
            if let Some(value) = found.constants.get(&name) {
                return Some(Some(value));
            }
            scope = found.outer;
        }
        None
    }

    /// Defines a value.
    pub(super) fn define(&mut self, name: NameId, value: Option<RunValue>) {
        value.iter().for_each(|value| self.holdings.hold(value));
        let before = self.values.insert(name, value).flatten();
        before.iter().for_each(|value| self.holdings.release(value));
    }

    /// Removes a value that is not used any more.
    pub(super) fn remove(&mut self, name: NameId) {
        let before = self.values.remove(&name).flatten();
        before.iter().for_each(|value| self.holdings.release(value));
    }
}

impl Drop for RunScope<'_> {
    fn drop(&mut self) {
        self.values.values().flatten().for_each(|value| self.holdings.release(value));
    }
}
