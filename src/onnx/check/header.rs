//! Checks the fields of a model around its graph and its functions.

use rustc_hash::FxHashSet;

use super::checker::{Check, Pass};
use super::part::{WITH_IMPORTS, opsets};
use crate::diagnostics::Code;
use crate::onnx::functions::Imports;
use crate::onnx::model::{ModelProto, OperatorSet};

/// The latest version of the format, that of onnx 1.23.
const LATEST: i64 = 14;

impl<'m> Check<'m> {
    /// Checks the fields that every model must have, and notes the versions that checks of all kinds compare.
    pub(super) fn header(&mut self, model: &'m ModelProto) {
        self.ir_version = model.ir_version.unwrap_or(0);
        if model.graph.is_none() {
            self.report(Code::OnnxModel, 0, "the model has no graph".to_owned(), None);
        }
        if self.pass != Pass::All {
            return;
        }
        // Of several imports of a domain the last one counts: those of the model are preferred.
        let of_functions = model.functions.iter().rev().flat_map(|function| &function.opsets);
        let all: Vec<OperatorSet> = of_functions.chain(&*opsets(model)).cloned().collect();
        self.imports = Imports::new(self.names, &all);
        if self.ir_version == 0 {
            self.report(Code::OnnxModel, 0, "the model has no `ir_version`".to_owned(), None);
        } else if !(1..=LATEST).contains(&self.ir_version) {
            let message = format!("`ir_version` is {}, the latest known one is {LATEST}", self.ir_version);
            self.report(Code::OnnxVersion, 0, message, None);
        }
        if model.opsets.is_empty() && !(1..WITH_IMPORTS).contains(&self.ir_version) {
            self.report(Code::OnnxModel, 0, "the model has no imported operator set".to_owned(), None);
        }
        if !model.opsets.is_empty() && (1..WITH_IMPORTS).contains(&self.ir_version) {
            let message = format!("models of `ir_version` {} import no operator sets", self.ir_version);
            self.report(Code::OnnxVersion, 0, message, None);
        }
        self.versions(&model.opsets, 0);
        let mut seen = FxHashSet::default();
        for (i, entry) in model.metadata.iter().enumerate() {
            let key = entry.key.as_deref().unwrap_or("");
            if !seen.insert(key) {
                let message = format!("the metadata have the key `{key}` twice");
                self.within(("metadata_props", Some(i)), |check| check.report(Code::OnnxTwice, 0, message, None));
            }
        }
    }

    /// Checks the versions of imported operator sets.
    pub(super) fn versions(&mut self, opsets: &[OperatorSet], at: u32) {
        for (i, opset) in opsets.iter().enumerate() {
            let version = opset.version.unwrap_or(0);
            if i32::try_from(version).is_err() {
                let message = format!("{version} is not a version of an operator set");
                self.within(("opset_import", Some(i)), |check| check.report(Code::OnnxVersion, at, message, None));
            }
        }
    }
}
