//! Normalizations, and factors and terms for each channel.

use super::{LayerLine, LayerRuleRow};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[
    (&["BatchNorm"], batch),
    (&["Scale"], scale),
    (&["Bias"], bias),
    (&["LayerNorm"], |line| of_last(line, "F.layer_norm")),
    (&["RMSNorm"], |line| of_last(line, "F.rms_norm")),
    (&["GroupNorm"], group),
    (&["InstanceNorm"], instance),
    (&["LRN"], local_response),
];

/// The parameter for the number that is added to variances.
fn epsilon(line: &LayerLine) -> Lowered<(&'static str, String)> {
    Ok(("eps", format!("{:?}", line.scalar("eps")?)))
}

/// Requires as many channels, the first axis, as a parameter says.
fn channels(line: &LayerLine, name: &str, x: TensorId) -> Lowered<()> {
    match line.to.extents(x)?.first() == Some(&line.integer(name)?) {
        true => Ok(()),
        false => Err(Refusal::UNFIT),
    }
}

fn batch(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, epsilon) = (line.only()?, epsilon(line)?);
    channels(line, "channels", x)?;
    let x = line.batch(x)?;
    let operands = [
        ("input", x),
        ("running_mean", line.weight("mean_data")?),
        ("running_var", line.weight("var_data")?),
        ("weight", line.weight("slope_data")?),
        ("bias", line.weight("bias_data")?),
    ];
    let y = torch(&mut line.to, "F.batch_norm", &operands, &[epsilon])?;
    Ok(vec![line.unbatch(y)?])
}

/// Factors that are weights, or the second operand, and terms. In NNEF, a vector belongs to the first axis.
fn scale(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (size, terms) = (line.integer("scale_data_size")?, line.flag("bias_term")?);
    let (x, factors) = match (line.weight_if("scale_data"), &line.operands[..]) {
        (Some(factors), [x]) => (*x, factors),
        (None, [x, factors]) if !terms => (*x, *factors),
        _ => return Err(Refusal::UNFIT),
    };
    let extents = line.to.extents(factors)?;
    if line.to.extents(x)?.first() != extents.first() || extents.len() != 1 {
        return Err(line.unsupported("scale_data_size", &format!("the number of channels, not {size}")));
    }
    let mut y = line.to.on("mul", x, [Value::Tensor(factors)])?;
    if let Some(terms) = line.weight_if("bias_data") {
        y = line.to.on("add", y, [Value::Tensor(terms)])?;
    }
    Ok(vec![y])
}

fn bias(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let (x, terms) = (line.only()?, line.weight("bias_data")?);
    // Vectors and matrices have one channel.
    if line.to.extents(x)?.len() < 3 {
        return Err(Refusal::UNFIT);
    }
    channels(line, "bias_data_size", x)?;
    Ok(vec![line.to.on("add", x, [Value::Tensor(terms)])?])
}

/// Normalizes the last axes that have as many items as the weights.
fn of_last(line: &mut LayerLine, kind: &str) -> Lowered<Vec<TensorId>> {
    let (x, size, epsilon) = (line.only()?, line.integer("affine_size")?, epsilon(line)?);
    line.note("affine");
    let extents = line.to.extents(x)?;
    let first = (0..extents.len()).rev().find(|at| {
        let last = extents.get(*at..).unwrap_or_default();
        last.iter().try_fold(1i64, |all, extent| all.checked_mul(*extent)) == Some(size)
    });
    // The channels are never normalized with the planes.
    let first = first.filter(|at| *at > 0 || extents.len() == 1).ok_or(Refusal::UNFIT)?;
    let shape = extents.get(first..).ok_or(Refusal::UNFIT)?;
    let mut operands = vec![("input", x)];
    for (key, name) in [("weight", "gamma_data"), ("bias", "beta_data")] {
        if let Some(weights) = line.weight_if(name) {
            operands.push((key, line.to.reshaped(weights, shape)?));
        }
    }
    let shape: Vec<String> = shape.iter().map(i64::to_string).collect();
    let parameters = [("normalized_shape", format!("({})", shape.join(","))), epsilon];
    Ok(vec![torch(&mut line.to, kind, &operands, &parameters)?])
}

fn group(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let groups = line.integer("group")?;
    grouped(line, "F.group_norm", Some(("num_groups", groups.to_string())))
}

fn instance(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    grouped(line, "F.instance_norm", None)
}

fn grouped(line: &mut LayerLine, kind: &str, groups: Option<(&'static str, String)>) -> Lowered<Vec<TensorId>> {
    let (x, epsilon) = (line.only()?, epsilon(line)?);
    line.note("affine");
    channels(line, "channels", x)?;
    let mut operands = vec![("input", line.batch(x)?)];
    for (key, name) in [("weight", "gamma_data"), ("bias", "beta_data")] {
        operands.extend(line.weight_if(name).map(|weights| (key, weights)));
    }
    let parameters: Vec<_> = groups.into_iter().chain([epsilon]).collect();
    let y = torch(&mut line.to, kind, &operands, &parameters)?;
    Ok(vec![line.unbatch(y)?])
}

/// Only across channels, of which an odd number is counted.
fn local_response(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    line.is("region_type", 0)?;
    let size = line.integer("local_size")?;
    line.require("local_size", size > 0 && size % 2 == 1, "an odd number")?;
    let number = |name: &str| Ok(format!("{:?}", line.scalar(name)?));
    let parameters =
        [("size", size.to_string()), ("alpha", number("alpha")?), ("beta", number("beta")?), ("k", number("bias")?)];
    let x = line.only()?;
    let x = line.batch(x)?;
    let y = torch(&mut line.to, "F.local_response_norm", &[("input", x)], &parameters)?;
    Ok(vec![line.unbatch(y)?])
}
