//! The activations that recurrent layers name, as nodes.

use crate::onnx::run::activation::{Activation, ActivationForm};

/// The first version with the operator `ThresholdedRelu`.
const THRESHOLDED: i64 = 10;

/// Whether a version of the operator set has the operator of an activation.
pub(super) fn exists(activation: &Activation, version: i64) -> bool {
    version >= THRESHOLDED || activation.row.name != "ThresholdedRelu"
}

/// Writes the nodes that compute the value of an activation.
pub(super) fn write(of: &Activation, x: &str, result: &str, line: &mut dyn FnMut(String)) {
    let (name, [alpha, beta]) = (of.row.name, of.parameters.map(|parameter| parameter as f32));
    match (of.row.form, of.row.defaults) {
        (ActivationForm::Operator, [None, _]) => line(format!("{result} = {name} ({x})")),
        (ActivationForm::Operator, [Some(_), None]) => {
            line(format!("{result} = {name} <alpha: float = {alpha:e}> ({x})"));
        }
        (ActivationForm::Operator, [Some(_), Some(_)]) => {
            line(format!("{result} = {name} <alpha: float = {alpha:e}, beta: float = {beta:e}> ({x})"));
        }
        (ActivationForm::Affine, _) => {
            line(format!("{result}_alpha = const $T ({alpha:e})"));
            line(format!("{result}_beta = const $T ({beta:e})"));
            line(format!("{result}_scaled = Mul ({x}, {result}_alpha)"));
            line(format!("{result} = Add ({result}_scaled, {result}_beta)"));
        }
        (ActivationForm::ScaledTanh, _) => {
            line(format!("{result}_alpha = const $T ({alpha:e})"));
            line(format!("{result}_beta = const $T ({beta:e})"));
            line(format!("{result}_scaled = Mul ({x}, {result}_beta)"));
            line(format!("{result}_tanh = Tanh ({result}_scaled)"));
            line(format!("{result} = Mul ({result}_tanh, {result}_alpha)"));
        }
    }
}
