//! A declaration: parameters, defaults and results of an operation.

use crate::graph::{Kind, KindParam, Primitive, Value};
use crate::source::names::Names;

/// A parameter of a declared operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeclaredParam {
    /// Its name.
    pub(crate) name: &'static str,
    /// Whether its type contains tensors.
    pub(crate) tensor: bool,
    /// Its primitive type, or that of the elements of a tensor; none for arrays, tuples and tensors of any elements.
    pub(crate) takes: Option<Primitive>,
    /// Its default.
    pub(crate) default: Option<Value>,
}

/// A result of a declared operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeclaredResult {
    /// Its name.
    pub(crate) name: &'static str,
    /// The type of its elements; none for arrays and tensors of any elements.
    pub(crate) gives: Option<Primitive>,
}

/// A declared operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its declaration, with the body of a compound.
    pub(crate) text: &'static str,
    /// Whether it belongs to a standard library.
    pub(crate) standard: bool,
    /// Whether calls have a type argument.
    pub(crate) generic: bool,
    /// Its parameters.
    pub(crate) params: Vec<DeclaredParam>,
    /// Its results.
    pub(crate) results: Vec<DeclaredResult>,
}

impl Declared {
    /// The kind of its operations in a graph with these names.
    pub(crate) fn kind(&self, names: &mut Names) -> Kind {
        let name = names.intern(self.name);
        let param = |param: &DeclaredParam| KindParam {
            name: names.intern(param.name),
            tensor: param.tensor,
            default: param.default.clone(),
        };
        let params = self.params.iter().map(param).collect();
        let results = self.results.iter().map(|result| names.intern(result.name)).collect();
        Kind { name, params, results, declared: true, standard: self.standard, generic: self.generic }
    }

    /// The position of a parameter.
    pub(crate) fn position(&self, param: &str) -> Option<usize> {
        self.params.iter().position(|known| known.name == param)
    }
}
