//! Finds fragments that differ from one that was read in nothing but names.
//!
//! What may differ is a fragment's own name, and the names of what it calls, if that are fragments
//! of the same text that stand before and are declared with the same words. So the checks have to
//! say about it what they say about the first one, but for names and places.

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::Hasher;
use std::ops::Range;

use crate::graph::scan;
use crate::nnef::alike::{Alike, AlikeFragments, Hole, Pattern};
use crate::nnef::ast::{Call, Ident};
use crate::nnef::lexer::is_reserved;
use crate::source::Span;
use crate::source::names::{Name, Names};

/// The most patterns of a text, and of those that begin with the same words.
const MAX_PATTERNS: usize = 4096;
const MAX_ALTERNATIVES: usize = 8;
/// The most calls of a fragment that others may be like.
const MAX_CALLS: usize = 256;
/// The most bytes of a declaration.
const MAX_LENGTH: usize = 1024;
/// How many fragments may fit no pattern before reading looks whether it is worth it.
const TRIALS: usize = 4096;

/// Identifies the words with which a fragment is declared, its name apart; 0 for none.
type Words = u32;

/// What is known of a pattern beside its holes.
#[derive(Debug)]
struct Known {
    /// How its fragments are declared.
    words: Words,
    /// How what they call is declared, by name; the first one is its own.
    called: SmallVec<[Words; 2]>,
    /// The names of what all of them call.
    fixed: SmallVec<[Name; 4]>,
}

/// Learns patterns while a text is read, and finds them again.
#[derive(Debug, Default)]
pub(in crate::nnef::grammar) struct AlikeReader {
    pub found: AlikeFragments,
    known: Vec<Known>,
    /// How the fragments so far are declared, by name.
    declared: Vec<Words>,
    /// The words of declarations by hash, and where they stand first.
    words: FxHashMap<u64, (Words, Span)>,
    /// The patterns of fragments that are declared with the same words.
    alternatives: FxHashMap<Words, SmallVec<[u32; 2]>>,
    /// The pattern that was found last.
    last: Option<u32>,
    missed: usize,
    /// The names of the fragment that is looked at, and where it has them first.
    places: SmallVec<[(Option<Name>, Span); 4]>,
}

/// What an identifier consists of.
fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// The end of the word that starts here.
fn word_end(text: &str, start: usize) -> usize {
    text.as_bytes()[start..].iter().position(|byte| !is_word(*byte)).map_or(text.len(), |len| start + len)
}

/// Whether a word is a name.
fn is_name(word: &str) -> bool {
    word.as_bytes().first().is_some_and(|first| !first.is_ascii_digit()) && !is_reserved(word.as_bytes())
}

impl AlikeReader {
    /// With which words the fragments so far are declared, by name; 0 for other names. Nobody who
    /// calls one of them can tell it from another one that is declared with the same words.
    pub fn declared(&self) -> &[Words] {
        &self.declared
    }

    /// Looks whether a fragment, whose keyword ends here, is like an earlier one. Gives its end.
    pub fn look(&mut self, text: &str, keyword: Span, names: &mut Names) -> Option<u32> {
        if self.known.is_empty() || (self.missed > TRIALS && self.found.len() < self.missed) {
            return None;
        }
        let found = self.last.and_then(|last| Some((last, self.fit(last, text, keyword.end, names)?)));
        let Some((pattern, end)) = found.or_else(|| self.find(text, keyword.end, names)) else {
            self.missed += 1;
            return None;
        };
        self.last = Some(pattern);
        let first = self.found.names.len() as u32;
        self.found.list.push(Alike { pattern, start: keyword.start, names: first });
        for (name, place) in &self.places {
            self.found.names.push(name.unwrap_or_else(|| names.intern(text.get(place.range()).unwrap_or_default())));
        }
        let own = self.found.names[first as usize];
        self.note(own, self.known[pattern as usize].words);
        Some(end)
    }

    /// The pattern among those of fragments with such a header.
    fn find(&mut self, text: &str, start: u32, names: &Names) -> Option<(u32, u32)> {
        let name = start as usize + text[start as usize..].bytes().take_while(u8::is_ascii_whitespace).count();
        let head = word_end(text, name);
        let words = self.words_of(text, head as u32)?;
        let alternatives = self.alternatives.get(&words)?.clone();
        alternatives.into_iter().find_map(|pattern| Some((pattern, self.fit(pattern, text, start, names)?)))
    }

