//! Hashes of names, and where names belong in a table.
//!
//! Names are compared by a hash of their spelling that can be continued from that of a prefix: the
//! value of the letters as digits of a number, modulo a prime. Should two names ever collide, one
//! of them gets a suffix that it would not have needed.

use smallvec::SmallVec;

use crate::source::names::{Name, Names};

/// The hash of a spelling.
pub type Spelling = u64;

/// 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;
/// The base in which letters are digits.
const BASE: u64 = 0x0a3b_1c5d_7e9f_2461 % PRIME;

/// `a * b + c`, modulo the prime.
const fn multiply_add(a: u64, b: u64, c: u64) -> u64 {
    let product = a as u128 * b as u128 + c as u128;
    let folded = (product as u64 & PRIME) + (product >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

pub(super) fn push_byte(hash: Spelling, byte: u8) -> Spelling {
    multiply_add(hash, BASE, u64::from(byte) + 1)
}

fn push_bytes(hash: Spelling, bytes: &[u8]) -> Spelling {
    bytes.iter().fold(hash, |hash, &byte| push_byte(hash, byte))
}

/// The base to the power of small numbers.
const POWERS: [u64; 64] = {
    let mut powers = [1; 64];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = multiply_add(powers[i - 1], BASE, 0);
        i += 1;
    }
    powers
};

/// The base to the power of a number.
fn power(number: usize) -> u64 {
    match POWERS.get(number) {
        Some(power) => *power,
        None => (0..number).fold(1, |power, _| multiply_add(power, BASE, 0)),
    }
}

/// How many numbers are remembered. A power of two.
const RECENT_NUMBERS: usize = 64;
/// How many segments are remembered. A power of two.
const RECENT_SEGMENTS: usize = 256;
/// Numbers below this are remembered with their segments.
const SMALL_NUMBERS: u32 = 10;

/// Numbers at the end of names, with the hashes of those that were met last. Numbers mostly count
/// up, so all digits but the last are those of an earlier number.
pub struct Numbers {
    recent: Box<[Digits; RECENT_NUMBERS]>,
}

/// The digits of a number, as if they were all there is. Zero has none.
#[derive(Clone, Copy)]
struct Digits {
    number: u32,
    hash: Spelling,
    /// The base to the power of how many they are.
    power: u64,
}

impl Digits {
    const NONE: Digits = Digits { number: 0, hash: 0, power: 1 };

    fn of(number: u32) -> Self {
        if number == 0 {
            return Digits::NONE;
        }
        let before = Digits::of(number / 10);
        let hash = push_byte(before.hash, b'0' + (number % 10) as u8);
        Digits { number, hash, power: multiply_add(before.power, BASE, 0) }
    }
}

impl Numbers {
    pub fn new() -> Self {
        Numbers { recent: Box::new([Digits::NONE; RECENT_NUMBERS]) }
    }

    /// The spelling of a name with a number behind it, which is not 0.
    #[inline]
    pub fn push(&mut self, hash: Spelling, number: u32) -> Spelling {
        let front = number / 10;
        let digits = &mut self.recent[front as usize % RECENT_NUMBERS];
        if digits.number != front {
            *digits = Digits::of(front);
        }
        push_byte(multiply_add(hash, digits.power, digits.hash), b'0' + (number % 10) as u8)
    }

    /// The spelling of a name with the rest of a text behind it, which [`split`] gives with the number.
    fn push_rest(&mut self, hash: Spelling, rest: &[u8], number: u32) -> Spelling {
        // Names are mostly numbered one after the other, and then no digits are left but the last.
        let is_plain = |digits: &[u8]| matches!(digits, [b'1'..=b'9', rest @ ..] if rest.len() < 9);
        match rest {
            [b'_', digits @ ..] if is_plain(digits) => self.push(push_byte(hash, b'_'), number),
            digits if is_plain(digits) => self.push(hash, number),
            _ => push_bytes(hash, rest),
        }
    }
}

/// A name as it is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelled {
    /// The hash of all of it.
    pub hash: Spelling,
    /// Where it belongs in a table. Names that differ in the number at their end, or of which one has
    /// `_` and a number behind it, mostly come together: these are neighbours.
    pub place: u32,
}

impl Spelled {
    /// A name, given what is left without the number at its end, and without `_` before that.
    #[inline]
    pub fn new(hash: Spelling, base: Spelling, number: u32) -> Self {
        let place = (base.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32;
        Spelled { hash, place: place.wrapping_add(number) }
    }
}

/// Some letters of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    hash: Spelling,
    /// The base to the power of how many they are.
    power: u64,
}

impl Part {
    const EMPTY: Part = Part { hash: 0, power: 1 };

    /// The hash of a name that ends with these.
    #[inline]
    fn after(self, front: Spelling) -> Spelling {
        multiply_add(front, self.power, self.hash)
    }
}

