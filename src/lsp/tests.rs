//! Positions, and what the state of a text is after changes.

use super::positions::{Lines, PositionEncoding};
use crate::source::Span;
use serde_json::json;

#[test]
fn positions_count_units_of_the_encoding() {
    let lines = Lines::new("\u{FEFF}aé😀b\r\nc".to_owned());
    // Offsets do not count the byte order mark, positions do.
    for (encoding, character) in
        [(PositionEncoding::Utf8, 10), (PositionEncoding::Utf16, 5), (PositionEncoding::Utf32, 4)]
    {
        let b = "aé😀".len() as u32;
        let range = lines.range(Span::new(b, b + 1), encoding);
        assert_eq!(range["start"], json!({ "line": 0, "character": character }), "{encoding:?}");
        assert_eq!(lines.offset((0, character), encoding), b);
        assert_eq!(lines.offset((0, 99), encoding), b + 1, "the end of the line, without its end");
        assert_eq!(lines.offset((1, 1), encoding), b + 4);
        assert_eq!(lines.offset((9, 0), encoding), b + 4);
        // Earlier places after later ones.
        assert_eq!(lines.range(Span::new(0, 0), encoding)["start"]["line"], 0);
    }
    // Inside of a character is at its start.
    assert_eq!(lines.offset((0, 4), PositionEncoding::Utf16), 3);
}

#[test]
fn the_encoding_is_the_first_that_both_have() {
    let agreed = |names: &[&str]| PositionEncoding::agreed(names.iter().copied()).name();
    assert_eq!(agreed(&["utf-7", "utf-32", "utf-8"]), "utf-32");
    assert_eq!(agreed(&[]), "utf-16");
}
