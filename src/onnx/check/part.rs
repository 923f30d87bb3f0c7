//! A part of a model with its own imports: the graph, or a function with its attributes.

use std::borrow::Cow;
use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::onnx::inline::Imports;
use crate::onnx::model::{Fields, FunctionProto, ModelNames, ModelProto, OperatorSet};
use crate::onnx::schema::SchemaLookup;
use crate::source::names::Name;

/// The first version of the format in which models import operator sets.
pub(super) const WITH_IMPORTS: i64 = 3;

/// The domain and the name of an operator.
pub(super) type OperatorName = (Option<Name>, Option<Name>);

/// A part of a model with its own imports.
pub(super) struct ModelPart<'m> {
    pub(super) imports: Imports,
    /// The function; none for the graph of the model.
    pub(super) function: Option<&'m FunctionProto>,
    /// The names of the function's attributes.
    pub(super) attributes: FxHashSet<Name>,
    /// The operators that were looked up, by domain and name.
    pub(super) operators: RefCell<FxHashMap<OperatorName, SchemaLookup>>,
}

impl<'m> ModelPart<'m> {
    pub(super) fn new(names: &ModelNames, opsets: &[OperatorSet], function: Option<&'m FunctionProto>) -> Self {
        let attributes = function.into_iter().flat_map(attributes_of).collect();
        ModelPart { imports: Imports::new(names, opsets), function, attributes, operators: RefCell::default() }
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
