//! Imports of operator sets.

use std::cell::Cell;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::onnx::model::{Fields, ModelNames, OperatorSet};
use crate::onnx::schema::Schemas;
use crate::source::names::Name;

/// The versions of operator sets that a graph imports, and the imports that copies of functions need.
#[derive(Debug, Default)]
pub(in crate::onnx) struct Imports {
    /// Those that are written, sorted by their domains: mostly one or two.
    written: SmallVec<[(Option<Name>, i64); 4]>,
    /// Those that only copies need, in the order of their appearance.
    added: IndexMap<Option<Name>, i64, FxBuildHasher>,
    /// The latest lookup and the latest need, with the domain as it is spelled: consecutive nodes are mostly in the
    /// same domain.
    asked: Cell<Option<(Option<Name>, Option<i64>)>>,
    needed: Option<(Option<Name>, i64)>,
    /// Whether a copy has an `Identity` that neither the model nor a function has.
    copies_values: bool,
}

/// A version of the standard operator set whose `Identity` takes values of all types, for models that do not import it.
const OF_IDENTITY: i64 = 16;

/// The error of a function that imports another version of an operator set than its caller.
#[derive(Clone, Copy, Debug)]
pub(in crate::onnx) struct Mismatch {
    domain: Option<Name>,
    wanted: i64,
    version: i64,
}

impl Mismatch {
    /// Whether an operator is unchanged between the two versions.
    pub(in crate::onnx) fn leaves(self, names: &ModelNames, operator: Option<Name>) -> bool {
        let text = |name: Option<Name>| name.map_or("", |name| names.texts.text(name));
        let since = |version| Schemas::new().since(text(self.domain), text(operator), version);
        let wanted = since(self.wanted);
        wanted.is_some() && wanted == since(self.version)
    }

    /// The message.
    pub(in crate::onnx) fn message(self, names: &ModelNames, operator: Option<Name>, function: Option<Name>) -> String {
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
        // A number that a file leaves out is 0.
        let version = |opset: &OperatorSet| (normal(names, opset.domain), opset.version.unwrap_or(0));
        let mut written: SmallVec<[(Option<Name>, i64); 4]> = opsets.iter().rev().map(version).collect();
        // Of a domain that is imported twice, the last import counts.
        written.sort_by_key(|import| import.0);
        written.dedup_by_key(|import| import.0);
        Imports { written, ..Imports::default() }
    }

    /// The version of a domain as [`normal`] has it.
    fn version_of(&self, domain: Option<Name>) -> Option<i64> {
        match self.written.binary_search_by_key(&domain, |import| import.0) {
            Ok(at) => Some(self.written[at].1),
            Err(_) => self.added.get(&domain).copied(),
        }
    }

    /// The imported version of a domain.
    pub(in crate::onnx) fn version(&self, names: &ModelNames, domain: Option<Name>) -> Option<i64> {
        match self.asked.get() {
            Some((asked, version)) if asked == domain => version,
            _ => {
                let version = self.version_of(normal(names, domain));
                self.asked.set(Some((domain, version)));
                version
            }
        }
    }

    /// The version that an operator of a domain is read as: the imported one, and 1 if the domain is not imported, as
    /// in models of format 1 and 2, which have no imports (ONNX IR, "Operator sets").
    pub(in crate::onnx) fn version_read(&self, names: &ModelNames, domain: Option<Name>) -> i64 {
        self.version(names, domain).unwrap_or(1)
    }

    /// Records that a node of a function with these imports is copied to the graph.
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
        match self.version_of(domain) {
            Some(version) if version == wanted => {}
            Some(version) => return Err(Mismatch { domain, wanted, version }),
            None => {
                self.added.insert(domain, wanted);
                // The cached lookup may be that of the added domain.
                self.asked.set(None);
            }
        }
        self.needed = needed;
        Ok(())
    }

    /// Records that an `Identity` is added to the graph.
    pub(in crate::onnx) fn need_identity(&mut self) {
        self.copies_values = true;
    }

    /// Adds the imports that copies of functions need.
    pub(in crate::onnx) fn add_to(mut self, names: &mut ModelNames, opsets: &mut Vec<OperatorSet>) {
        if self.copies_values && self.version_of(None).is_none() {
            self.added.insert(None, OF_IDENTITY);
        }
        for (domain, version) in self.added {
            let domain = domain.unwrap_or_else(|| names.texts.intern(""));
            opsets.push(OperatorSet { domain: Some(domain), version: Some(version), rest: Fields::None });
        }
    }
}
