//! Replacing arguments of operations.

use super::{Argument, Graph, Key, Output, Value};
use crate::source::names::Name;

impl Graph {
    /// Replaces the argument of a name in operations, which are given by their positions in ascending order.
    pub(crate) fn replace_argument(&mut self, name: Name, new: Vec<(usize, Value)>) {
        let mut changed: Vec<Option<Vec<Value>>> = vec![None; self.operations.len()];
        for (i, new) in new {
            let operation = &self.operations[i];
            let params = &self.kind(operation).params;
            let is_named = |key: &Key| match key {
                Key::Param(param) => params.get(*param as usize).is_some_and(|param| param.name == name),
                Key::Named(key) => *key == name,
                Key::Positional => false,
            };
            let values = self.arguments(operation);
            changed[i] =
                Some(values.map(|(key, value)| if is_named(&key) { new.clone() } else { value.to_value() }).collect());
        }
        self.rewrite_arguments(changed);
    }

    /// Replaces the arguments of operations.
    pub(super) fn rewrite_arguments(&mut self, changed: Vec<Option<Vec<Value>>>) {
        let old = self.take_operations();
        self.kinds = old.kinds.clone();
        for (operation, changed) in old.operations.iter().zip(changed) {
            let Some(values) = changed else {
                self.add_again(&old, operation);
                continue;
            };
            let arguments = old.keys(operation).iter().zip(values).map(|(key, value)| Argument { key: *key, value });
            let outputs: Vec<Output> = old.outputs_of(operation).collect();
            let source = (operation.at, operation.origin);
            self.add_operation(old.kind_id(operation), operation.type_argument(), arguments, &outputs, source);
        }
    }
}
