//! Lines of words, as in files with an operator or a layer in each line.

use super::Span;

/// A word of a line with its location.
pub(crate) type Word<'t> = (&'t str, Span);

/// The words of each line that is not blank.
pub(crate) fn lines_of_words(text: &str) -> impl Iterator<Item = Vec<Word<'_>>> + use<'_> {
    let start = move |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let word = move |word| (word, Span::new(start(word) as u32, (start(word) + word.len()) as u32));
    text.lines()
        .map(move |line| line.split_ascii_whitespace().map(word).collect())
        .filter(|line: &Vec<_>| !line.is_empty())
}
