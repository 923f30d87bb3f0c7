//! Recurrent layers: the activations that they name, for evaluation and for expansion.

use super::kernels::elementwise::softplus;
use crate::dictionary::sigmoid;
use crate::library::recurrent::RecurrentKind;

/// The activations of a direction, unless the node states others.
pub(in crate::onnx) fn defaults(kind: RecurrentKind) -> &'static [&'static str] {
    match kind {
        RecurrentKind::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        RecurrentKind::Gru => &["Sigmoid", "Tanh"],
        RecurrentKind::Rnn => &["Tanh"],
    }
}

/// How nodes use the parameters of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::onnx) enum ActivationForm {
    /// An operator with the name of the activation, and attributes for the parameters that it has.
    Operator,
    /// `alpha * x + beta`
    Affine,
    /// `alpha * Tanh(beta * x)`
    ScaledTanh,
}

/// An activation.
#[derive(Debug)]
pub(in crate::onnx) struct ActivationRow {
    pub(in crate::onnx) name: &'static str,
    /// The function of a number and two parameters.
    pub(in crate::onnx) function: fn(f64, f64, f64) -> f64,
    pub(in crate::onnx) form: ActivationForm,
    /// The defaults of the parameters; none for one that the function does not have.
    pub(in crate::onnx) defaults: [Option<f64>; 2],
}

const fn row(name: &'static str, function: fn(f64, f64, f64) -> f64, defaults: [Option<f64>; 2]) -> ActivationRow {
    ActivationRow { name, function, form: ActivationForm::Operator, defaults }
}

static ACTIVATIONS: &[ActivationRow] = &[
    row("Relu", |x, _, _| x.max(0.0), [None, None]),
    row("Tanh", |x, _, _| x.tanh(), [None, None]),
    row("Sigmoid", |x, _, _| sigmoid(x), [None, None]),
    ActivationRow { form: ActivationForm::Affine, ..row("Affine", |x, a, b| a * x + b, [Some(1.0), Some(0.0)]) },
    row("LeakyRelu", |x, a, _| if x >= 0.0 { x } else { a * x }, [Some(0.01), None]),
    row("ThresholdedRelu", |x, a, _| if x >= a { x } else { 0.0 }, [Some(1.0), None]),
    ActivationRow {
        form: ActivationForm::ScaledTanh,
        ..row("ScaledTanh", |x, a, b| a * (b * x).tanh(), [Some(1.0), Some(1.0)])
    },
    row("HardSigmoid", |x, a, b| (a * x + b).clamp(0.0, 1.0), [Some(0.2), Some(0.5)]),
    row("Elu", |x, a, _| if x >= 0.0 { x } else { a * x.exp_m1() }, [Some(1.0), None]),
    row("Softsign", |x, _, _| x / (1.0 + x.abs()), [None, None]),
    row("Softplus", |x, _, _| softplus(x), [None, None]),
];

/// An activation with its parameters; 0 for one that it does not have.
#[derive(Clone, Copy, Debug)]
pub(in crate::onnx) struct Activation {
    pub(in crate::onnx) row: &'static ActivationRow,
    pub(in crate::onnx) parameters: [f64; 2],
}

/// Why a layer has no activations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::onnx) enum ActivationError {
    /// There are other than the wanted number.
    Count { found: usize, wanted: usize },
    /// An activation is not known.
    Unknown(String),
}

/// The activations of a layer, those of one direction after another. Parameters are listed for the functions that have
/// them.
///
/// # Errors
///
/// A function is not known, or there are too few or too many.
pub(in crate::onnx) fn activations(
    kind: RecurrentKind,
    directions: usize,
    names: Option<Vec<String>>,
    [alphas, betas]: [Option<Vec<f32>>; 2],
) -> Result<Vec<Activation>, ActivationError> {
    let defaults = defaults(kind);
    let names = names.filter(|names| !names.is_empty());
    let names = names.unwrap_or_else(|| defaults.iter().map(|name| (*name).to_owned()).collect());
    let (found, wanted) = (names.len(), defaults.len() * directions);
    if found != wanted && found != defaults.len() {
        return Err(ActivationError::Count { found, wanted });
    }
    let mut lists = [alphas, betas].map(|list| list.unwrap_or_default().into_iter());
    let activation = |name: &String| {
        let row = ACTIVATIONS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
        let row = row.ok_or_else(|| ActivationError::Unknown(name.clone()))?;
        let mut parameters = [0.0; 2];
        for ((to, default), list) in parameters.iter_mut().zip(row.defaults).zip(&mut lists) {
            *to = default.map_or(0.0, |default| list.next().map_or(default, f64::from));
        }
        Ok(Activation { row, parameters })
    };
    let all = names.iter().map(activation).collect::<Result<Vec<_>, ActivationError>>()?;
    Ok(all.iter().copied().cycle().take(wanted).collect())
}

impl Activation {
    /// The value of the function.
    pub(in crate::onnx) fn apply(&self, x: f64) -> f64 {
        (self.row.function)(x, self.parameters[0], self.parameters[1])
    }
}
