//! Operations that change the resolution.

use std::rc::Rc;

use super::lists;
use super::padding::{Border, border};
use super::translated_call::{Refused, TranslatedCall, Translation};
use super::value::{Attributes, ModelValue, NnefElement, open, text};

/// The factors of all axes of an operand.
fn factors(call: &TranslatedCall, of: &ModelValue) -> Translation<Vec<i64>> {
    let factors: Vec<i64> = [1, 1].into_iter().chain(call.ints("factor")?).collect();
    if of.rank().is_some_and(|rank| rank != factors.len()) {
        return Err(Refused::meaning(format!("`{}` needs a factor for each axis after the second", call.name())));
    }
    if factors.iter().any(|factor| *factor < 1) {
        return Err(Refused::meaning(format!("`{}` has a factor below 1", call.name())));
    }
    Ok(factors)
}

fn resize(call: &mut TranslatedCall, value: &ModelValue, factors: &[i64], attributes: Attributes) -> ModelValue {
    let items: Vec<f64> = factors.iter().map(|factor| *factor as f64).collect();
    let scales = call.out.constant("scales", NnefElement::Float, &[items.len() as i64], &items);
    call.node("Resize", &[value, &ModelValue::ABSENT, &scales], attributes)
}

/// `nearest_upsample`
pub(super) fn nearest_upsample(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.scalars("input")?;
    let factors = factors(call, &value)?;
    let attributes = vec![
        ("coordinate_transformation_mode", text("asymmetric")),
        ("mode", text("nearest")),
        ("nearest_mode", text("floor")),
    ];
    Ok(vec![resize(call, &value, &factors, attributes)])
}

/// `nearest_downsample`: the items at multiples of the factor.
pub(super) fn nearest_downsample(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.scalars("input")?;
    let factors = factors(call, &value)?;
    let factors = lists::from(&factors, 2);
    let axes: Vec<i64> = (2..).take(factors.len()).collect();
    let starts = call.out.list("starts", &vec![0; axes.len()]);
    let ends = call.out.list("ends", &vec![i64::MAX; axes.len()]);
    let (axes, steps) = (call.out.list("axes", &axes), call.out.list("steps", factors));
    Ok(vec![call.node("Slice", &[&value, &starts, &ends, &axes, &steps], Vec::new())])
}

/// The most axes of all orders in which an operand is transposed.
const MOST_IN_ORDERS: usize = 1 << 18;

/// `multilinear_upsample`: `Resize` replicates the border; other borders become products with constant matrices along
/// one axis after the other.
pub(super) fn multilinear_upsample(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.scalars("input")?;
    let factors = factors(call, &value)?;
    let border = border(call, 0.0)?;
    let (mode, method) = match call.text("method")? {
        "symmetric" => ("half_pixel", PositionMapping::Symmetric),
        "asymmetric" => ("asymmetric", PositionMapping::Asymmetric),
        "aligned" => ("align_corners", PositionMapping::Aligned),
        other => return Err(Refused::meaning(format!("unknown interpolation method '{other}'"))),
    };
    // The border has no effect if no position is outside.
    let inside = method == PositionMapping::Aligned || border == Border::Replicate;
    if inside && (3..=5).contains(&factors.len()) {
        let attributes = vec![("coordinate_transformation_mode", text(mode)), ("mode", text("linear"))];
        return Ok(vec![resize(call, &value, &factors, attributes)]);
    }
    let extents = value.dims.clone().unwrap_or_else(|| open(factors.len()));
    let rank = factors.len();
    let count = factors.iter().filter(|factor| **factor != 1).count();
    if count.saturating_mul(rank) > MOST_IN_ORDERS {
        return Err(Refused::meaning(format!("`{}` along {count} of {rank} axes", call.name())));
    }
    let mut made = ModelValue { dims: Some(Rc::clone(&extents)), ..value };
    for (axis, factor) in factors.iter().enumerate().skip(2).filter(|(_, factor)| **factor != 1) {
        call.check_memory()?;
        let extent = lists::known_at(&extents, axis).ok_or_else(|| call.open_extents())?;
        let count = extent.saturating_mul(*factor);
        if extent < 1 || extent.saturating_mul(count) > 1 << 24 {
            return Err(Refused::meaning(format!("`{}` from {extent} to {count} items", call.name())));
        }
        let weights = method.weights(extent as usize, count as usize, border);
        let matrix = call.out.constant("weights", NnefElement::Float, &[extent, count], &weights);
        let mut order: Vec<usize> = (0..rank).collect();
        let last = rank.saturating_sub(1);
        order.swap(axis, last);
        let moved = call.out.transpose(&made, &order);
        let product = call.node("MatMul", &[&moved, &matrix], Vec::new());
        let dims = moved.dims.clone().unwrap_or_default();
        let dims = lists::before(&dims, last).iter().copied().chain([Some(count)]);
        made = call.out.transpose(&product.with(dims), &order);
    }
    Ok(vec![made])
}

/// The correspondence between positions of the result and of the operand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PositionMapping {
    Symmetric,
    Asymmetric,
    Aligned,
}

impl PositionMapping {
    fn position(self, at: f64, count: f64, extent: f64) -> f64 {
        match self {
            PositionMapping::Asymmetric => at * extent / count,
            PositionMapping::Symmetric => (at + 0.5) * extent / count - 0.5,
            PositionMapping::Aligned if count <= 1.0 => 0.0,
            PositionMapping::Aligned => at * (extent - 1.0) / (count - 1.0),
        }
    }

    /// The matrix by which the items along an axis are multiplied to interpolate them.
    fn weights(self, extent: usize, count: usize, border: Border) -> Vec<f64> {
        let mut weights = vec![0.0; extent.saturating_mul(count)];
        for at in 0..count {
            let position = self.position(at as f64, count as f64, extent as f64);
            let below = position.floor();
            for (place, weight) in [(below, 1.0 - (position - below)), (below + 1.0, position - below)] {
                let place = border.place(place as i64, extent).map(|place| place.saturating_mul(count));
                if let Some(item) = place.and_then(|row| weights.get_mut(row.saturating_add(at))) {
                    *item += weight;
                }
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_method_and_the_border() {
        let weights = |method: PositionMapping, border| method.weights(2, 4, border);
        assert_eq!(
            weights(PositionMapping::Symmetric, Border::Replicate),
            [1.0, 0.75, 0.25, 0.0, 0.0, 0.25, 0.75, 1.0]
        );
        assert_eq!(
            weights(PositionMapping::Symmetric, Border::Constant(0.0)),
            [0.75, 0.75, 0.25, 0.0, 0.0, 0.25, 0.75, 0.75]
        );
        assert_eq!(weights(PositionMapping::Asymmetric, Border::Reflect), [1.0, 0.5, 0.0, 0.5, 0.0, 0.5, 1.0, 0.5]);
    }
}
