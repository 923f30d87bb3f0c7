//! The operators that the options select.

use rustc_hash::FxHashSet;

use super::body_table::BodyTable;
use super::needs::BodyNeeds;
use crate::Options;
use crate::onnx::functions::{FunctionKey, is_kept, is_lowered};
use crate::onnx::model::{FunctionProto, ModelNames, NodeProto};
use crate::source::names::Name;

/// The operators that are to be expanded.
pub(super) struct Selection<'o> {
    pub(super) options: &'o Options,
    pub(super) table: BodyTable,
    /// The functions of the model, which may have the names of standard operators.
    own: FxHashSet<FunctionKey>,
    /// For each operator, by the number of its name, the domain of its last node and what the body of that depends on.
    last: Vec<Option<(Option<Name>, Option<BodyNeeds>)>>,
}

impl<'o> Selection<'o> {
    pub(super) fn new(names: &ModelNames, functions: &[FunctionProto], table: BodyTable, options: &'o Options) -> Self {
        let own = functions.iter().map(|function| FunctionKey::of_function(names, function)).collect();
        Selection { options, table, own, last: Vec::new() }
    }

    /// What the body of a node depends on; none if it is not to be expanded.
    pub(super) fn needs(&mut self, names: &ModelNames, node: &NodeProto) -> Option<BodyNeeds> {
        let at = node.op_type?.index();
        if let Some(Some((domain, needs))) = self.last.get(at)
            && *domain == node.domain
        {
            return *needs;
        }
        let needs = self.found(names, node);
        if self.last.len() <= at {
            self.last.resize(names.texts.len().max(at + 1), None);
        }
        self.last[at] = Some((node.domain, needs));
        needs
    }

    /// [`Selection::needs`], looked up.
    fn found(&self, names: &ModelNames, node: &NodeProto) -> Option<BodyNeeds> {
        let key = FunctionKey::of_node(names, node);
        let needs = self.table.needs(key.domain(names), key.name(names))?;
        let is_selected = match self.table {
            BodyTable::Functions => is_lowered(names, key, self.options),
            BodyTable::Steps => self.options.unroll && !is_kept(names, key, self.options),
        };
        (is_selected && !self.own.contains(&key)).then_some(needs)
    }
}
