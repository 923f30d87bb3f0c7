//! The row of a word.

use super::foreign_table::FOREIGN;

/// Whether a word of the table stands for a word: underscores are hyphens, case does not count.
pub(super) fn stands_for(known: &str, word: &str) -> bool {
    let same = |known: &str, word: &[u8]| {
        let plain = |byte: &u8| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
        known.len() == word.len() && known.bytes().zip(word).all(|(known, byte)| known == plain(byte))
    };
    match known.strip_suffix('*') {
        Some(beginning) => word.len() >= beginning.len() && same(beginning, &word.as_bytes()[..beginning.len()]),
        None => known == word || same(known, word.as_bytes()),
    }
}

/// What does the work of a word of another program. What an option or a key has as its value does not count.
pub(super) fn foreign(word: &str) -> Option<&'static str> {
    let name = match word.split_once('=') {
        Some((name, _)) if word.starts_with('-') => name,
        Some((name, _)) => &word[..=name.len()],
        None => word,
    };
    FOREIGN.iter().find(|row| row.words.iter().any(|known| stands_for(known, name))).map(|row| row.here)
}
