//! How a statement is spelled, but for its names and labels.
//!
//! Two statements that differ in nothing but these have the same nodes. So a statement that
//! is spelled like one that was read needs no parsing: its names are found where they must stand.
//! The variables of comprehensions are no such names: they are spelled out.

use std::ops::Range;

use smallvec::SmallVec;

use crate::nnef::lexer::is_reserved;
use crate::source::literals::plain_len;
use crate::source::names::Names;
use crate::source::short::{self, Head};

/// The most names of a statement, and the most bytes of it and of a name.
const MAX_NAMES: usize = 64;
const MAX_LENGTH: usize = 2048;
const MAX_NAME: usize = 255;

/// What stands for a name, and for what is within the quotes of a label, in [`Spelling::key`]. No
/// statement with these bytes is spelled out.
const NAME: u8 = 0;
const LABEL: u8 = 1;
/// Likewise for the name of a fragment that is called; digits behind it say how that is declared.
const CALLED: u8 = 2;

/// The argument whose text is new in each statement that has it.
const LABEL_ARGUMENT: &[u8] = b"label";

/// What follows the variable of a comprehension.
const IN: &[u8] = b"in";

/// What a hole of a spelling is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoleKind {
    /// The name of a tensor.
    Name,
    /// What is within the quotes of a label.
    Label,
    /// The name of a fragment that is called. All fragments that fit are declared with the same words.
    Called,
}

impl HoleKind {
    fn of(mark: u8) -> Self {
        match mark {
            LABEL => HoleKind::Label,
            CALLED => HoleKind::Called,
            _ => HoleKind::Name,
        }
    }
}

/// The fragments of a text that statements may call in place of each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callees<'a> {
    pub names: &'a Names,
    /// With which words fragments are declared, by name; 0 for other names.
    pub words: &'a [u32],
}

impl Callees<'_> {
    /// With which words a fragment is declared, if it is one of these.
    fn words_of(&self, name: &[u8]) -> Option<u32> {
        if self.words.is_empty() {
            return None;
        }
        let name = self.names.get(str::from_utf8(name).ok()?)?;
        self.words.get(name.index()).copied().filter(|words| *words != 0)
    }
}

/// What a byte can be part of.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// A letter or `_`.
    Word,
    Digit,
    Space,
    /// Nothing that is looked at here: comments, braces, what is not ASCII.
    Other,
    Quote,
    Equals,
    Semicolon,
    /// Brackets, commas and signs of operators.
    Mark,
}

/// The classes of all bytes.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | 0x0B | 0x0C | b'\r' | b'\n' => Class::Space,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => Class::Word,
            b'0'..=b'9' => Class::Digit,
            b'\'' | b'"' => Class::Quote,
            b'=' => Class::Equals,
            b';' => Class::Semicolon,
            b'(' | b')' | b'[' | b']' | b',' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'^' | b'!' | b'.' | b'?' => {
                Class::Mark
            }
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

/// The spelling of a statement.
#[derive(Debug, Default)]
pub(crate) struct Spelling {
    /// The text, with a byte of its own in place of each name and label.
    key: Vec<u8>,
    /// These: where they start and end, without quotes.
    names: SmallVec<[(u32, u32); 8]>,
    /// How many of them are on the left side.
    targets: u32,
    /// The variables of comprehensions so far.
    variables: Vec<Box<[u8]>>,
    /// Where the statement starts, and how long it is.
    start: u32,
    len: u32,
}

/// What statements have in common that are spelled alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    bytes: Box<[u8]>,
    /// What stands in front of the first name.
    first: Piece,
    /// Names and labels.
    parts: SmallVec<[Part; 4]>,
    /// The variables of comprehensions. A name that is one of them may be spelled out.
    variables: Vec<Box<[u8]>>,
}

/// A name or a label of a [`Key`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    kind: HoleKind,
    /// The words by which it is declared if it is called.
    words: Option<u32>,
    /// What stands behind it.
    then: Piece,
}

/// Some bytes of a [`Key`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    start: u32,
    len: u32,
    head: Head,
}

impl Piece {
    fn new(bytes: &[u8], part: Range<usize>) -> Self {
        Piece { start: part.start as u32, len: part.len() as u32, head: Head::of(bytes, part.start, part.len()) }
    }
}

