//! A part of a model with its own imports: the graph, or a function with its attributes.

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::onnx::functions::Imports;
use crate::onnx::model::{Fields, FunctionProto, ModelNames, ModelProto, OperatorSet};
use crate::source::names::Name;

/// The first version of the format in which models import operator sets.
pub(super) const WITH_IMPORTS: i64 = 3;

/// A part of a model with its own imports.
pub(super) struct ModelPart<'m> {
    pub(super) imports: Imports,
    /// The function; none for the graph of the model.
    pub(super) function: Option<&'m FunctionProto>,
    /// The names of the function's attributes, once they were asked for.
    attributes: OnceCell<FxHashSet<Name>>,
}

impl<'m> ModelPart<'m> {
    pub(super) fn new(names: &ModelNames, opsets: &[OperatorSet], function: Option<&'m FunctionProto>) -> Self {
        ModelPart { imports: Imports::new(names, opsets), function, attributes: OnceCell::new() }
    }

    /// Whether it is a function with an attribute.
    pub(super) fn has_attribute(&self, name: Name) -> bool {
        let names = || self.function.into_iter().flat_map(attributes_of).collect();
        self.attributes.get_or_init(names).contains(&name)
    }
}

/// The names of the attributes of a function.
pub(super) fn attributes_of(function: &FunctionProto) -> impl Iterator<Item = Name> {
    let defaults = function.defaults.iter().filter_map(|attribute| attribute.name);
    function.attributes.iter().copied().chain(defaults)
}

/// The operator sets of a model; models of the oldest formats use the first version of the standard one.
pub(super) fn opsets(model: &ModelProto) -> Cow<'_, [OperatorSet]> {
    let is_old = model.ir_version.is_some_and(|version| (1..WITH_IMPORTS).contains(&version));
    if is_old && model.opsets.is_empty() {
        return Cow::Owned(vec![OperatorSet { domain: None, version: Some(1), rest: Fields::None }]);
    }
    Cow::Borrowed(&model.opsets)
}
