//! How answers differ.

use super::draw::{is_float, limits};
use super::engines::InferredOutput;
use nnef_flatten::tensor::{DType, Data, Tensor};

/// What may be between floats of a type, relative to the larger of their magnitude and 1: as `--verify` allows it.
fn tolerance(of: DType) -> f64 {
    match of.name() {
        "float64" => 1e-9,
        "float16" => 2e-3,
        _ => 1e-5,
    }
}

/// Integers of any length, floats of any length, or logicals.
fn kind(of: DType) -> u8 {
    match of {
        DType::Bool => 0,
        of if is_float(of) => 1,
        _ => 2,
    }
}

/// How two numbers differ, if they do.
fn item_apart(found: f64, wanted: f64, allowed: f64) -> Option<String> {
    if found == 0.0 && wanted == 0.0 && found.is_sign_negative() != wanted.is_sign_negative() {
        return Some("sign of zero".to_owned());
    }
    let finite = found.is_finite() && wanted.is_finite();
    let near = finite && (found - wanted).abs() <= allowed * wanted.abs().max(1.0);
    let same = found == wanted || found.is_nan() && wanted.is_nan() || near;
    (!same).then(|| format!("{found}, not {wanted}"))
}

/// The items of a tensor of integers or logicals.
fn whole(x: &Tensor) -> Vec<i128> {
    match x.data() {
        Data::Int64(items) => items.iter().map(|item| i128::from(*item)).collect(),
        Data::Uint64(items) => items.iter().map(|item| i128::from(*item)).collect(),
        _ => x.to_scalars().iter().map(|item| *item as i128).collect(),
    }
}

/// How two tensors of integers differ, if they do. Those of NNEF have no width: they are equal modulo the range of the other.
fn whole_apart(found: &Tensor, wanted: &Tensor) -> Option<String> {
    let (least, most) = limits(wanted.dtype());
    let (items, found) = (whole(wanted), whole(found));
    let apart = found.iter().zip(&items).map(|(found, wanted)| (found - wanted).rem_euclid(most - least + 1));
    let apart: Vec<i128> = apart.map(|apart| apart.min(most - least + 1 - apart)).collect();
    match apart.iter().max() {
        None | Some(0) => None,
        Some(1) if most > 1 => Some("by 1".to_owned()),
        _ => Some(format!("{found:?}, not {items:?}")),
    }
}

/// How two tensors differ, if they do. With `wide`, only their numbers count, and not the widths of their types.
pub fn apart(found: &Tensor, wanted: &Tensor, wide: bool) -> Option<String> {
    if found.shape() != wanted.shape() {
        return Some(format!("shape {:?}, not {:?}", found.shape(), wanted.shape()));
    }
    let (of, to) = (found.dtype(), wanted.dtype());
    if if wide { kind(of) != kind(to) } else { of != to } {
        return Some(format!("type {}, not {}", of.name(), to.name()));
    }
    if let Data::Text(_) = wanted.data() {
        return (found.data() != wanted.data()).then(|| format!("{:?}, not {:?}", found.data(), wanted.data()));
    }
    if !is_float(to) {
        return whole_apart(found, wanted);
    }
    let allowed = tolerance(of).max(tolerance(to));
    let narrowed = |item: f64| match to {
        DType::Narrow(narrow) if wide => f64::from(narrow.round(item)),
        DType::Float32 if wide => f64::from(item as f32),
        _ => item,
    };
    let (found, wanted) = (found.to_scalars(), wanted.to_scalars());
    found.iter().zip(&wanted).find_map(|(found, wanted)| item_apart(narrowed(*found), *wanted, allowed))
}

/// How an inferred type or shape differs from that of a tensor. An extent may be open. In NNEF types have no widths.
pub fn misfit(inferred: &InferredOutput, wanted: &Tensor, typed: bool) -> Option<String> {
    if let Some(of) = inferred.of.filter(|of| typed && *of != wanted.dtype().name()) {
        return Some(format!("inferred type {of}, not {}", wanted.dtype().name()));
    }
    let shape = inferred.shape.as_ref()?;
    let fits = |(found, wanted): (&Option<usize>, &usize)| found.is_none_or(|found| found == *wanted);
    let fits = shape.len() == wanted.shape().len() && shape.iter().zip(wanted.shape()).all(fits);
    (!fits).then(|| format!("inferred {shape:?}, not {:?}", wanted.shape()))
}
