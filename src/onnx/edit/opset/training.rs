//! Operators that also train.

use super::step::{OpsetStep, Stepped};
use crate::graph::Element;
use crate::onnx::model::AttributeValue;

fn outside(step: &mut OpsetStep) -> Stepped {
    match step.take_int("is_test", 0)? {
        0 => Err("it trains, as `is_test` says".to_owned()),
        _ => Ok(()),
    }
}

fn one_result(step: &OpsetStep) -> Stepped {
    match (1..step.node.outputs.len()).any(|at| step.has_result(at)) {
        true => Err("results are used that it has only in training".to_owned()),
        false => Ok(()),
    }
}

/// Normalization said by an attribute that it did not train, then by the number of its results, then by another attribute.
pub(super) fn normalization_up(step: &mut OpsetStep) -> Stepped {
    outside(step)?;
    one_result(step)
}

pub(super) fn normalization_down(step: &mut OpsetStep) -> Stepped {
    one_result(step)?;
    step.put("is_test", AttributeValue::Int(1));
    Ok(())
}

pub(super) fn normalization_without_training(step: &mut OpsetStep) -> Stepped {
    one_result(step)?;
    step.node.outputs.truncate(1);
    Ok(())
}

/// Means and variances of each item, which an attribute said
pub(super) fn normalization_of_channels(step: &mut OpsetStep) -> Stepped {
    match step.take_int("spatial", 1)? {
        0 => Err("means are those of items and not of channels, as `spatial` says".to_owned()),
        _ => Ok(()),
    }
}

pub(super) fn dropout_up(step: &mut OpsetStep) -> Stepped {
    outside(step)?;
    one_result(step)
}

pub(super) fn dropout_down(step: &mut OpsetStep) -> Stepped {
    one_result(step)?;
    step.put("is_test", AttributeValue::Int(1));
    Ok(())
}

fn without_mask(step: &OpsetStep) -> Stepped {
    if step.has_result(1) { Err("its mask is used, which was not said outside training".to_owned()) } else { Ok(()) }
}

/// The mask of `Dropout` was of floats.
pub(super) fn mask_up(step: &mut OpsetStep) -> Stepped {
    if step.has_result(1) {
        let element = step.element(0)?;
        step.then(1, "Cast", &[], vec![("to", AttributeValue::Int(element as i64))]);
    }
    Ok(())
}

pub(super) fn mask_down(step: &mut OpsetStep) -> Stepped {
    step.then(1, "Cast", &[], vec![("to", AttributeValue::Int(Element::Bool as i64))]);
    Ok(())
}

/// The ratio of `Dropout` as an operand, and back. Outside training nothing depends on it. Programs do not agree on what the
/// mask was outside training.
pub(super) fn ratio_up(step: &mut OpsetStep) -> Stepped {
    without_mask(step)?;
    if step.has("ratio") {
        let ratio = step.float("ratio", 0.5)?;
        step.take("ratio")?;
        let number = step.number(Element::Float32, ratio)?;
        step.give(1, number);
    }
    Ok(())
}

pub(super) fn ratio_down(step: &mut OpsetStep) -> Stepped {
    without_mask(step)?;
    step.take("seed")?;
    if step.operand(2).is_some() && step.integers(2)?.iter().any(|trains| *trains != 0) {
        return Err("it trains".to_owned());
    }
    step.omit(2);
    if step.operand(1).is_some() {
        let ratio = step.floats(1).ok().and_then(|ratio| ratio.first().copied());
        ratio.into_iter().for_each(|ratio| step.put("ratio", AttributeValue::Float(ratio)));
        step.omit(1);
    }
    Ok(())
}
