//! Diagnostics as data: what is wrong, where, why, and through which calls it was reached.
//!
//! Stages report into one [`Diagnostics`] list; text and colour are added only when the list is
//! rendered ([`Diagnostic::write_human`], behind the feature `render`) or written as JSON ([`Diagnostic::write_json`]).

mod codes;
pub(crate) mod json;
#[cfg(feature = "render")]
pub(crate) mod render;
pub(crate) mod suggest;
pub(crate) mod trace;

use rustc_hash::FxHashMap;

use crate::source::Location;
pub use codes::Code;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The document is accepted all the same.
    Warning,
    /// The document is refused.
    Error,
}

/// A remark at a second place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The place.
    pub at: Location,
    /// The remark.
    pub message: String,
}

/// One call on the way from the graph to the place of an error, innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceFrame {
    /// The fragment that was called.
    pub fragment: String,
    /// The call.
    pub at: Location,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The sentence that heads it.
    pub message: String,
    /// The place that is wrong.
    pub at: Location,
    /// What to say right at that place; the message suffices when absent.
    pub label: Option<String>,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// What to do about it, where that is certain.
    pub help: Option<String>,
    /// The calls through which it was reached, innermost first.
    pub expansion: Vec<TraceFrame>,
    /// How many further calls were left out of the middle of [`Diagnostic::expansion`], and
    /// before which of its frames.
    pub elided: Option<(usize, usize)>,
}

impl Diagnostic {
    /// A finding with the default severity of its code.
    pub(crate) fn new(code: Code, at: Location, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.severity(false),
            message: message.into(),
            at,
            label: None,
            labels: Vec::new(),
            help: None,
            expansion: Vec::new(),
            elided: None,
        }
    }

    /// Says something right at the place.
    pub(crate) fn label(mut self, message: impl Into<String>) -> Self {
        self.label = Some(message.into());
        self
    }

    /// Points at another place.
    pub(crate) fn see(mut self, at: Location, message: impl Into<String>) -> Self {
        self.labels.push(Label { at, message: message.into() });
        self
    }

    /// Says what to do.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do, if something is known.
    pub(crate) fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Whether the document is refused for it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The most warnings kept of one code; the rest is counted.
const WARNINGS_PER_CODE: u32 = 20;
/// The most errors kept; the rest is counted.
const MAX_ERRORS: usize = 200;

/// The findings of a run, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    strict: bool,
    list: Vec<Diagnostic>,
    per_code: FxHashMap<Code, u32>,
    errors: usize,
    suppressed: usize,
}

impl Diagnostics {
    /// An empty list; `strict` makes errors of what the default mode tolerates.
    pub fn new(strict: bool) -> Self {
        Diagnostics { strict, ..Self::default() }
    }

    /// Whether tolerated deviations are errors.
    pub(crate) fn strict(&self) -> bool {
        self.strict
    }

    /// Adds a finding with the severity that its code has in this mode. Findings past a limit
    /// are only counted, so that memory stays bounded; errors still refuse the document.
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

    /// Whether another finding of a code is only counted, so that nothing need be said about it.
    pub(crate) fn only_counts(&self, code: Code) -> bool {
        match code.severity(self.strict) {
            Severity::Error => self.errors >= MAX_ERRORS,
            _ => self.per_code.get(&code).is_some_and(|count| *count >= WARNINGS_PER_CODE),
        }
    }

    /// The findings kept.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// How many findings were only counted.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }

    /// How many findings are kept.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Appends the findings of a later stage.
    pub fn extend(&mut self, other: Diagnostics) {
        self.suppressed += other.suppressed;
        for diagnostic in other.list {
            self.report(diagnostic);
        }
    }

    /// The findings kept, sorted by file and position, equal ones once.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| (d.at.file, d.at.span.start, d.at.span.end, d.code));
        self.list.dedup();
        self.list
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}
