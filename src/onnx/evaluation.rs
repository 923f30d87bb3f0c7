//! Evaluates documents that are models.

use std::sync::Arc;

use super::check;
use super::document::Document;
use super::run::{RunFailure, RunValue, Runner, Stores, declared_inputs};
use super::text::ParsedText;
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::{Budget, Limits};
use crate::tensor::{DType, Tensor};

/// An input of a model: its name, the type of its elements if that is declared, and its shape with symbols as 1.
pub(crate) struct ModelInput {
    pub(crate) name: String,
    pub(crate) dtype: Option<DType>,
    pub(crate) shape: Option<Vec<usize>>,
    /// Whether it needs no value.
    pub(crate) has_default: bool,
}

/// Outputs by name.
pub(crate) type ModelOutputs = Vec<(String, Arc<Tensor>)>;

impl Document {
    /// The inputs of a model.
    pub(crate) fn inputs(&self) -> Vec<ModelInput> {
        let ParsedText::Model(model) = &self.parsed else { return Vec::new() };
        let input = |of: super::run::DeclaredInput| ModelInput {
            name: of.name.to_owned(),
            dtype: of.dtype,
            shape: of.shape(),
            has_default: of.has_default,
        };
        declared_inputs(model).into_iter().map(input).collect()
    }

    /// Checks what an evaluation relies on.
    ///
    /// # Errors
    ///
    /// Values without a definition, or external data that are outside the folder of the model or not there.
    pub(crate) fn check_runs(&self, options: &Options) -> Result<Diagnostics, Diagnostics> {
        self.check_external_data(options)?;
        let ParsedText::Model(model) = &self.parsed else { return Ok(Diagnostics::of(options.policy())) };
        check::structure(model, self.file, &self.places, options).map(|(found, _)| found)
    }

    /// The number of bytes of the initializers of a model and of its external data.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let ParsedText::Model(model) = &self.parsed else { return 0 };
        let tensors = model.graph.iter().flat_map(|graph| &graph.initializers);
        let fields = tensors.flat_map(|tensor| tensor.rest.iter().flat_map(|fields| fields.iter()));
        let own = fields.map(|field| field.bytes.len() as u64).fold(0, u64::saturating_add);
        let files = self.external_files();
        let sizes = files.iter().filter_map(|file| Some(std::fs::metadata(file.source.as_ref()?).ok()?.len()));
        sizes.fold(own, u64::saturating_add)
    }

    /// Evaluates a model on tensors by the names of its inputs.
    ///
    /// # Errors
    ///
    /// An input is missing or does not fit, an operator is not defined for its operands, or a limit is exceeded.
    pub(crate) fn run(
        &self,
        inputs: &[(String, Tensor)],
        (limits, options): (Limits, &Options),
    ) -> Result<ModelOutputs, Box<Diagnostic>> {
        let ParsedText::Model(model) = &self.parsed else {
            let message = "a part of a model has no inputs and outputs to evaluate";
            return Err(self.failed(RunFailure::new(Code::NotEvaluated, message)));
        };
        let (stores, budget) = (Stores::new(self.folder.as_deref()), Budget::new(limits));
        let runner = Runner { stores: &stores, budget: &budget, options };
        let outputs = runner.run(model, inputs).map_err(|failure| self.failed(failure))?;
        let tensor = |(name, value)| match value {
            RunValue::Tensor(tensor) => Ok((name, tensor)),
            other => {
                let message = format!("the output `{name}` is {}, which files of tensors do not have", other.kind());
                Err(self.failed(RunFailure::new(Code::NotEvaluated, message)))
            }
        };
        outputs.into_iter().map(tensor).collect()
    }

    fn failed(&self, failure: RunFailure) -> Box<Diagnostic> {
        let RunFailure { error, at } = failure;
        let place = at.unwrap_or(0);
        Box::new(self.places.diagnostic(error.code, (self.file, place), error.message))
    }
}