/// What is left of a name without the number at its end and without `_` before that, the rest, and
/// the number, or 0.
fn split(text: &[u8]) -> (&[u8], &[u8], u32) {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (front, digits) = text.split_at(text.len() - digits);
    let base = front.strip_suffix(b"_").unwrap_or(front);
    let number = digits.iter().fold(0u32, |all, digit| all.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
    (base, &text[base.len()..], number)
}

/// The end of a name: as a whole, and in two parts.
#[derive(Clone, Copy)]
struct End {
    whole: Part,
    base: Part,
    number: u32,
}

impl End {
    const EMPTY: End = End { whole: Part::EMPTY, base: Part::EMPTY, number: 0 };

    /// Some letters, and a text behind them that does not begin with a digit.
    fn of(front: &[u8], text: &[u8], numbers: &mut Numbers) -> Self {
        let (base, rest, number) = split(text);
        let hash = push_bytes(push_bytes(0, front), base);
        let part = |hash, len| Part { hash, power: power(front.len() + len) };
        End { whole: part(numbers.push_rest(hash, rest, number), text.len()), base: part(hash, base.len()), number }
    }

    /// A name that ends with this, and with a further number unless that is 0.
    #[inline]
    fn after(self, front: Spelling, number: u32, numbers: &mut Numbers) -> Spelled {
        let hash = self.whole.after(front);
        let base = if self.base == self.whole { hash } else { self.base.after(front) };
        if number == 0 {
            return Spelled::new(hash, base, self.number);
        }
        let shift = 10u32.wrapping_pow(number.ilog10() + 1);
        Spelled::new(numbers.push(hash, number), base, self.number.wrapping_mul(shift).wrapping_add(number))
    }
}

/// The segments of paths, with the hashes of those that were met last.
pub struct Segments<'n> {
    names: &'n Names,
    recent: Box<[Segment; RECENT_SEGMENTS]>,
    numbers: Numbers,
}

/// A segment, with `_` before it and a small number behind it, unless that is 0.
#[derive(Clone, Copy)]
struct Segment {
    name: Option<Name>,
    number: u32,
    end: End,
}

impl Segment {
    const NONE: Segment = Segment { name: None, number: 0, end: End::EMPTY };

    #[inline(never)]
    fn of(name: Name, number: u32, text: &str, numbers: &mut Numbers) -> Self {
        if number == 0 && text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Segment { name: Some(name), number, end: End::of(b"_", text.as_bytes(), numbers) };
        }
        let digit = (number > 0).then_some(b'0' + number as u8);
        let text: SmallVec<[u8; 64]> = [b'_'].into_iter().chain(text.bytes()).chain(digit).collect();
        Segment { name: Some(name), number, end: End::of(b"", &text, numbers) }
    }
}

impl<'n> Segments<'n> {
    pub fn new(names: &'n Names) -> Self {
        Segments { names, recent: Box::new([Segment::NONE; RECENT_SEGMENTS]), numbers: Numbers::new() }
    }

    /// The spelling of a segment, after that of its parent and with its ordinal.
    #[inline]
    pub fn spell(&mut self, parent: Option<Spelling>, name: Name, ordinal: u32) -> Spelled {
        let Some(parent) = parent else { return self.spell_first(name, ordinal) };
        let (small, large) = if ordinal < SMALL_NUMBERS { (ordinal, 0) } else { (0, ordinal) };
        let segment = &mut self.recent[(name.index() + 29 * small as usize) % RECENT_SEGMENTS];
        if segment.name != Some(name) || segment.number != small {
            *segment = Segment::of(name, small, self.names.text(name), &mut self.numbers);
        }
        segment.end.after(parent, large, &mut self.numbers)
    }

    /// The spelling of a name with a suffix, or of itself where that is 0.
    #[inline]
    pub fn spell_suffix(&mut self, name: Spelling, suffix: u32) -> Spelling {
        if suffix > 0 { self.numbers.push(push_byte(name, b'_'), suffix) } else { name }
    }

    /// The same for a segment that has no parent.
    #[inline(never)]
    fn spell_first(&mut self, name: Name, ordinal: u32) -> Spelled {
        let (base, rest, number) = split(self.names.text(name).as_bytes());
        let base = push_bytes(0, base);
        let hash = self.numbers.push_rest(base, rest, number);
        let part = |hash| Part { hash, power: 1 };
        End { whole: part(hash), base: part(base), number }.after(0, ordinal, &mut self.numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_do_not_depend_on_how_a_name_is_made_of_segments() {
        let mut names = Names::new();
        let h = names.intern("h");
        let long = "long_name".repeat(12);
        let segments =
            ["add", "r_t", "conv2", "_", "_1", "a_", "x_3", "", "a__7", "n0042", "n123456789", "n1234567890", &long];
        for (segment, ordinal) in
            segments.iter().flat_map(|segment| [0, 1, 9, 10, 11, 109, 110, u32::MAX, 7].map(|i| (*segment, i)))
        {
            let number = if ordinal == 0 { String::new() } else { ordinal.to_string() };
            let whole = names.intern(&format!("h_{segment}{number}_x"));
            let path = names.intern(&format!("h_{segment}{number}"));
            let (segment, x) = (names.intern(segment), names.intern("x"));
            let mut segments = Segments::new(&names);
            let root = segments.spell(None, h, 0);
            let call = segments.spell(Some(root.hash), segment, ordinal);
            assert_eq!(call, segments.spell(None, path, 0), "{}", names.text(path));
            let last = segments.spell(Some(call.hash), x, 0);
            assert_eq!(last, segments.spell(None, whole, 0), "{}", names.text(whole));
            assert_ne!(last.hash, call.hash);
        }
    }

    #[test]
    fn names_that_differ_in_the_last_number_are_neighbours() {
        let mut names = Names::new();
        let [x, x2, x3, y8, y9, y10] = ["x", "x_2", "x_3", "y_a8", "y_a9", "y_a10"].map(|text| names.intern(text));
        let mut segments = Segments::new(&names);
        let mut place = |name| segments.spell(None, name, 0).place;
        assert_eq!([place(x2), place(x3)], [place(x).wrapping_add(2), place(x).wrapping_add(3)]);
        assert_eq!([place(y9), place(y10)], [place(y8).wrapping_add(1), place(y8).wrapping_add(2)]);
    }
}
