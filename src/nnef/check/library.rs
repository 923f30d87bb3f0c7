//! The declarations of the standard library. They are the same for all documents of a dialect and
//! outnumber those of most documents, so they are made once per process.

use std::rc::Rc;
use std::sync::OnceLock;

use super::fragments::Fragments;
use super::scope::Scope;
use super::{Checker, FragmentInfo};
use crate::graph::Dialect;
use crate::nnef::document::ModuleId;
use crate::nnef::types::Types;

/// The standard library of a dialect, declared.
struct Declarations {
    fragments: Vec<FragmentInfo>,
    types: Types,
    scope: Scope,
}

/// Those of 1.0 and of the draft. Parsing a library always gives the same names and nodes.
static DECLARED: [OnceLock<Declarations>; 2] = [const { OnceLock::new() }; 2];

impl Checker<'_> {
    /// Declares the standard library, which is the first module.
    pub(super) fn declare_standard(&mut self) {
        let declared = &DECLARED[usize::from(self.checked.document.dialect() == Dialect::Draft)];
        let Declarations { fragments, types, scope } = declared.get_or_init(|| {
            self.declare_module(ModuleId::STANDARD);
            Declarations {
                fragments: Rc::make_mut(&mut self.checked.fragments).take(),
                types: self.checked.types.clone(),
                scope: self.checked.standard_scope.clone(),
            }
        });
        self.checked.fragments = Rc::new(Fragments::beside(fragments));
        self.checked.bodies.resize(fragments.len(), None);
        (self.checked.types, self.checked.standard_scope) = (types.clone(), scope.clone());
    }
}

#[cfg(test)]
mod tests;
