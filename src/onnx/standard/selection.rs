//! The operators that the options select.

use rustc_hash::{FxHashMap, FxHashSet};

use super::table;
use crate::Options;
use crate::onnx::inline::{FunctionKey, is_lowered};
use crate::onnx::model::{FunctionProto, ModelNames, NodeProto};
use crate::source::names::Name;

/// The operators that are to be expanded.
pub(super) struct Selection<'o> {
    options: &'o Options,
    /// The functions of the model, which may have the names of standard operators.
    own: FxHashSet<FunctionKey>,
    /// Whether nodes of a domain and an operator are to be expanded, as far as there were any.
    known: FxHashMap<(Option<Name>, Option<Name>), bool>,
}

impl<'o> Selection<'o> {
    pub(super) fn new(names: &ModelNames, functions: &[FunctionProto], options: &'o Options) -> Self {
        let own = functions.iter().map(|function| FunctionKey::of_function(names, function)).collect();
        Selection { options, own, known: FxHashMap::default() }
    }

    /// Whether a node is to be expanded.
    pub(super) fn has(&mut self, names: &ModelNames, node: &NodeProto) -> bool {
        let (own, options) = (&self.own, self.options);
        let selected = || {
            let key = FunctionKey::of_node(names, node);
            table::has_body(key.domain(names), key.name(names))
                && !own.contains(&key)
                && is_lowered(names, key, options)
        };
        *self.known.entry((node.domain, node.op_type)).or_insert_with(selected)
    }
}
