//! Modules with more than one parent: pnnx writes their weights as data of the module, and once more as operands before
//! the input.

use rustc_hash::FxHashMap;

use super::model::{ATTRIBUTE, Operator, OperatorParam, PnnxModel, Role, Typed};

/// The prefix of the kinds of modules.
const MODULES: &str = "nn.";

impl PnnxModel {
    /// Notes for each module how many of its first operands are its own data: attributes with the type of one of its
    /// data, whose members are the `same`.
    pub(crate) fn find_repeated(&mut self, same: &dyn Fn([&str; 2], &Typed) -> bool) {
        let attributes = self.operators.iter().filter(|operator| operator.kind == ATTRIBUTE);
        let stored = attributes.filter_map(|operator| {
            let data = operator.params(Role::Data).next()?;
            Some((operator.outputs.first()?.clone(), (member(operator, data), data.typed())))
        });
        let stored: FxHashMap<String, _> = stored.collect();
        let is_module = |operator: &&mut Operator| operator.kind.starts_with(MODULES) && operator.inputs.len() > 1;
        for operator in self.operators.iter_mut().filter(is_module) {
            let own: Vec<(String, _)> =
                operator.params(Role::Data).map(|data| (member(operator, data), data.typed())).collect();
            let mut taken = vec![false; own.len()];
            let mut repeats = |input: &String| {
                let Some((name, typed)) = stored.get(input) else { return false };
                let Some(typed) = typed else { return false };
                let fits = |(at, (own, of)): (usize, &(String, Option<Typed>))| {
                    !taken[at] && of.as_ref() == Some(typed) && same([own, name], typed)
                };
                let found = own.iter().enumerate().position(fits);
                found.inspect(|at| taken[*at] = true).is_some()
            };
            // The last operand is the input.
            let before = operator.inputs.len().saturating_sub(1);
            operator.repeated = operator.inputs.iter().take(before).take_while(|input| repeats(input)).count();
        }
    }
}

/// The name of data in the archive.
fn member(operator: &Operator, data: &OperatorParam) -> String {
    format!("{}.{}", operator.name, data.key)
}
