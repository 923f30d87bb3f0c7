//! The operator sets that nodes belong to.

use rustc_hash::FxHashMap;

use super::Found;
use crate::diagnostics::Code;
use crate::onnx::model::{Fields, ModelNames, OperatorSet};
use crate::source::names::Name;

/// The versions of operator sets that a graph imports, and those that copies of functions need.
#[derive(Debug, Default)]
pub(in crate::onnx) struct Imports {
    versions: FxHashMap<Option<Name>, i64>,
    added: Vec<(Option<Name>, i64)>,
}

fn normal(names: &ModelNames, domain: Option<Name>) -> Option<Name> {
    domain.filter(|name| !matches!(names.texts.text(*name), "" | "ai.onnx"))
}

impl Imports {
    pub(in crate::onnx) fn new(names: &ModelNames, opsets: &[OperatorSet]) -> Self {
        let version = |opset: &OperatorSet| Some((normal(names, opset.domain), opset.version?));
        Imports { versions: opsets.iter().filter_map(version).collect(), added: Vec::new() }
    }

    /// The version of a domain.
    pub(in crate::onnx) fn version(&self, names: &ModelNames, domain: Option<Name>) -> Option<i64> {
        self.versions.get(&normal(names, domain)).copied()
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
        (domain, at): (Option<Name>, u32),
        function: impl FnOnce() -> String,
    ) -> Result<(), Box<Found>> {
        let Some(wanted) = of_function.version(names, domain) else { return Ok(()) };
        let domain = normal(names, domain);
        match self.versions.get(&domain) {
            Some(version) if *version == wanted => Ok(()),
            Some(version) => {
                let text = domain.map_or("ai.onnx", |name| names.texts.text(name));
                let message = format!(
                    "`{}` is written for version {wanted} of the operator set `{text}`, what calls it for version {version}",
                    function()
                );
                let found = Found::new(Code::OnnxOpset, at, message);
                Err(Box::new(found.help("leave the function as it is with --keep, or convert the model first")))
            }
            None => {
                self.versions.insert(domain, wanted);
                self.added.push((domain, wanted));
                Ok(())
            }
        }
    }

    /// Adds what copies of functions need to the imports.
    pub(in crate::onnx) fn add_to(self, names: &mut ModelNames, opsets: &mut Vec<OperatorSet>) {
        for (domain, version) in self.added {
            let domain = domain.unwrap_or_else(|| names.texts.intern(""));
            opsets.push(OperatorSet { domain: Some(domain), version: Some(version), rest: Fields::None });
        }
    }
}
