//! Reads a text in words of eight bytes; the first byte is the least significant one.

/// The number of bytes of a word.
pub(crate) const WORD: usize = 8;

/// The masks of the first 0 to 8 bytes of a word.
const FIRST: [u64; WORD + 1] =
    [0, 0xFF, 0xFFFF, 0xFF_FFFF, 0xFFFF_FFFF, 0xFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF, 0xFF_FFFF_FFFF_FFFF, u64::MAX];

/// The word at an offset; padded with zeros after the end of the text.
#[inline]
pub(crate) fn load(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => short(text.get(at..).unwrap_or_default()),
    }
}

/// The word of less than eight bytes. Names are mostly as short as that.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The two halves overlap.
        let shift = 8 * (bytes.len() - size_of::<u32>());
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift;
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The first `len` bytes of a word; the others become zero.
#[inline]
pub(crate) fn first(word: u64, len: usize) -> u64 {
    word & FIRST[len.min(WORD)]
}

/// The word whose bytes are all equal to `byte`.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD])
}

/// The number of bytes at the start of a word that are letters, digits or underscores.
#[inline]
pub(crate) fn identifier_len(word: u64) -> usize {
    const HIGH: u64 = each(0x80);
    // No sum carries into the next byte, since both operands are less than 0x80.
    let low = word & !HIGH;
    let between = |bytes: u64, first: u8, last: u8| (bytes + each(0x80 - first)) & !(bytes + each(0x7F - last));
    let letters = between(low | each(0x20), b'a', b'z');
    let found = between(low, b'0', b'9') | letters | between(low, b'_', b'_');
    let others = !(found & !word) & HIGH;
    others.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_identifiers_are_counted() {
        for byte in 0..=u8::MAX {
            let is = byte == b'_' || byte.is_ascii_alphanumeric();
            for at in 0..WORD {
                let mut bytes = *b"aZ0_9zAb";
                bytes[at] = byte;
                assert_eq!(identifier_len(u64::from_le_bytes(bytes)), if is { WORD } else { at }, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn words_end_with_the_text() {
        let text = b"abcdefghijk";
        assert_eq!(load(text, 3), u64::from_le_bytes(*b"defghijk"));
        assert_eq!(load(text, 4), u64::from_le_bytes(*b"efghijk\0"));
        assert_eq!((load(text, 11), load(text, 50)), (0, 0));
        assert_eq!(first(load(text, 0), 2), u64::from_le_bytes(*b"ab\0\0\0\0\0\0"));
        assert_eq!((first(load(text, 0), 0), first(load(text, 0), 8)), (0, load(text, 0)));
    }
}