impl Key {
    /// Whether a statement is spelled like this.
    pub fn is(&self, spelling: &Spelling) -> bool {
        *self.bytes == *spelling.key
    }

    /// Whether a word can stand where statements of this spelling have a name.
    fn can_name(&self, word: &[u8]) -> bool {
        !is_reserved(word) && !self.variables.iter().any(|variable| **variable == *word)
    }

    /// Where a piece ends that stands at a place of a text; nothing if it does not.
    #[inline]
    fn end_of(&self, piece: Piece, text: &[u8], at: usize) -> Option<usize> {
        let len = piece.len as usize;
        let is_there =
            at + len <= text.len() && short::is_same((text, at), (&self.bytes, piece.start as usize), piece.head, len);
        is_there.then_some(at + len)
    }
}

impl Part {
    /// The name or label that a byte of a key stands for, up to the next one or the end.
    fn of(bytes: &[u8], mark: usize, end: usize) -> Self {
        let kind = HoleKind::of(bytes[mark]);
        let behind = &bytes[mark + 1..end];
        let digits = if kind == HoleKind::Called { skip(behind, 0, |class| class == Class::Digit) } else { 0 };
        let words = str::from_utf8(&behind[..digits]).ok().and_then(|words| words.parse().ok());
        Part { kind, words, then: Piece::new(bytes, mark + 1 + digits..end) }
    }
}

impl Spelling {
    /// The key, to be kept.
    pub fn to_key(&self) -> Key {
        let bytes = &self.key;
        let mut ends: SmallVec<[usize; 8]> = (0..bytes.len()).filter(|&at| is_mark(bytes[at])).collect();
        ends.push(bytes.len());
        let parts = ends.windows(2).map(|ends| Part::of(bytes, ends[0], ends[1])).collect();
        let first = Piece::new(bytes, 0..ends[0]);
        Key { bytes: bytes.as_slice().into(), first, parts, variables: self.variables.clone() }
    }

    /// What two statements have in common if they differ in their names only.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Where the names start and end in the text.
    pub fn names(&self) -> &[(u32, u32)] {
        &self.names
    }

    /// The same, and what each is for.
    pub fn holes(&self) -> impl Iterator<Item = (u32, u32, HoleKind)> {
        let marks = self.key.iter().filter(|byte| is_mark(**byte));
        self.names.iter().zip(marks).map(|(&(start, end), mark)| (start, end, HoleKind::of(*mark)))
    }

    /// How many of the names are on the left side.
    pub fn targets(&self) -> u32 {
        self.targets
    }

    /// Where the statement starts in the text.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// How many bytes the statement has.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Finds the names of the statement that a text starts with, if it is spelled like this, and
    /// tells where it ends. Nothing else is known of it then.
    pub fn fit(&mut self, wanted: &Key, text: &str, callees: Callees) -> Option<u32> {
        self.names.clear();
        let start = skip(text.as_bytes(), 0, |class| class == Class::Space);
        let text = &text.as_bytes()[start..text.len().min(start + MAX_LENGTH)];
        self.start = start as u32;
        let mut at = wanted.end_of(wanted.first, text, 0)?;
        for part in &wanted.parts {
            let end = match part.kind {
                HoleKind::Label => plain_end(text, at),
                HoleKind::Name | HoleKind::Called => skip(text, at, is_word),
            };
            let word = &text[at.min(end)..end];
            let fits = match part.kind {
                HoleKind::Label => true,
                // Where a name must stand there may be another kind of word.
                HoleKind::Name => class(*text.get(at)?) == Class::Word && wanted.can_name(word),
                HoleKind::Called => callees.words_of(word) == part.words,
            };
            if !fits || end - at > MAX_NAME {
                return None;
            }
            self.names.push((self.start + at as u32, self.start + end as u32));
            at = wanted.end_of(part.then, text, end)?;
        }
        (text.get(at) == Some(&b';')).then(|| self.start + at as u32 + 1)
    }