    /// Fits a pattern to the text behind a keyword, and notes where the names are. Gives its end.
    fn fit(&mut self, pattern: u32, text: &str, start: u32, names: &Names) -> Option<u32> {
        let known = &self.known[pattern as usize];
        let Pattern { span, holes, .. } = &self.found.patterns[pattern as usize];
        let places = &mut self.places;
        places.clear();
        // Between the holes both texts are the same.
        let (mut at, mut behind) = (start as usize, span.start as usize + KEYWORD);
        let same = |at: usize, part: Range<usize>| {
            let len = part.len();
            (text.as_bytes().get(at..at + len)? == &text.as_bytes()[part]).then_some(at + len)
        };
        for hole in holes {
            let word = same(at, behind..hole.span.start as usize)?;
            (at, behind) = (word_end(text, word), hole.span.end as usize);
            if let Some((_, earlier)) = places.get(hole.name as usize) {
                if text[earlier.range()] != text[word..at] {
                    return None;
                }
                continue;
            }
            let name = if places.is_empty() { None } else { Some(names.get(&text[word..at])?) };
            if let Some(name) = name {
                let fits = self.declared.get(name.index()) == Some(&known.called[hole.name as usize]);
                // Calls without a name are counted by what they call.
                let met = known.fixed.contains(&name) || places.iter().any(|(met, _)| *met == Some(name));
                if !fits || met {
                    return None;
                }
            }
            places.push((name, Span { start: word as u32, end: at as u32 }));
        }
        let end = same(at, behind..span.end as usize)?;
        is_name(text.get(places.first()?.1.range())?).then_some(end as u32)
    }

    /// Notes how a fragment is declared.
    fn note(&mut self, name: Name, words: Words) {
        if self.declared.len() <= name.index() {
            self.declared.resize(name.index() + 1, 0);
        }
        self.declared[name.index()] = words;
    }

    /// The words from behind a fragment's name to its body.
    fn words_of(&mut self, text: &str, start: u32) -> Option<Words> {
        let rest = &text.as_bytes()[start as usize..text.len().min(start as usize + MAX_LENGTH)];
        let words = &rest[..rest.iter().position(|byte| *byte == b'{')?];
        let mut hasher = FxHasher::default();
        hasher.write(words);
        let hash = hasher.finish();
        if let Some((known, first)) = self.words.get(&hash) {
            return (text.as_bytes()[first.range()] == *words).then_some(*known);
        }
        let new = self.words.len() as Words + 1;
        let span = Span { start, end: start + words.len() as u32 };
        (self.words.len() < MAX_PATTERNS).then(|| self.words.insert(hash, (new, span)))?;
        Some(new)
    }

    /// Notes the declaration of a fragment with a body.
    pub fn declare(&mut self, text: &str, name: Ident) {
        if self.known.len() < MAX_PATTERNS
            && let Some(words) = self.words_of(text, name.span.end)
        {
            self.note(name.name, words);
        }
    }

    /// Learns the pattern of a fragment that was read, of plain statements alone.
    pub fn learn(&mut self, text: &str, span: Span, name: Ident, calls: &[Call], names: &Names) {
        let words_of = |name: Name| self.declared.get(name.index()).copied().unwrap_or(0);
        let words = words_of(name.name);
        let by_itself = |call: &Call| call.name.name == name.name || names.text(call.name.name) == scan::NAME;
        let few = self.known.len() < MAX_PATTERNS && calls.len() <= MAX_CALLS;
        if words == 0 || !few || calls.iter().any(by_itself) {
            return;
        }
        let mut known = Known { words, called: smallvec::smallvec![words], fixed: SmallVec::new() };
        let mut pattern =
            Pattern { model: u32::MAX, span, holes: SmallVec::new(), names: smallvec::smallvec![name.name] };
        pattern.holes.push(Hole { span: name.span, name: 0 });
        let mut calls: SmallVec<[Ident; 8]> = calls.iter().map(|call| call.name).collect();
        calls.sort_unstable_by_key(|call| call.span.start);
        for Ident { name, span } in calls {
            let words = words_of(name);
            if words == 0 {
                known.fixed.push(name);
                continue;
            }
            let position =
                pattern.names[1..].iter().position(|known| *known == name).map_or(pattern.names.len(), |i| i + 1);
            if position == pattern.names.len() {
                pattern.names.push(name);
                known.called.push(words);
            }
            pattern.holes.push(Hole { span, name: position as u32 });
        }
        debug_assert!(
            pattern.holes.iter().all(|hole| names.text(pattern.names[hole.name as usize]) == &text[hole.span.range()])
        );
        let alternatives = self.alternatives.entry(words).or_default();
        if alternatives.len() < MAX_ALTERNATIVES {
            alternatives.push(self.known.len() as u32);
            self.known.push(known);
            self.found.patterns.push(pattern);
        }
    }
}

/// How long the keyword of a fragment is.
const KEYWORD: usize = "fragment".len();
