//! The activations of recurrent layers.

use super::elementwise::softplus;
use crate::dictionary::sigmoid;
use crate::eval::EvalError;
use crate::onnx::run::call::NodeCall;

/// A function with up to two parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activation {
    function: fn(f64, f64, f64) -> f64,
    alpha: f64,
    beta: f64,
}

/// A row of the table: name, function of a number and two parameters, and their defaults.
struct ActivationRow {
    name: &'static str,
    function: fn(f64, f64, f64) -> f64,
    /// None if the function has no such parameter.
    defaults: [Option<f64>; 2],
}

const fn row(name: &'static str, function: fn(f64, f64, f64) -> f64, defaults: [Option<f64>; 2]) -> ActivationRow {
    ActivationRow { name, function, defaults }
}

const ACTIVATIONS: &[ActivationRow] = &[
    row("Relu", |x, _, _| x.max(0.0), [None, None]),
    row("Tanh", |x, _, _| x.tanh(), [None, None]),
    row("Sigmoid", |x, _, _| sigmoid(x), [None, None]),
    row("Affine", |x, a, b| a * x + b, [Some(1.0), Some(0.0)]),
    row("LeakyRelu", |x, a, _| if x >= 0.0 { x } else { a * x }, [Some(0.01), None]),
    row("ThresholdedRelu", |x, a, _| if x >= a { x } else { 0.0 }, [Some(1.0), None]),
    row("ScaledTanh", |x, a, b| a * (b * x).tanh(), [Some(1.0), Some(1.0)]),
    row("HardSigmoid", |x, a, b| (a * x + b).clamp(0.0, 1.0), [Some(0.2), Some(0.5)]),
    row("Elu", |x, a, _| if x >= 0.0 { x } else { a * x.exp_m1() }, [Some(1.0), None]),
    row("Softsign", |x, _, _| x / (1.0 + x.abs()), [None, None]),
    row("Softplus", |x, _, _| softplus(x), [None, None]),
];

impl Activation {
    /// The activations of a layer, those of one direction after another. Parameters are listed for the functions that
    /// have them.
    ///
    /// # Errors
    ///
    /// A function is not known, or there are too few.
    pub(super) fn all(call: &NodeCall, defaults: &[&str], directions: usize) -> Result<Vec<Self>, EvalError> {
        let names = call.texts("activations")?.filter(|names| !names.is_empty());
        let names = names.unwrap_or_else(|| defaults.iter().map(|name| (*name).to_owned()).collect());
        let wanted = defaults.len() * directions;
        if names.len() != wanted && names.len() != defaults.len() {
            return Err(call.refused(format!("there are {} activations instead of {wanted}", names.len())));
        }
        let list = |name: &str| Ok::<_, EvalError>(call.float_list(name)?.unwrap_or_default().into_iter());
        let (mut alphas, mut betas) = (list("activation_alpha")?, list("activation_beta")?);
        let find = |name: &String| {
            let found = ACTIVATIONS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| call.refused(format!("the activation '{name}' is not known")))
        };
        let activation = |name: &String| {
            let ActivationRow { function, defaults: [alpha, beta], .. } = find(name)?;
            let next = |default: &Option<f64>, list: &mut std::vec::IntoIter<f32>| {
                default.map_or(0.0, |default| list.next().map_or(default, f64::from))
            };
            Ok(Activation { function: *function, alpha: next(alpha, &mut alphas), beta: next(beta, &mut betas) })
        };
        let found = names.iter().map(activation).collect::<Result<Vec<_>, EvalError>>()?;
        Ok(found.iter().copied().cycle().take(wanted).collect())
    }

    /// The value of the function.
    pub(super) fn apply(&self, x: f64) -> f64 {
        (self.function)(x, self.alpha, self.beta)
    }
}

/// A number within a bound and its negative, if there is one.
pub(super) fn clipped(x: f64, bound: Option<f64>) -> f64 {
    bound.map_or(x, |bound| x.max(-bound).min(bound))
}
