//! Short texts, compared and copied without a branch for each length.
//!
//! Names have a few bytes, each of them another number. What goes by that number is guessed wrongly
//! by the processor again and again. So the first eight bytes of a text are compared as a number,
//! whatever stands behind the text left out; and more bytes are copied than there are, as many for
//! all, and the others taken away again.

use std::ops::Range;

/// How many bytes are compared as a number.
pub(crate) const HEAD: usize = 8;

/// How many bytes are copied at once.
const CHUNK: usize = 32;

/// What stands behind the last text of a table from which texts are copied, so that so many bytes
/// can be copied of all.
pub(crate) const BEHIND: &str = "                                ";
const _: () = assert!(BEHIND.len() == CHUNK);

/// Adds a part of a text to another one.
#[inline]
pub(crate) fn push(out: &mut String, text: &str, part: Range<usize>) {
    let end = out.len() + part.len();
    match text.get(part.start..part.start + CHUNK) {
        Some(chunk) if part.len() <= CHUNK => {
            out.push_str(chunk);
            out.truncate(end);
        }
        _ => out.push_str(text.get(part).unwrap_or_default()),
    }
}

/// The bits of so many bytes.
#[inline]
fn mask(len: usize) -> u64 {
    if len >= HEAD { u64::MAX } else { (1 << (8 * len)) - 1 }
}

/// The first bytes of a text, as a number. The bytes behind it are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(u64);

impl Head {
    /// Those of the text of so many bytes that starts here. What there is not is 0.
    #[inline]
    pub(crate) fn of(text: &[u8], start: usize, len: usize) -> Self {
        let rest = text.get(start..).unwrap_or_default();
        let bytes = rest.first_chunk().map_or_else(|| short(rest), |bytes| u64::from_le_bytes(*bytes));
        Head(bytes & mask(len))
    }

    /// Those of its first bytes only.
    #[inline]
    pub(crate) fn cut(self, len: usize) -> Self {
        Head(self.0 & mask(len))
    }

    /// Those of the same text with a byte 0 at a place.
    #[inline]
    pub(crate) fn without(self, at: usize) -> Self {
        Head(self.0 & !(0xff << (8 * at)))
    }

    /// The place of the last digit among them. What shares its upper half with digits counts as one.
    #[inline]
    pub(crate) fn last_digit(self) -> Option<usize> {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let upper = (self.0 & 0xf0f0_f0f0_f0f0_f0f0) ^ 0x3030_3030_3030_3030;
        // The highest bit of each byte that is 0.
        let digits = !(((upper & LOW) + LOW) | upper | LOW);
        if digits == 0 { None } else { Some((63 - digits.leading_zeros() as usize) / 8) }
    }

    /// A number that spreads what are different heads.
    #[inline]
    pub(crate) fn mixed(self) -> u64 {
        let product = u128::from(self.0 ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        product as u64 ^ (product >> 64) as u64
    }
}

/// The bytes of a text that has fewer than a head.
#[cold]
fn short(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |head, byte| head << 8 | u64::from(*byte))
}

/// The place of the last digit of a text, as [`Head::last_digit`] has it.
#[inline(never)]
pub(crate) fn last_digit(text: &[u8]) -> Option<usize> {
    let mut chunks = text.rchunks(HEAD).scan(text.len(), |end, chunk| {
        *end -= chunk.len();
        Some((*end, Head::of(chunk, 0, chunk.len())))
    });
    chunks.find_map(|(start, head)| head.last_digit().map(|at| start + at))
}

/// Whether the texts of so many bytes are equal that start at these places, given the head of the
/// second one. Both are there.
#[inline]
pub(crate) fn is_same((a, at): (&[u8], usize), (b, start): (&[u8], usize), head: Head, len: usize) -> bool {
    Head::of(a, at, len) == head && (len <= HEAD || a[at + HEAD..at + len] == b[start + HEAD..start + len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_the_first_bytes_of_a_text_wherever_it_stands() {
        let text = b"abcdefghijkl";
        for len in 0..=text.len() {
            for start in 0..=text.len() - len {
                let alone = Head::of(&text[start..start + len], 0, len);
                assert_eq!(Head::of(text, start, len), alone);
                let all = Head::of(&text[start..], 0, text.len());
                assert_eq!([all.cut(len), (len.min(HEAD)..HEAD).fold(all, Head::without)], [alone; 2]);
                let other = [b"-", &text[start..start + len], b"-"].concat();
                assert!(is_same((&other, 1), (text, start), alone, len));
                assert_eq!(is_same((&other, 0), (text, start), alone, len), len == 0);
            }
        }
        assert_eq!(Head::of(text, 40, 3), Head::of(b"", 0, 0));
    }

    #[test]
    fn the_last_digit_is_found() {
        for text in
            ["", "a", "7", "ab1", "a1b", "1ab", "abc12def", "a0b9é/:", "block12_conv_weight", "layer_1_conv_weight"]
        {
            let wanted = text.bytes().rposition(|byte| byte & 0xf0 == 0x30);
            assert_eq!(last_digit(text.as_bytes()), wanted, "{text}");
            if text.len() <= HEAD {
                assert_eq!(Head::of(text.as_bytes(), 0, text.len()).last_digit(), wanted, "{text}");
            }
        }
    }

    #[test]
    fn parts_are_copied_as_they_are() {
        let text: String = ('a'..='z').chain("éüx".chars()).chain('A'..='Z').collect();
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for &start in &ends {
            for &end in ends.iter().filter(|end| **end >= start) {
                let mut out = String::from("before ");
                push(&mut out, &text, start..end);
                assert_eq!(out, format!("before {}", &text[start..end]));
            }
        }
    }
}
