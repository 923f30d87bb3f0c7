//! The activations that recurrent layers name, as nodes.

use crate::onnx::standard::call::{Build, NotKnown};

/// How a node of an activation uses its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActivationForm {
    /// An operator without parameters.
    Plain,
    /// An operator with the attributes `alpha` and, if there is a second parameter, `beta`.
    Attributes,
    /// `alpha * x + beta`
    Affine,
    /// `alpha * Tanh(beta * x)`
    ScaledTanh,
}

/// A row of the table: the name, the form, and the defaults of its parameters; none for one that it does not have.
#[derive(Clone, Copy, Debug)]
struct ActivationRow {
    name: &'static str,
    form: ActivationForm,
    defaults: [Option<f32>; 2],
}

const fn row(name: &'static str, form: ActivationForm, defaults: [Option<f32>; 2]) -> ActivationRow {
    ActivationRow { name, form, defaults }
}

const ACTIVATIONS: &[ActivationRow] = &[
    row("Affine", ActivationForm::Affine, [Some(1.0), Some(0.0)]),
    row("Elu", ActivationForm::Attributes, [Some(1.0), None]),
    row("HardSigmoid", ActivationForm::Attributes, [Some(0.2), Some(0.5)]),
    row("LeakyRelu", ActivationForm::Attributes, [Some(0.01), None]),
    row("Relu", ActivationForm::Plain, [None, None]),
    row("ScaledTanh", ActivationForm::ScaledTanh, [Some(1.0), Some(1.0)]),
    row("Sigmoid", ActivationForm::Plain, [None, None]),
    row("Softplus", ActivationForm::Plain, [None, None]),
    row("Softsign", ActivationForm::Plain, [None, None]),
    TANH,
    row("ThresholdedRelu", ActivationForm::Attributes, [Some(1.0), None]),
];

/// The first version with the operator `ThresholdedRelu`.
const THRESHOLDED: i64 = 10;

const TANH: ActivationRow = row("Tanh", ActivationForm::Plain, [None, None]);

/// An activation with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activation {
    row: ActivationRow,
    parameters: [f32; 2],
}

impl Activation {
    /// The hyperbolic tangent.
    pub(super) const TANH: Activation = Activation { row: TANH, parameters: [0.0, 0.0] };

    /// The activations of all directions. Parameters are listed for the functions that have them. `defaults` are those of
    /// a direction, and `version` is that of the operator set.
    pub(super) fn all(
        names: Option<Vec<String>>,
        parameters: [Option<Vec<f32>>; 2],
        (defaults, directions): (&[&str], i64),
        version: i64,
    ) -> Build<Vec<Activation>> {
        let own = || defaults.iter().map(|name| (*name).to_owned()).collect();
        let names: Vec<String> = names.filter(|names| !names.is_empty()).unwrap_or_else(own);
        let wanted = defaults.len() * directions as usize;
        if names.len() != wanted && names.len() != defaults.len() {
            return Err(NotKnown);
        }
        let mut lists = parameters.map(|list| list.unwrap_or_default().into_iter());
        let find = |name: &String| {
            let row = ACTIVATIONS.iter().find(|row| row.name.eq_ignore_ascii_case(name)).ok_or(NotKnown)?;
            if version < THRESHOLDED && row.name == "ThresholdedRelu" {
                return Err(NotKnown);
            }
            let mut parameters = [0.0, 0.0];
            for ((to, default), list) in parameters.iter_mut().zip(row.defaults).zip(&mut lists) {
                *to = default.map_or(0.0, |default| list.next().unwrap_or(default));
            }
            Ok(Activation { row: *row, parameters })
        };
        let found = names.iter().map(find).collect::<Build<Vec<_>>>()?;
        Ok(found.iter().copied().cycle().take(wanted).collect())
    }

    /// Writes the nodes that compute a value.
    pub(super) fn write(&self, x: &str, result: &str, line: &mut dyn FnMut(String)) {
        let (name, [alpha, beta]) = (self.row.name, self.parameters);
        match (self.row.form, self.row.defaults[1]) {
            (ActivationForm::Plain, _) => line(format!("{result} = {name} ({x})")),
            (ActivationForm::Attributes, None) => line(format!("{result} = {name} <alpha: float = {alpha:e}> ({x})")),
            (ActivationForm::Attributes, Some(_)) => {
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
}
