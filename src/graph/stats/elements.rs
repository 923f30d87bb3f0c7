//! The sizes of element types, by their names in ONNX, PNNX and tract: `float16`, `f16`, `bool`.

use super::amount::Amount;

/// Types whose names do not say how many bits they have.
const NAMED: &[(&str, u64)] = &[("float", 32), ("double", 64), ("bool", 8), ("tdim", 64)];

/// The number of bits of an element type; none for strings and unknown types.
fn bits(name: &str) -> Option<u64> {
    if let Some((_, bits)) = NAMED.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)) {
        return Some(*bits);
    }
    // The first number in the name: `float8e4m3fn` has 8 bits.
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok().filter(|bits| (1..=128).contains(bits))
}

/// The number of bytes of so many items of a type. Items of less than a byte are packed.
pub(crate) fn bytes_of(name: &str, items: u64) -> Option<u64> {
    let bits = u128::from(items).saturating_mul(u128::from(bits(name)?));
    Some(u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX))
}

/// [`bytes_of`] a number of items that may depend on symbols, of which each takes whole bytes.
pub(super) fn amount_of_bytes(name: &str, items: &Amount) -> Option<Amount> {
    match items.known() {
        Some(items) => bytes_of(name, items).map(Amount::from),
        None => {
            let bits = bits(name)?;
            Some(if bits % 8 == 0 { items.times(&Amount::from(bits / 8)) } else { Amount::unknown() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_many_bits_there_are() {
        let bytes = |name: &str| bytes_of(name, 3);
        assert_eq!(["float", "double", "bool", "TDim"].map(bytes), [12, 24, 3, 24].map(Some));
        assert_eq!(["float16", "bf16", "int64", "u8", "c64"].map(bytes), [6, 6, 24, 3, 24].map(Some));
        assert_eq!(["uint4", "float8e4m3fn", "int2"].map(bytes), [2, 3, 1].map(Some));
        assert_eq!(["string", "undefined", "", "f0", "x999"].map(bytes), [None; 5]);
        assert_eq!(bytes_of("double", u64::MAX), Some(u64::MAX));
    }
}
