//! Hashes of spelled names that can be computed from the hash of a prefix.
//!
//! The bytes are the digits of a number, and the hash is that number modulo a prime. So the hash of a path is
//! computed from those of its prefix and its last segment in a few steps, regardless of their lengths.

/// The hash of a spelled name.
pub(crate) type Hash = u64;

/// 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;
/// The base of the number whose digits are the bytes.
const BASE: u64 = 0x0a3b_1c5d_7e9f_2461 % PRIME;
/// Decimal numbers are hashed three digits at a time.
const STEP: u32 = 1000;

/// `a * b + c`, modulo the prime.
const fn multiply_add(a: u64, b: u64, c: u64) -> u64 {
    reduced(a as u128 * b as u128 + c as u128)
}

/// A number below 2^123, modulo the prime.
const fn reduced(number: u128) -> u64 {
    let folded = (number as u64 & PRIME) + (number >> 61) as u64;
    let folded = if folded >= PRIME { folded - PRIME } else { folded };
    if folded >= PRIME { folded - PRIME } else { folded }
}

/// The hash with another byte appended.
pub(crate) const fn push_byte(hash: Hash, byte: u8) -> Hash {
    multiply_add(hash, BASE, byte as u64 + 1)
}

/// The base to the power of two, three and four.
const SQUARE: u64 = multiply_add(BASE, BASE, 0);
const CUBE: u64 = multiply_add(SQUARE, BASE, 0);
const FOURTH: u64 = multiply_add(CUBE, BASE, 0);

/// The hash of a text.
pub(crate) fn hash_of(text: &str) -> Hash {
    // Four bytes at a time: their products do not depend on each other.
    let (fours, rest) = text.as_bytes().as_chunks();
    let hash = fours.iter().fold(0, |hash, &[a, b, c, d]| {
        let digit = |byte: u8, power: u64| (u128::from(byte) + 1) * u128::from(power);
        reduced(
            u128::from(hash) * u128::from(FOURTH) + digit(a, CUBE) + digit(b, SQUARE) + digit(c, BASE) + digit(d, 1),
        )
    });
    rest.iter().fold(hash, |hash, byte| push_byte(hash, *byte))
}

/// The base to the power of a length.
fn power_of(length: usize) -> u64 {
    let fours = (0..length / 4).fold(1, |power, _| multiply_add(power, FOURTH, 0));
    (0..length % 4).fold(fours, |power, _| multiply_add(power, BASE, 0))
}

/// The hashes of `000` to `999`.
static TRIPLES: [Hash; STEP as usize] = {
    let mut triples = [0; STEP as usize];
    let mut i = 0;
    while i < triples.len() {
        let first = push_byte(0, b'0' + (i / 100) as u8);
        triples[i] = push_byte(push_byte(first, b'0' + (i / 10 % 10) as u8), b'0' + (i % 10) as u8);
        i += 1;
    }
    triples
};

/// The hash of a name with a number appended.
pub(crate) fn push_number(hash: Hash, number: u32) -> Hash {
    if number >= STEP {
        return multiply_add(push_number(hash, number / STEP), CUBE, TRIPLES[(number % STEP) as usize]);
    }
    let digit = |hash, digit: u32| push_byte(hash, b'0' + digit as u8);
    let hash = if number >= 100 { digit(hash, number / 100) } else { hash };
    let hash = if number >= 10 { digit(hash, number / 10 % 10) } else { hash };
    digit(hash, number % 10)
}

/// A text that can be appended to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HashedText {
    /// Its hash.
    pub(crate) hash: Hash,
    /// The base to the power of its length. Never 0.
    pub(crate) power: u64,
}

impl HashedText {
    /// The empty text.
    pub(crate) const EMPTY: HashedText = HashedText { hash: 0, power: 1 };

    /// The part with a text appended.
    pub(crate) fn then(self, text: &str) -> HashedText {
        let power = power_of(text.len());
        HashedText { hash: multiply_add(self.hash, power, hash_of(text)), power: multiply_add(self.power, power, 0) }
    }

    /// The hash of a name that ends with this part.
    #[inline]
    pub(crate) fn after(self, prefix: Hash) -> Hash {
        multiply_add(prefix, self.power, self.hash)
    }
}
