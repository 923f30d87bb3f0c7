//! Texts of protobuf files, whose bytes need not be UTF-8.
//!
//! Programs write names in any encoding, and readers of protobuf accept them. In memory, all texts are UTF-8: a byte
//! that is not part of UTF-8 is represented by a character of a private use area. The bytes of these characters are
//! represented in the same way, so that every text of bytes has exactly one representation and equal names stay equal.

use std::borrow::Cow;

/// The character that represents a byte `b` is `BASE + b`.
const BASE: u32 = 0x10_FE00;

fn escaping(byte: u8) -> Option<char> {
    char::from_u32(BASE + u32::from(byte))
}

fn escaped(c: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(c).checked_sub(BASE)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

/// The first byte of all characters that represent bytes.
const FIRST: u8 = 0xF4;

/// The representation of bytes.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    plain(bytes).map_or_else(|| Cow::Owned(escape(bytes)), Cow::Borrowed)
}

/// The bytes as a text, if that is their representation.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|_| bytes.is_ascii() || !bytes.contains(&FIRST))
}

/// The representation of bytes that are not plain.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match escaped(c) {
                None => text.push(c),
                Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().filter_map(escaping)),
            }
        }
        text.extend(chunk.invalid().iter().copied().filter_map(escaping));
    }
    text
}

/// The bytes that a text represents.
pub(crate) fn encode(text: &str) -> Cow<'_, [u8]> {
    if !represents(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match escaped(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Whether a text has characters that represent bytes.
pub(crate) fn represents(text: &str) -> bool {
    !text.is_ascii() && text.as_bytes().contains(&FIRST) && text.chars().any(|c| escaped(c).is_some())
}

/// The text as it was written, if it is UTF-8.
pub(crate) fn written(text: &str) -> Option<Cow<'_, str>> {
    match encode(text) {
        Cow::Borrowed(_) => Some(Cow::Borrowed(text)),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_bytes_has_one_representation() {
        let private = "\u{10FE80}\u{10FEFF}\u{10FFFF}\u{10FE7F}";
        for bytes in [
            &b""[..],
            b"plain",
            "é\u{1F600}".as_bytes(),
            b"node\xff",
            b"\xc3\xa9\xc3",
            b"\xf4\x8f\xba",
            b"\xed\xa0\x80",
            private.as_bytes(),
            &[private.as_bytes(), b"\x80"].concat(),
        ] {
            let text = decode(bytes);
            assert_eq!(&*encode(&text), bytes);
            assert_eq!(written(&text).as_deref(), std::str::from_utf8(bytes).ok());
        }
        assert_ne!(decode(b"a\x80"), decode(b"a\x81"));
        assert_ne!(decode(b"\xff"), decode("\u{10FEFF}".as_bytes()));
    }
}
