//! Short texts, compared without a branch for each length.
//!
//! Names have a few bytes, each of them another number. What goes by that number is guessed wrongly
//! by the processor again and again. So the first eight bytes of a text are compared as a number,
//! whatever stands behind the text left out.

/// How many bytes are compared as a number.
pub(crate) const HEAD: usize = 8;

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
                assert_eq!(Head::of(&text[start..], 0, text.len()).cut(len), alone);
                let other = [b"-", &text[start..start + len], b"-"].concat();
                assert!(is_same((&other, 1), (text, start), alone, len));
                assert_eq!(is_same((&other, 0), (text, start), alone, len), len == 0);
            }
        }
        assert_eq!(Head::of(text, 40, 3), Head::of(b"", 0, 0));
    }
}
