//! Operators whose results follow from attributes and the values of operands.

use super::arrange::negative;
use super::{Misfit, element_named, named, outside, rank, ranks, scalar, single};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::types::ElementType;

/// `ConstantOfShape`
pub(crate) fn constant_of_shape(call: &InferCall) -> Misfit {
    rank(call, 0, 1..=1).or_else(|| negative(call, 0, 0))
}

/// `EyeLike`
pub(crate) fn eye_like(call: &InferCall) -> Misfit {
    element_named(call).or_else(|| rank(call, 0, 2..=2))
}

/// `Multinomial`
pub(crate) fn multinomial(call: &InferCall) -> Misfit {
    let integers = || {
        let number = call.int("dtype")?;
        (number != 6 && number != 7).then(|| format!("`dtype` is {number}, not an integer of 32 or 64 bits"))
    };
    element_named(call).or_else(integers).or_else(|| rank(call, 0, 2..=2))
}

/// `Range`: numbers, which may be lists of one if they are not all constants.
pub(crate) fn range(call: &InferCall) -> Misfit {
    let stands = || (call.item(2) == Dim::Int(0)).then(|| "the step is 0".to_owned());
    let most = usize::from(!(0..3).all(|operand| call.is_constant(operand)));
    (0..3).find_map(|operand| single(call, operand).or_else(|| rank(call, operand, 0..=most))).or_else(stands)
}

/// `HannWindow` and others.
pub(crate) fn window(call: &InferCall) -> Misfit {
    let low = || call.item(0).known().filter(|size| *size < 1).map(|size| format!("the size is {size}"));
    element_named(call).or_else(|| single(call, 0)).or_else(low)
}

/// `MelWeightMatrix`
pub(crate) fn mel_weights(call: &InferCall) -> Misfit {
    element_named(call).or_else(|| (0..5).find_map(|operand| single(call, operand)))
}

/// `DFT`
pub(crate) fn dft(call: &InferCall) -> Misfit {
    let one_sided = call.int_or("onesided", 0) != 0;
    let inverse = call.int_or("inverse", 0) != 0;
    let parts = || {
        let last = call.extent(0, call.rank(0)?.checked_sub(1)?).known()?;
        let wanted = if inverse { last == 2 } else { last == 1 };
        let fits = if one_sided && (call.version() >= 20 || !inverse) { wanted } else { last == 1 || last == 2 };
        (!fits).then(|| format!("{} does not have the parts of its numbers", named(call, 0)))
    };
    let axis = || {
        let number = if call.version() < 20 { Some(call.int_or("axis", 1)) } else { call.item(2).known() };
        let (number, rank) = (number?, call.rank(0)?);
        // The last axis has the parts of numbers.
        let is_last = i64::try_from(rank).is_ok_and(|rank| number == rank - 1 || number == -1);
        outside(number, rank).or_else(|| is_last.then(|| format!("the axis {number} has the parts of numbers")))
    };
    let numbers = || [1, 2].into_iter().filter(|i| call.items(*i).is_some()).find_map(|i| scalar(call, i));
    rank(call, 0, 2..=usize::MAX).or_else(numbers).or_else(axis).or_else(parts)
}

/// `STFT`
pub(crate) fn stft(call: &InferCall) -> Misfit {
    let lengths = || {
        let (window, frame) = (call.extent(2, 0).known()?, call.item(3).known()?);
        (window != frame).then(|| format!("{} is not as long as a frame of {frame}", named(call, 2)))
    };
    rank(call, 0, 2..=3)
        .or_else(|| single(call, 1))
        .or_else(|| rank(call, 2, 1..=1))
        .or_else(|| single(call, 3))
        .or_else(lengths)
}

/// `ImageDecoder`
pub(crate) fn vector(call: &InferCall) -> Misfit {
    ranks(call, &[0], 1)
}

/// `BitCast`: both types have one width.
pub(crate) fn bit_cast(call: &InferCall) -> Misfit {
    let widths = || {
        let number = i32::try_from(call.int("to")?).ok()?;
        let (from, to) = (ElementType::numbered(call.element(0)? as i32)?, ElementType::numbered(number)?);
        // A truth value has a byte.
        let width = |of: &ElementType| if of.name == "bool" { 8 } else { of.bits };
        (width(from) != width(to)).then(|| format!("`{}` and `{}` do not have one width", from.name, to.name))
    };
    element_named(call).or_else(widths)
}

/// `StringNormalizer`: a list, or a table of one row.
pub(crate) fn string_normalizer(call: &InferCall) -> Misfit {
    let row = || {
        (call.rank(0)? == 2 && call.extent(0, 0).known()? != 1).then(|| format!("{} has several rows", named(call, 0)))
    };
    rank(call, 0, 1..=2).or_else(row)
}

/// `TfIdfVectorizer`
pub(crate) fn tf_idf(call: &InferCall) -> Misfit {
    rank(call, 0, 1..=2)
}
