//! Units: the operations that a notation defines for the machine, with bodies or without.

use std::cell::OnceCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::graph::{self, Key, Kind, KindParam, Primitive};
use crate::room::position_id;
use crate::source::FileId;
use crate::source::names::{Name, Names};

position_id! {
    /// Identifies a unit.
    UnitId
}

/// A parameter of a unit.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    /// Its name.
    pub(crate) name: Name,
    /// Whether its type contains tensors.
    pub(crate) tensor: bool,
    /// Whether its argument determines an unspecified type argument: its type contains `?`, which has no default.
    pub(crate) decides: bool,
    /// The default value.
    pub(crate) default: Option<graph::Value>,
}

/// The form of a result. [`Primitive::Generic`] stands for the type argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ResultForm {
    /// A tensor with this element type; none if the element type is not known.
    Tensor(Option<Primitive>),
    /// An array of such tensors.
    Tensors(Option<Primitive>),
    /// A tuple, which only a body can return: an operation of a flat graph has no such result.
    Tuple,
}

/// A result of a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitResult {
    /// Its name.
    pub(crate) name: Name,
    /// Its form.
    pub(crate) form: ResultForm,
}

/// The signature of an operation, or of a body that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Its name.
    pub(crate) name: Name,
    /// Its parameters.
    pub(crate) params: Vec<Param>,
    /// Its results.
    pub(crate) results: SmallVec<[UnitResult; 1]>,
    /// Whether it has a type argument.
    pub(crate) generic: bool,
    /// Whether it belongs to the standard library.
    pub(crate) standard: bool,
    /// Whether it has a body.
    pub(crate) has_body: bool,
    /// Whether the left side of a call determines the number of its results.
    pub(crate) open_results: bool,
    /// The file that contains its source.
    pub(crate) file: FileId,
}

impl Unit {
    /// The kind of its operations in a graph.
    pub(crate) fn kind(&self) -> Kind {
        let param =
            |param: &Param| KindParam { name: param.name, tensor: param.tensor, default: param.default.clone() };
        Kind {
            name: self.name,
            params: self.params.iter().map(param).collect(),
            results: self.results.iter().map(|result| result.name).collect(),
            declared: true,
            standard: self.standard,
            generic: self.generic,
        }
    }
}

/// All units of an expansion: first those of the standard library, which all documents share.
#[derive(Debug)]
pub(crate) struct Units {
    standard: &'static [Unit],
    own: Vec<Unit>,
    names: Arc<Names>,
    /// The last non-standard unit of each name; computed on first use.
    by_name: OnceCell<FxHashMap<Name, UnitId>>,
}

impl Units {
    pub(crate) fn new(standard: &'static [Unit], own: Vec<Unit>, names: Arc<Names>) -> Self {
        Units { standard, own, names, by_name: OnceCell::new() }
    }

    /// The number of units.
    pub(crate) fn len(&self) -> usize {
        self.standard.len() + self.own.len()
    }

    /// A unit.
    #[inline]
    pub(crate) fn get(&self, id: UnitId) -> &Unit {
        match id.index().checked_sub(self.standard.len()) {
            Some(own) => &self.own[own],
            None => &self.standard[id.index()],
        }
    }

    /// Finds a unit by name; units of the document take precedence over standard ones.
    pub(crate) fn find(&self, name: &str) -> Option<UnitId> {
        let first = self.standard.len();
        let make = || self.own.iter().zip(first..).map(|(unit, index)| (unit.name, UnitId::at(index))).collect();
        let known = self.by_name.get_or_init(make).get(&self.names.get(name)?);
        known.copied().or_else(|| self.standard(name))
    }

    /// Finds a standard operation by name.
    pub(crate) fn standard(&self, name: &str) -> Option<UnitId> {
        let name = self.names.get(name)?;
        self.standard.iter().position(|unit| unit.name == name).map(UnitId::at)
    }

    /// Whether the argument with this key belongs to the parameter of this name.
    pub(super) fn is_for(&self, unit: Option<UnitId>, key: Key, param: &str) -> bool {
        let name = match key {
            Key::Named(name) => Some(name),
            Key::Param(i) => unit.and_then(|unit| self.get(unit).params.get(i as usize)).map(|param| param.name),
            Key::Positional => None,
        };
        name.is_some_and(|name| self.text(name) == param)
    }

    /// The table of names.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// The text of a name.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }
}
