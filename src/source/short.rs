//! Short texts, compared by their first eight bytes as a number.

/// How many bytes are compared as a number.
const HEAD: usize = 8;

/// The first bytes of a text, as a number. The bytes behind it are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(u64);

impl Head {
    /// Those of the text of so many bytes that starts here. What there is not is 0.
    #[inline]
    pub(crate) fn of(text: &[u8], start: usize, len: usize) -> Self {
        let rest = text.get(start..).unwrap_or_default();
        let bytes = rest.first_chunk().map_or_else(|| short(rest), |bytes| u64::from_le_bytes(*bytes));
        Head(bytes & if len >= HEAD { u64::MAX } else { (1 << (8 * len)) - 1 })
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
