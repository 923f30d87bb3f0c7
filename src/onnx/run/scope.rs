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
    around: Around<'s>,
    holdings: &'s Holdings<'s>,
}

/// What is around a scope.
#[derive(Clone, Copy)]
pub(super) enum Around<'s> {
    Nothing,
    /// The scope of the node that has the graph. Of a graph that functions hand on from call to call, the number of those
    /// that were given it by another one.
    Graph {
        scope: &'s RunScope<'s>,
        handed_on: usize,
    },
    /// The scope of the call: a graph that the call gives sees what the function does not define itself.
    Function(&'s RunScope<'s>),
}

impl<'s> RunScope<'s> {
    /// A scope with constants within another one.
    pub(super) fn new(constants: &'s Constants, around: Around<'s>, holdings: &'s Holdings<'s>) -> Self {
        RunScope { values: FxHashMap::default(), constants, around, holdings }
    }

    /// The value with a name, of this scope or of those around it.
    pub(super) fn get(&self, name: NameId) -> Option<Option<&RunValue>> {
        let mut open = Some(self);
        while let Some(scope) = open {
            if let Some(value) = scope.own(name) {
                return Some(value);
            }
            open = match scope.around {
                Around::Graph { scope: place, handed_on: handed_on @ 1.. } => {
                    let functions = functions_around(place, handed_on);
                    // A name means the value of the first function that the graph came to and that has it.
                    if let Some(value) = functions.iter().rev().find_map(|function| within(function, name)) {
                        return Some(value);
                    }
                    functions.last().and_then(|first| caller(first))
                }
                _ => scope.outer(),
            };
        }
        None
    }

    /// The value with a name of this scope alone.
    fn own(&self, name: NameId) -> Option<Option<&RunValue>> {
        let value = self.values.get(&name).map(Option::as_ref);
        value.or_else(|| self.constants.get(&name).map(Some))
    }

    fn outer(&self) -> Option<&'s RunScope<'s>> {
        match self.around {
            Around::Nothing => None,
            Around::Graph { scope, .. } | Around::Function(scope) => Some(scope),
        }
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

/// The scopes in which a graph was handed on: that of the node that has it, and for so many functions that of the call.
fn functions_around<'s>(place: &'s RunScope<'s>, handed_on: usize) -> Vec<&'s RunScope<'s>> {
    std::iter::successors(Some(place), |scope| caller(scope)).take(handed_on + 1).collect()
}

/// The scope of the call of the function that a scope is in.
fn caller<'s>(of: &'s RunScope<'s>) -> Option<&'s RunScope<'s>> {
    let mut scopes = std::iter::successors(Some(of), |scope| scope.outer());
    scopes.find(|scope| matches!(scope.around, Around::Function(_)))?.outer()
}

/// The value with a name of a scope, or of those around it in the same function.
fn within<'s>(scope: &'s RunScope<'s>, name: NameId) -> Option<Option<&'s RunValue>> {
    let mut open = Some(scope);
    while let Some(scope) = open {
        if let Some(value) = scope.own(name) {
            return Some(value);
        }
        open = scope.outer().filter(|_| !matches!(scope.around, Around::Function(_)));
    }
    None
}

impl Drop for RunScope<'_> {
    fn drop(&mut self) {
        self.values.values().flatten().for_each(|value| self.holdings.release(value));
    }
}
