//! Models of ONNX that are evaluated.

use super::Findings;
use super::settings::Settings;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::{Limits, Random};
use crate::onnx::{Document, ModelInput, ModelOutputs};
use crate::progress::{self, Phase};
use crate::source::Sources;
use crate::tensor::{DType, Tensor};

/// A model that was read, and is not changed.
pub(crate) struct ModelRun {
    pub(crate) sources: Sources,
    /// The model; none if it is refused.
    pub(crate) document: Option<Document>,
    pub(crate) found: Diagnostics,
}

/// Tensors by name.
pub(crate) type NamedTensors = Vec<(String, Tensor)>;

/// The limits on what is evaluated of a model, whose data count in addition.
pub(super) fn limits(document: &Document, settings: &Settings) -> Limits {
    settings.evaluation_of(document.stored_bytes())
}

impl ModelRun {
    /// Checks what an evaluation relies on; the model is dropped if that fails.
    pub(super) fn new(
        sources: Sources,
        document: Option<Document>,
        mut found: Diagnostics,
        settings: &Settings,
    ) -> Self {
        let document = document.and_then(|document| {
            let checked = document.check_runs(&settings.options);
            found.take(checked.map(|warnings| (document, warnings)))
        });
        ModelRun { sources, document, found }
    }

    /// The inputs of the model.
    pub(crate) fn inputs(&self) -> Vec<ModelInput> {
        self.document.as_ref().map(Document::inputs).unwrap_or_default()
    }

    /// Evaluates the model; none if it is refused or the evaluation fails, which is among the findings then.
    pub(crate) fn evaluate(&mut self, inputs: &[(String, Tensor)], settings: &Settings) -> Option<ModelOutputs> {
        let document = self.document.as_ref().filter(|_| !self.found.has_errors())?;
        progress::enter(Phase::Evaluating);
        match document.run(inputs, (limits(document, settings), &settings.options)) {
            Ok(outputs) => Some(outputs),
            Err(failed) => {
                self.found.report(*failed);
                None
            }
        }
    }

    /// The findings with their texts.
    pub(crate) fn findings(self) -> Findings {
        Findings::new(self.sources, self.found)
    }
}

/// The given inputs, and random tensors for the other inputs of a model.
///
/// # Errors
///
/// The shape or the type of another input is not known, or the limits are exceeded.
pub(crate) fn random_inputs(
    document: &Document,
    (given, seed): (&[(String, Tensor)], u64),
    settings: &Settings,
) -> Result<NamedTensors, Box<Diagnostic>> {
    let mut inputs = given.to_vec();
    for (i, input) in document.inputs().into_iter().enumerate() {
        if input.has_default || given.iter().any(|(name, _)| *name == input.name) {
            continue;
        }
        let fail =
            |message: String| Box::new(Diagnostic::new(Code::EvalInput, Document::nowhere(document.file), message));
        let unknown = || fail(format!("the type of input `{}` is not known: give the input", input.name));
        let shape = input.shape.as_ref().ok_or_else(unknown)?;
        let dtype = input.dtype.filter(|dtype| *dtype != DType::Text).ok_or_else(unknown)?;
        let room = crate::tensor::volume(shape).is_some_and(|count| count as u64 <= settings.evaluation.max_items);
        if !room {
            return Err(fail(format!("the input `{}` is too large", input.name)));
        }
        let made = Random::of_input(seed, i).tensor(dtype, shape);
        let made = made.and_then(|made| made.into_type(dtype)).map_err(|error| fail(error.0))?;
        inputs.push((input.name.clone(), made));
    }
    Ok(inputs)
}
