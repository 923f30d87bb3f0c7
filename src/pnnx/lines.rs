//! Lines that begin with the names of the values that they use and define: operators of PNNX, and layers of ncnn.

use rustc_hash::FxHashMap;

use crate::diagnostics::{Code, Diagnostic, Diagnostics, Policy};
use crate::source::word_lines::Word;
use crate::source::{FileId, Location, Span};

/// What the lines of a text are called: operators and operands of PNNX, layers and blobs of ncnn.
pub(crate) struct LineWords {
    /// The code of malformed lines, and that of values that are not defined once and before their use.
    pub(crate) codes: [Code; 2],
    /// The code of other numbers of lines or values than the second line has.
    pub(crate) count: Code,
    pub(crate) text: &'static str,
    pub(crate) line: &'static str,
    pub(crate) value: &'static str,
    /// What is around names of values.
    pub(crate) quote: &'static str,
}

/// Reads lines that have the names of the values that they use and define, behind their numbers.
pub(crate) struct LineReader<'t> {
    pub(crate) text: &'t str,
    pub(crate) file: FileId,
    pub(crate) found: Diagnostics,
    words: &'static LineWords,
    /// The location of the definition of each value.
    defined: FxHashMap<&'t str, Span>,
}

impl<'t> LineReader<'t> {
    pub(crate) fn new(text: &'t str, file: FileId, policy: impl Into<Policy>, words: &'static LineWords) -> Self {
        LineReader { text, file, found: Diagnostics::of(policy.into()), words, defined: FxHashMap::default() }
    }

    pub(crate) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.found.report(Diagnostic::new(code, Location::new(self.file, span), message));
    }

    /// Reads the second line, which has the numbers of other lines and of values, and the other lines.
    pub(crate) fn counted<T>(
        &mut self,
        counts: &[Word<'t>],
        lines: impl Iterator<Item = Vec<Word<'t>>>,
        mut read: impl FnMut(&mut Self, &[Word<'t>]) -> Option<T>,
    ) -> Vec<T> {
        let LineWords { codes: [syntax, _], count, text, line, value, .. } = self.words;
        let counted = match counts {
            [(lines, _), (values, _)] => lines.parse::<usize>().ok().zip(values.parse::<usize>().ok()),
            _ => None,
        };
        let end = Span::new(self.text.len() as u32, self.text.len() as u32);
        let at = counts.first().map_or(end, |(_, span)| *span);
        let Some(counted) = counted else {
            self.error(*syntax, at, format!("the second line has two numbers: those of {line}s and {value}s"));
            return Vec::new();
        };
        let made: Vec<T> = lines.filter_map(|line| read(self, &line)).collect();
        let found = (made.len(), self.defined.len());
        if !self.found.has_errors() && counted != found {
            self.error(*count, at, format!("the {text} has {} {line}s and {} {value}s", found.0, found.1));
        }
        made
    }

    /// Notes the values that a line uses and defines.
    pub(crate) fn note(&mut self, used: &[Word<'t>], made: &[Word<'t>]) {
        let LineWords { codes: [_, code], line, value, quote, .. } = self.words;
        for (name, at) in used {
            if !self.defined.contains_key(name) {
                self.error(*code, *at, format!("no earlier {line} defines the {value} {quote}{name}{quote}"));
            }
        }
        for (name, at) in made {
            if let Some(before) = self.defined.insert(name, *at) {
                let [at, before] = [*at, before].map(|span| Location::new(self.file, span));
                let message = format!("two {line}s define the {value} {quote}{name}{quote}");
                self.found.report(Diagnostic::new(*code, at, message).see(before, "the first one"));
            }
        }
    }

    /// Splits words after a number of names of values.
    pub(crate) fn names<'l>(
        &mut self,
        (count, at): Word,
        rest: &'l [Word<'t>],
    ) -> Option<(&'l [Word<'t>], &'l [Word<'t>])> {
        let LineWords { codes: [code, _], value, .. } = self.words;
        let Ok(count) = count.parse::<usize>() else {
            self.error(*code, at, format!("`{count}` is not a number of {value}s"));
            return None;
        };
        let names = rest.split_at_checked(count);
        if names.is_none() {
            self.error(*code, at, format!("{count} {value}s are announced, {} words follow", rest.len()));
        }
        names
    }
}