    /// Spells the statement that a text starts with, and tells where it ends; nothing where it is
    /// long or has anything out of the ordinary. What is no statement may well be spelled: only
    /// one that was read tells what a spelling means.
    pub fn scan(&mut self, text: &str, callees: Callees) -> Option<u32> {
        self.key.clear();
        self.names.clear();
        self.variables.clear();
        self.targets = 0;
        let start = skip(text.as_bytes(), 0, |class| class == Class::Space);
        // No statement has more than this, so that places below are within.
        let text = &text.as_bytes()[start..text.len().min(start + MAX_LENGTH)];
        let base = start as u32;
        self.start = base;
        let (mut at, mut spelled, mut assigned, mut label) = (0, 0, false, false);
        loop {
            match class(*text.get(at)?) {
                Class::Space | Class::Mark => at += 1,
                Class::Word => {
                    let end = skip(text, at + 1, is_word);
                    if end - at > MAX_NAME {
                        return None;
                    }
                    let word = &text[at..end];
                    label = word == LABEL_ARGUMENT;
                    if word == IN {
                        self.spell_variable(text, base, at);
                    } else if stands_alone(text, end, assigned) && !self.is_variable(word) && !is_reserved(word) {
                        self.put(NAME, &text[spelled..at], base, (at, end));
                        spelled = end;
                    } else if let Some(words) = callees.words_of(word).filter(|_| assigned && is_called(text, end)) {
                        self.put(CALLED, &text[spelled..at], base, (at, end));
                        self.key.extend_from_slice(itoa::Buffer::new().format(words).as_bytes());
                        spelled = end;
                    }
                    at = end;
                }
                Class::Digit => at = skip(text, at + 1, is_word),
                Class::Quote => {
                    let end = plain_end(text, at + 1);
                    if text.get(end) != Some(&text[at]) {
                        return None;
                    }
                    if std::mem::take(&mut label) && end - at <= MAX_NAME {
                        self.put(LABEL, &text[spelled..=at], base, (at + 1, end));
                        spelled = end;
                    }
                    at = end + 1;
                }
                Class::Equals => {
                    if !assigned {
                        (assigned, self.targets) = (true, self.names.len() as u32);
                    }
                    at += if text.get(at + 1) == Some(&b'=') { 2 } else { 1 };
                }
                Class::Semicolon => {
                    self.key.extend_from_slice(&text[spelled..at]);
                    self.len = at as u32 + 1;
                    return (self.names.len() <= MAX_NAMES).then_some(base + self.len);
                }
                Class::Other => return None,
            }
        }
    }
}

impl Spelling {
    /// Adds text to the key, and what stands for the name or label behind it.
    fn put(&mut self, mark: u8, text: &[u8], base: u32, (start, end): (usize, usize)) {
        self.key.extend_from_slice(text);
        self.key.push(mark);
        self.names.push((base + start as u32, base + end as u32));
    }

    /// Spells out the name that stands in front of `in` after all, which is at this place.
    fn spell_variable(&mut self, text: &[u8], base: u32, at: usize) {
        let Some(&(start, end)) = self.names.last() else { return };
        let (start, end) = ((start - base) as usize, (end - base) as usize);
        if self.key.last() == Some(&NAME) && skip(text, end, |class| class == Class::Space) == at {
            self.names.pop();
            self.key.pop();
            self.key.extend_from_slice(&text[start..end]);
            self.variables.push(text[start..end].into());
        }
    }

    fn is_variable(&self, word: &[u8]) -> bool {
        self.variables.iter().any(|variable| **variable == *word)
    }
}

/// The first place from here on that is not of these classes.
#[inline]
fn skip(text: &[u8], start: usize, of: impl Fn(Class) -> bool) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at)
        && of(class(*byte))
    {
        at += 1;
    }
    at
}

/// What continues a word or a number.
fn is_word(class: Class) -> bool {
    class as u8 <= Class::Digit as u8
}

/// The end of what is plain within the quotes that open in front of it.
fn plain_end(text: &[u8], start: usize) -> usize {
    start + plain_len(text[start - 1], &text[start..])
}

/// Whether a byte of a key stands for something.
fn is_mark(byte: u8) -> bool {
    byte == NAME || byte == LABEL || byte == CALLED
}

/// Whether a word that ends here is called, without a type argument.
fn is_called(text: &[u8], end: usize) -> bool {
    text.get(skip(text, end, |class| class == Class::Space)) == Some(&b'(')
}

/// Whether a word that ends here is neither called nor the name of an argument.
#[inline]
fn stands_alone(text: &[u8], end: usize, assigned: bool) -> bool {
    let next = skip(text, end, |class| class == Class::Space);
    match text.get(next) {
        None | Some(b'(' | b'<') => false,
        Some(b'=') => !assigned || text.get(next + 1) == Some(&b'='),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests;
