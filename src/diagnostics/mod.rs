//! Diagnostics as data: errors and warnings with message, location, and the enclosing calls.
//!
//! Stages report into one [`Diagnostics`] list; text and colour are added only when the list is
//! rendered ([`Diagnostic::write_human`], behind the feature `render`) or written as JSON ([`Diagnostic::write_json`]).

mod codes;
pub(crate) mod json;
#[cfg(feature = "render")]
pub(crate) mod render;
pub(crate) mod suggest;
pub(crate) mod trace;
pub(crate) mod visible;

use std::error::Error;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::source::Location;
pub use codes::Code;

/// The message that a result has more operations than the budget allows.
pub(crate) fn too_many(what: &str, limit: u64, operations: &str) -> String {
    format!("{what} has more than {limit} {operations}")
}

/// How severe a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// The document is accepted in spite of it.
    Warning,
    /// The document is refused.
    Error,
}

/// A note at another location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The location.
    pub at: Location,
    /// The note.
    pub message: String,
}

/// One of the nested calls of fragments in which a diagnostic was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceFrame {
    /// The fragment that was called.
    pub fragment: String,
    /// The call.
    pub at: Location,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The code: what kind of error or warning.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The location in the source.
    pub at: Location,
    /// What is found at that location; none if the location is a whole input.
    pub label: Option<String>,
    /// Notes at other locations that explain it.
    pub labels: Vec<Label>,
    /// How to solve the problem, if that is certain.
    pub help: Option<String>,
    /// The nested calls in which it was found, innermost first.
    pub expansion: Vec<TraceFrame>,
    /// How many calls were omitted from the middle of [`Diagnostic::expansion`], and before which of its
    /// frames.
    pub elided: Option<(usize, usize)>,
}

impl Diagnostic {
    /// A diagnostic with the default severity of its code.
    pub(crate) fn new(code: Code, at: Location, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.severity(false),
            message: message.into(),
            at,
            label: code.label().map(str::to_owned),
            labels: Vec::new(),
            help: None,
            expansion: Vec::new(),
            elided: None,
        }
    }

    /// The error for a text with more than `limit` bytes.
    pub(crate) fn too_large(at: Location, limit: u64) -> Self {
        let message = format!("the text has more than {limit} bytes");
        Diagnostic::new(Code::TooLarge, at, message).help("raise the limit with --max-text")
    }

    /// Adds the text of the label at the location.
    pub(crate) fn label(mut self, message: impl Into<String>) -> Self {
        self.label = Some(message.into());
        self
    }

    /// Adds a label at another location.
    pub(crate) fn see(mut self, at: Location, message: impl Into<String>) -> Self {
        self.labels.push(Label { at, message: message.into() });
        self
    }

    /// Adds how to solve the problem.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds how to solve the problem, if that is known.
    pub(crate) fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Whether it is an error, for which the document is refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Code, message and help on one line. The location is omitted because it needs the sources;
/// [`Diagnostic::write_human`] shows it.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), visible::clean(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "; {}", visible::clean(help)),
            None => Ok(()),
        }
    }
}

impl Error for Diagnostic {}

/// The most warnings of one code that are kept; the others are counted.
const WARNINGS_PER_CODE: u32 = 20;
/// The most errors that are kept; the others are counted.
const MAX_ERRORS: usize = 200;

/// The diagnostics of a run, in the order in which they were reported.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    strict: bool,
    list: Vec<Diagnostic>,
    per_code: FxHashMap<Code, u32>,
    /// The warnings that were only counted, by code.
    counted: FxHashMap<Code, usize>,
    errors: usize,
    suppressed: usize,
}

impl Diagnostics {
    /// An empty list. With `strict`, deviations that the default mode tolerates are errors.
    pub fn new(strict: bool) -> Self {
        Diagnostics { strict, ..Self::default() }
    }

    /// Whether tolerated deviations are errors.
    pub(crate) fn strict(&self) -> bool {
        self.strict
    }

    /// Adds a diagnostic with the severity that its code has in this mode. Diagnostics beyond a limit are
    /// only counted, so that memory is bounded; the document is refused for any error.
    pub(crate) fn report(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.severity = diagnostic.code.severity(self.strict);
        if diagnostic.is_error() {
            self.errors += 1;
            if self.errors > MAX_ERRORS {
                self.suppressed += 1;
                return;
            }
        } else {
            let count = self.per_code.entry(diagnostic.code).or_default();
            *count += 1;
            if *count > WARNINGS_PER_CODE {
                *self.counted.entry(diagnostic.code).or_default() += 1;
                self.suppressed += 1;
                return;
            }
        }
        self.list.push(diagnostic);
    }

    /// Whether the document is refused.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether another diagnostic of a code would only be counted, so that it need not be made.
    pub(crate) fn only_counts(&self, code: Code) -> bool {
        match code.severity(self.strict) {
            Severity::Error => self.errors >= MAX_ERRORS,
            _ => self.per_code.get(&code).is_some_and(|count| *count >= WARNINGS_PER_CODE),
        }
    }

    /// The diagnostics that are kept.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The diagnostics that are kept, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        self.list.iter_mut()
    }

    /// How many diagnostics were only counted.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }

    /// How many warnings of each code were only counted.
    pub(crate) fn suppressed_warnings(&self) -> impl Iterator<Item = (Code, usize)> {
        self.counted.iter().map(|(code, count)| (*code, *count))
    }

    /// How many diagnostics are kept.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Appends the diagnostics of a later stage.
    pub fn extend(&mut self, other: Diagnostics) {
        self.suppressed += other.suppressed;
        for (code, count) in other.counted {
            *self.counted.entry(code).or_default() += count;
        }
        for diagnostic in other.list {
            self.report(diagnostic);
        }
    }

    /// Appends the diagnostics of a later stage and returns its result, if there is one.
    pub(crate) fn take<T>(&mut self, stage: Result<(T, Diagnostics), Diagnostics>) -> Option<T> {
        let (result, found) = match stage {
            Ok((result, found)) => (Some(result), found),
            Err(found) => (None, found),
        };
        self.extend(found);
        result
    }

    /// The diagnostics that are kept, sorted by file and position, without duplicates.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| (d.at.file, d.at.span.start, d.at.span.end, d.code));
        self.list.dedup();
        self.list
    }
}

/// A line for each diagnostic.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            write!(f, "{}{diagnostic}", if i > 0 { "\n" } else { "" })?;
        }
        match (self.list.is_empty(), self.suppressed) {
            (false, 0) => Ok(()),
            (true, 0) => f.write_str("nothing was found wrong"),
            (_, count) => write!(f, "\n({count} more not shown)"),
        }
    }
}

impl Error for Diagnostics {}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}
