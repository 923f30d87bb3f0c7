//! The signatures of fragments: their parameters and results.

use crate::nnef::ast::{ExprId, Generic};
use crate::nnef::document::ModuleId;
use crate::nnef::types::Type;
use crate::source::names::Name;

/// A formal parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamInfo {
    /// Its name.
    pub(crate) name: Name,
    /// Its type.
    pub(crate) ty: Type,
    /// Its default, an expression of the fragment's module.
    pub(crate) default: Option<ExprId>,
    /// Whether tensors occur in its type.
    pub(crate) tensor: bool,
}

/// A declared result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultInfo {
    /// Its name.
    pub(crate) name: Name,
    /// Its type.
    pub(crate) ty: Type,
}

/// A fragment and its signature.
#[derive(Clone, Debug)]
pub(crate) struct FragmentInfo {
    /// The module that declares it.
    pub(crate) module: ModuleId,
    /// Its position in that module.
    pub(crate) index: u32,
    /// Its name.
    pub(crate) name: Name,
    /// Its parameters.
    pub(crate) params: Vec<ParamInfo>,
    /// Its results.
    pub(crate) results: Vec<ResultInfo>,
    /// Whether it is generic.
    pub(crate) generic: Generic,
    /// Whether it has a body.
    pub(crate) has_body: bool,
    /// Whether its body is metadata and not code.
    pub(crate) metadata: bool,
    /// Whether it has as many results as the left side of the call: an operation of a vendor, declared
    /// in a library with the single result `tensor<>[]`.
    pub(crate) open_results: bool,
}
