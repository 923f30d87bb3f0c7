//! The activations that recurrent layers name.

use crate::onnx::to_nnef::line::NodeLine;
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};

/// An activation: a formula of one operand.
pub(super) struct Activation {
    pub(super) formula: String,
}

/// The formulas by name, with the defaults of `%alpha` and `%beta` where they occur.
const FORMULAS: &[(&str, &str, Option<f64>, Option<f64>)] = &[
    ("affine", "add(mul(@0,%alpha),%beta)", Some(1.0), Some(0.0)),
    ("elu", "select(lt(@0,0.0),mul(%alpha,expm1(@0)),@0)", Some(1.0), None),
    ("hardsigmoid", "maximum(minimum(add(mul(@0,%alpha),%beta),1.0),0.0)", Some(0.2), Some(0.5)),
    ("leakyrelu", "select(lt(@0,0.0),mul(@0,%alpha),@0)", Some(0.01), None),
    ("relu", "rectify(@0)", None, None),
    ("scaledtanh", "mul(tanh(mul(@0,%beta)),%alpha)", Some(1.0), Some(1.0)),
    ("sigmoid", "sigmoid(@0)", None, None),
    ("softplus", "stable_softplus(@0)", None, None),
    ("softsign", "softsign(@0)", None, None),
    ("tanh", "tanh(@0)", None, None),
    ("thresholdedrelu", "select(gt(@0,%alpha),@0,0.0)", Some(1.0), None),
];

/// The activations of all directions. Each takes its parameters from lists that have those of all.
pub(super) fn activations(line: &NodeLine, defaults: &[&str], directions: i64) -> Lowered<Vec<Activation>> {
    let given = line.attributes.texts("activations")?.filter(|names| !names.is_empty());
    let names =
        given.unwrap_or_else(|| (0..directions).flat_map(|_| defaults.iter().map(|name| (*name).to_owned())).collect());
    let list = |name: &str| -> Lowered<std::vec::IntoIter<f32>> {
        Ok(line.attributes.floats(name)?.unwrap_or_default().into_iter())
    };
    let (mut alphas, mut betas) = (list("activation_alpha")?, list("activation_beta")?);
    let mut found = Vec::with_capacity(names.len());
    for name in &names {
        let lower = name.to_ascii_lowercase();
        let row = FORMULAS.iter().find(|row| row.0 == lower);
        let (_, text, alpha, beta) =
            row.ok_or_else(|| NodeRefusal::from(format!("its activation `{name}` is not known")))?;
        let mut formula = (*text).to_owned();
        for (word, default, values) in [("%alpha", alpha, &mut alphas), ("%beta", beta, &mut betas)] {
            if let Some(default) = default {
                let value = values.next().map_or(*default, f64::from);
                formula = formula.replace(word, &format!("{value:?}"));
            }
        }
        found.push(Activation { formula });
    }
    Ok(found)
}
