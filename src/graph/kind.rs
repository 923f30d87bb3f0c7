//! Kinds of operations: what all calls of a declaration have in common.

use super::value::Value;
use crate::source::names::Name;

/// A kind of operation: name, parameters and results.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// The name of the operation.
    pub(crate) name: Name,
    /// Its parameters; empty if the operation is not declared.
    pub(crate) params: Vec<KindParam>,
    /// The names of its results.
    pub(crate) results: Vec<Name>,
    /// Whether it is declared: by the standard library, the document or another library.
    pub(crate) declared: bool,
    /// Whether it belongs to the standard library.
    pub(crate) standard: bool,
    /// Whether its declaration is generic, so that calls have a type argument.
    pub(crate) generic: bool,
}

/// A parameter of a kind of operation.
#[derive(Clone, Debug)]
pub(crate) struct KindParam {
    /// Its name.
    pub(crate) name: Name,
    /// Whether it takes tensors.
    pub(crate) tensor: bool,
    /// Its default.
    pub(crate) default: Option<Value>,
}
