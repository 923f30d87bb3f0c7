//! The operators that the options select.

use rustc_hash::{FxHashMap, FxHashSet};

use super::needs::BodyNeeds;
use super::table::BodyTable;
use crate::Options;
use crate::onnx::inline::{FunctionKey, is_kept, is_lowered};
use crate::onnx::model::{FunctionProto, ModelNames, NodeProto};
use crate::source::names::Name;

/// The operators that are to be expanded.
pub(super) struct Selection<'o> {
    pub(super) options: &'o Options,
    pub(super) table: BodyTable,
    /// The functions of the model, which may have the names of standard operators.
    own: FxHashSet<FunctionKey>,
    /// What the bodies of nodes of a domain and an operator depend on, as far as there were any; none if they are not to
    /// be expanded.
    known: FxHashMap<(Option<Name>, Option<Name>), Option<BodyNeeds>>,
}

impl<'o> Selection<'o> {
    pub(super) fn new(
        names: &ModelNames,
        functions: &[FunctionProto],
        (table, options): (BodyTable, &'o Options),
    ) -> Self {
        let own = functions.iter().map(|function| FunctionKey::of_function(names, function)).collect();
        Selection { options, table, own, known: FxHashMap::default() }
    }

    /// What the body of a node depends on; none if it is not to be expanded.
    pub(super) fn needs(&mut self, names: &ModelNames, node: &NodeProto) -> Option<BodyNeeds> {
        let (own, options, table) = (&self.own, self.options, self.table);
        let selected = || {
            let key = FunctionKey::of_node(names, node);
            let is_selected = || match table {
                BodyTable::Functions => is_lowered(names, key, options),
                BodyTable::Steps => options.unroll && !is_kept(names, key, options),
            };
            let needs = table.needs(key.domain(names), key.name(names))?;
            (!own.contains(&key) && is_selected()).then_some(needs)
        };
        *self.known.entry((node.domain, node.op_type)).or_insert_with(selected)
    }
}
