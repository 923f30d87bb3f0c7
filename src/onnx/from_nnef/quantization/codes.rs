//! Codes as bytes of constant tensors.

use super::algorithm::{CodeType, Linear, SIGNED};
use super::parameter::ChannelNumbers;
use crate::onnx::from_nnef::sources::{BlockWeight, Weight};
use crate::onnx::from_nnef::value::ItemType;

/// The codes of data that are rounded to their values; none if an item is not such a value.
pub(super) fn of(linear: &Linear, of: CodeType, weight: &Weight) -> Option<Vec<u8>> {
    let items = weight.bytes.chunks_exact(size_of::<f32>()).filter_map(|item| item.try_into().ok());
    let code = |(at, item): (usize, [u8; 4])| {
        let number = |of: &ChannelNumbers| number_at(of, &weight.dims, at);
        let (scale, zero) = (number(&linear.scale)?, number(&linear.zero)?);
        let offset = linear.offset.as_ref().map_or(Some(0.0), number)?;
        let value = f64::from(f32::from_le_bytes(item));
        let code = ((value - offset) / scale).round() + zero;
        let again = (code - zero) * scale + offset;
        let is_value = (linear.lowest..=linear.highest).contains(&code) && (again - value).abs() <= scale * 0.01;
        is_value.then_some(code as i64)
    };
    let mut is_whole = true;
    let codes = items.enumerate().map_while(|item| {
        let found = code(item);
        is_whole &= found.is_some();
        found
    });
    let bytes = packed(of.bits, codes);
    is_whole.then_some(bytes)
}

/// The codes of blocks, with the number of their type.
pub(super) fn of_blocks(of: &BlockWeight) -> (ItemType, Vec<u8>) {
    let number = SIGNED.iter().find(|(bits, _)| *bits == of.bits).map_or(0, |(_, number)| *number);
    (number, packed(of.bits, of.codes.iter().map(|code| i64::from(*code))))
}

/// The number of a parameter for the item at a position of a tensor.
fn number_at(of: &ChannelNumbers, dims: &[i64], at: usize) -> Option<f64> {
    if let Some(number) = of.only() {
        return Some(number);
    }
    let axis = of.axis().ok()??;
    let extent = |extent: &i64| usize::try_from(*extent).ok();
    let inner = dims.get(axis.checked_add(1)?..)?.iter().try_fold(1_usize, |all, dim| all.checked_mul(extent(dim)?))?;
    let place = at.checked_div(inner)?.checked_rem(extent(dims.get(axis)?)?)?;
    of.items.get(place).copied()
}

/// Codes as bytes; of two codes of four bits, the first one has the lower bits of a byte.
pub(super) fn packed(bits: u32, mut codes: impl Iterator<Item = i64>) -> Vec<u8> {
    match bits {
        4 => std::iter::from_fn(|| {
            let first = codes.next()? as u8 & 0xF;
            Some(first | (codes.next().unwrap_or(0) as u8) << 4)
        })
        .collect(),
        8 => codes.map(|code| code as u8).collect(),
        _ => codes.flat_map(|code| (code as u16).to_le_bytes()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_packed() {
        let codes = [-8_i64, 7, 1];
        assert_eq!(packed(4, codes.into_iter()), [0x78, 0x01]);
        assert_eq!(packed(8, codes.into_iter()), [0xF8, 7, 1]);
        assert_eq!(packed(16, codes.into_iter()), [0xF8, 0xFF, 7, 0, 1, 0]);
    }

    #[test]
    fn numbers_belong_to_channels() {
        let of = ChannelNumbers { dims: vec![1, 2], items: vec![5.0, 6.0] };
        let found: Vec<_> = (0..8).map(|at| number_at(&of, &[2, 2, 2], at)).collect();
        assert_eq!(found, [5.0, 5.0, 6.0, 6.0, 5.0, 5.0, 6.0, 6.0].map(Some));
    }
}
