//! Models of ONNX that are evaluated.

use super::Findings;
use super::settings::Settings;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::{LETTERS, Limits, Random};
use crate::onnx::{Document, ModelInput};
use crate::progress::{self, Phase};
use crate::source::Sources;
use crate::tensor::value::{MapValue, NamedValues, RunValue, ValueForm, assembled};
use crate::tensor::{DType, Data, Tensor, TensorError};

/// A model that was read, and is not changed.
pub(crate) struct ModelRun {
    pub(crate) sources: Sources,
    /// The model; none if it is refused.
    pub(crate) document: Option<Document>,
    pub(crate) found: Diagnostics,
}

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
    pub(crate) fn evaluate(&mut self, inputs: &[(String, RunValue)], settings: &Settings) -> Option<NamedValues> {
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

/// The given inputs, and random values for the other inputs of a model.
///
/// # Errors
///
/// The shape or the type of another input is not known, or the limits are exceeded.
pub(crate) fn random_inputs(
    document: &Document,
    given: &[(String, RunValue)],
    seed: u64,
    settings: &Settings,
) -> Result<NamedValues, Box<Diagnostic>> {
    let mut inputs = given.to_vec();
    for (i, input) in document.inputs().into_iter().enumerate() {
        if input.has_default || given.iter().any(|(name, _)| *name == input.name) {
            continue;
        }
        let fail =
            |message: String| Box::new(Diagnostic::new(Code::EvalInput, Document::nowhere(document.file), message));
        let unknown = || fail(format!("the type of input `{}` is not known: give the input", input.name));
        let form = input.form.as_ref().ok_or_else(unknown)?;
        let shape = match form {
            ValueForm::Map { .. } => &[][..],
            _ => input.shape.as_deref().ok_or_else(unknown)?,
        };
        let room = crate::tensor::volume(shape).is_some_and(|count| count as u64 <= settings.evaluation.max_items);
        if !room {
            return Err(fail(format!("the input `{}` is too large", input.name)));
        }
        let made = random_value(form, shape, &mut Random::of_input(seed, i)).ok_or_else(unknown)?;
        inputs.push((input.name.clone(), made.map_err(|error| fail(error.0))?));
    }
    Ok(inputs)
}

/// Values for the inputs of a model from arrays: those with the name of an input, and the parts of its value.
///
/// # Errors
///
/// A part of a map is missing.
pub(crate) fn named_values(arrays: Vec<(String, Tensor)>, inputs: &[ModelInput]) -> Result<NamedValues, TensorError> {
    let declared = inputs.iter().filter_map(|input| Some((input.name.as_str(), input.form.as_ref()?)));
    assembled(arrays, declared)
}

/// The items of a random sequence.
const ITEMS: usize = 2;

/// The keys of a random map are the numbers below this one, or letters.
const KEYS: i64 = 3;

/// A random value with tensors of a shape; none if their type is not known.
fn random_value(form: &ValueForm, shape: &[usize], random: &mut Random) -> Option<Result<RunValue, TensorError>> {
    let mut tensor = |dtype, shape: &[usize]| random.tensor(dtype, shape).and_then(|made| made.into_type(dtype));
    match form {
        ValueForm::Tensor(dtype) => Some(tensor((*dtype)?, shape).map(RunValue::from)),
        ValueForm::Sequence(form) => {
            let items: Option<Result<_, _>> = (0..ITEMS).map(|_| random_value(form, shape, random)).collect();
            Some(items?.map(RunValue::sequence))
        }
        ValueForm::Optional(form) => {
            let value = random_value(form, shape, random)?;
            Some(value.map(|value| RunValue::Optional(Some(Box::new(value)))))
        }
        ValueForm::Map { key, value } => {
            let keys = match key {
                DType::Text => Tensor::with(&[LETTERS.len()], Data::Text(LETTERS.map(Into::into).into())),
                key => Tensor::with(&[KEYS as usize], Data::from_wide(*key, (0..KEYS).map(i128::from))),
            };
            let values = |keys: Tensor| MapValue::new(&keys, &tensor(*value, keys.shape())?);
            Some(keys.and_then(values).map(RunValue::map))
        }
    }
}
