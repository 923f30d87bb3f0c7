//! The operator sets that nodes belong to.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use crate::onnx::model::{Fields, ModelNames, OperatorSet};
use crate::onnx::schema::{Found, Schemas};
use crate::source::names::Name;

/// The versions of operator sets that a graph imports, and those that copies of functions need.
#[derive(Debug, Default)]
pub(in crate::onnx) struct Imports {
    versions: FxHashMap<Option<Name>, i64>,
    added: Vec<(Option<Name>, i64)>,
    /// What was asked for last and what was needed last, with the domain as it is spelled: most nodes are in the domain
    /// of the one before.
    asked: Cell<Option<(Option<Name>, Option<i64>)>>,
    needed: Option<(Option<Name>, i64)>,
}

/// A function is written for another version of an operator set than its caller.
#[derive(Clone, Copy, Debug)]
pub(in crate::onnx) struct Mismatch {
    domain: Option<Name>,
    wanted: i64,
    version: i64,
}

impl Mismatch {
    /// Whether an operator is the same in both versions.
    pub(super) fn leaves(self, names: &ModelNames, operator: Option<Name>, schemas: &mut Schemas) -> bool {
        let text = |name: Option<Name>| name.map_or("", |name| names.texts.text(name));
        let mut since = |version| match schemas.find(text(self.domain), text(operator), version) {
            Found::Schema(schema) => Some(schema.version),
            Found::Later(_) | Found::Unknown | Found::Foreign => None,
        };
        let wanted = since(self.wanted);
        wanted.is_some() && wanted == since(self.version)
    }

    /// What is wrong.
    pub(super) fn message(self, names: &ModelNames, operator: Option<Name>, function: Option<Name>) -> String {
        let text = |name: Option<Name>, otherwise| name.map_or(otherwise, |name| names.texts.text(name));
        let Mismatch { domain, wanted, version } = self;
        format!(
            "`{}` is written for version {wanted} of the operator set `{}`, what calls it for version {version}, \
             and `{}` differs between them",
            text(function, ""),
            text(domain, "ai.onnx"),
            text(operator, "")
        )
    }
}

fn normal(names: &ModelNames, domain: Option<Name>) -> Option<Name> {
    domain.filter(|name| !matches!(names.texts.text(*name), "" | "ai.onnx"))
}

impl Imports {
    pub(in crate::onnx) fn new(names: &ModelNames, opsets: &[OperatorSet]) -> Self {
        let version = |opset: &OperatorSet| Some((normal(names, opset.domain), opset.version?));
        Imports { versions: opsets.iter().filter_map(version).collect(), ..Imports::default() }
    }

    /// The version of a domain.
    pub(in crate::onnx) fn version(&self, names: &ModelNames, domain: Option<Name>) -> Option<i64> {
        match self.asked.get() {
            Some((asked, version)) if asked == domain => version,
            _ => {
                let version = self.versions.get(&normal(names, domain)).copied();
                self.asked.set(Some((domain, version)));
                version
            }
        }
    }

    /// Notes that a node of a function with these imports becomes one of the graph.
    ///
    /// # Errors
    ///
    /// The graph has another version of the node's domain.
    pub(in crate::onnx) fn need(
        &mut self,
        names: &ModelNames,
        of_function: &Imports,
        domain: Option<Name>,
    ) -> Result<(), Mismatch> {
        let Some(wanted) = of_function.version(names, domain) else { return Ok(()) };
        let needed = Some((domain, wanted));
        if self.needed == needed {
            return Ok(());
        }
        let domain = normal(names, domain);
        match self.versions.get(&domain) {
            Some(version) if *version == wanted => {}
            Some(&version) => return Err(Mismatch { domain, wanted, version }),
            None => {
                self.versions.insert(domain, wanted);
                self.added.push((domain, wanted));
                // What was not there may be asked for again.
                self.asked.set(None);
            }
        }
        self.needed = needed;
        Ok(())
    }

    /// Adds what copies of functions need to the imports.
    pub(in crate::onnx) fn add_to(self, names: &mut ModelNames, opsets: &mut Vec<OperatorSet>) {
        for (domain, version) in self.added {
            let domain = domain.unwrap_or_else(|| names.texts.intern(""));
            opsets.push(OperatorSet { domain: Some(domain), version: Some(version), rest: Fields::None });
        }
    }
}
