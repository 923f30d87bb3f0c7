//! Evaluates documents that are models.

use super::check;
use super::document::Document;
use super::run::{RunFailure, Runner, Stores, declared_inputs};
use super::text::ParsedText;
use crate::Options;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::{Budget, Limits};
use crate::tensor::value::{NamedValues, RunValue, ValueForm};

/// An input of a model: its name, and the shape of the tensors in it with symbols as 1.
pub(crate) struct ModelInput {
    pub(crate) name: String,
    /// What its value is, if that is declared.
    pub(crate) form: Option<ValueForm>,
    pub(crate) shape: Option<Vec<usize>>,
    /// The extents that are 1 in the shape since they are open: symbols, or axes such as `x[0]`.
    pub(crate) open_extents: Vec<String>,
    /// Whether it needs no value.
    pub(crate) has_default: bool,
}

impl Document {
    /// The inputs of a model.
    pub(crate) fn inputs(&self) -> Vec<ModelInput> {
        let ParsedText::Model(model) = &self.parsed else { return Vec::new() };
        let input = |of: super::run::DeclaredInput| ModelInput {
            name: of.name.to_owned(),
            shape: of.shape(),
            open_extents: of.open_extents(&model.names),
            form: of.form,
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

    /// Evaluates a model on values by the names of its inputs.
    ///
    /// # Errors
    ///
    /// An input is missing or does not fit, an operator is not defined for its operands, or a limit is exceeded.
    pub(crate) fn run(
        &self,
        inputs: &[(String, RunValue)],
        (limits, options): (Limits, &Options),
    ) -> Result<NamedValues, Box<Diagnostic>> {
        let ParsedText::Model(model) = &self.parsed else {
            let message = "a part of a model has no inputs and outputs to evaluate";
            return Err(self.failed(RunFailure::new(Code::NotEvaluated, message)));
        };
        let (stores, budget) = (Stores::new(self.folder.as_deref()), Budget::new(limits));
        let runner = Runner { stores: &stores, budget: &budget, options };
        runner.run(model, inputs).map_err(|failure| self.failed(failure))
    }

    fn failed(&self, failure: RunFailure) -> Box<Diagnostic> {
        let RunFailure { error, at } = failure;
        let place = at.unwrap_or(0);
        Box::new(self.places.diagnostic(error.code, self.file, place, error.message))
    }
}

#[cfg(test)]
impl Document {
    /// Evaluates a model. Returns the tensors that its outputs are made of.
    pub(crate) fn run_tensors<T: Clone + Into<RunValue>>(
        &self,
        inputs: &[(String, T)],
        within: (Limits, &Options),
    ) -> Result<Vec<(String, std::sync::Arc<crate::tensor::Tensor>)>, Box<Diagnostic>> {
        let inputs: NamedValues = inputs.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let outputs = self.run(&inputs, within)?;
        Ok(outputs.iter().flat_map(|(name, value)| crate::tensor::value::members(name, value)).collect())
    }
}
