//! `check --fix`: documents are changed where the solution of a finding is certain.

use std::path::Path;

use crate::diagnostics::Fix;
use crate::input::Findings;
use crate::source::without_mark;

use super::args::Language;
use super::check::{self, ReadInput};
use super::outcome::Failure;
use super::{io, models};

/// The most rounds: a fix can make room for others, such as a directive for what it enables.
const ROUNDS: usize = 16;

/// Applies the certain fixes of a document, and writes it if its findings are not more serious then. Returns the number
/// of fixes; 0 for inputs that are not documents.
///
/// # Errors
///
/// The input cannot be read or written.
pub(super) fn apply(path: &Path, language: &Language) -> Result<usize, Failure> {
    if io::is_stream(path) {
        let message = "--fix changes files: it needs the name of a file instead of standard input";
        return Err(Failure::Message(message.to_owned()));
    }
    let language = Language { all_findings: true, ..language.clone() };
    let mut changed: Option<Changed> = None;
    for _ in 0..ROUNDS {
        let Some((text, found)) = findings(path, changed.as_ref(), &language)? else { return Ok(0) };
        if let Some(changed) = &mut changed {
            if found.errors > changed.errors {
                // The fixes of the last round are not what was meant.
                changed.undo();
                break;
            }
            changed.errors = found.errors;
        }
        let (next, count) = fixed(&text, found.fixes);
        if count == 0 {
            break;
        }
        let (before, total, errors) = match changed.take() {
            Some(changed) => (Some((changed.text, changed.count)), changed.count + count, changed.errors),
            None => (None, count, found.errors),
        };
        changed = Some(Changed { text: next, count: total, errors, before });
    }
    let Some(Changed { text, count, .. }) = changed.filter(|changed| changed.count > 0) else { return Ok(0) };
    let ReadInput { mut source, .. } = check::read(path, &language, |_| {})?;
    let Some(written) = source.document() else { return Ok(0) };
    models::write_document(path, &written.origin, &text, language.limits.output())?;
    Ok(count)
}

/// A document that was changed.
struct Changed {
    text: String,
    /// The number of fixes.
    count: usize,
    /// The number of errors that are left.
    errors: usize,
    /// The text and the number of fixes before the last round.
    before: Option<(String, usize)>,
}

impl Changed {
    fn undo(&mut self) {
        (self.text, self.count) = self.before.take().unwrap_or_default();
    }
}

/// What is found in a document.
struct Found {
    errors: usize,
    /// The certain fixes of its own text.
    fixes: Vec<Fix>,
}

/// Checks a document, with another text if one is given. Returns its text and what is found; none for an input that is
/// not a document.
fn findings(path: &Path, changed: Option<&Changed>, language: &Language) -> Result<Option<(String, Found)>, Failure> {
    let mut read = check::read(path, language, |_| {})?;
    let Some(written) = read.source.document() else { return Ok(None) };
    if let Some(changed) = changed {
        written.text.text.clone_from(&changed.text);
    }
    let (name, text) = (written.text.name.clone(), written.text.text.clone());
    let Findings { sources, diagnostics, .. } = match read.check() {
        Err(Failure::Refused(found)) => *found,
        checked => checked?,
    };
    let all = diagnostics.into_sorted();
    let errors = all.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let own = all.into_iter().filter(|diagnostic| sources.name(diagnostic.at.file) == name);
    let fixes = own.filter_map(|diagnostic| diagnostic.fix).filter(|fix| fix.certain).collect();
    Ok(Some((text, Found { errors, fixes })))
}

/// A text with fixes, in one pass. Of those that overlap, the first one is applied, and of equal ones one. Returns the
/// number of those that are applied.
fn fixed(text: &str, mut fixes: Vec<Fix>) -> (String, usize) {
    let bare = without_mark(text);
    let mark = &text[..text.len() - bare.len()];
    fixes.sort_by(|a, b| (a.span, &a.replacement).cmp(&(b.span, &b.replacement)));
    fixes.dedup();
    let (mut out, mut end, mut count) = (mark.to_owned(), 0, 0);
    for fix in fixes {
        let range = fix.span.range();
        let Some(between) = bare.get(end..range.start).filter(|_| bare.get(range.clone()).is_some()) else { continue };
        out.push_str(between);
        out.push_str(&fix.replacement);
        (end, count) = (range.end, count + 1);
    }
    out.push_str(bare.get(end..).unwrap_or_default());
    (out, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn fix(start: u32, end: u32, replacement: &str) -> Fix {
        let diagnostic = crate::Diagnostic::new(crate::diagnostics::Code::BadNumber, Default::default(), "");
        diagnostic.fix(Span::new(start, end), replacement).fix.unwrap()
    }

    #[test]
    fn fixes_are_applied_in_one_pass() {
        let fixes = vec![fix(4, 5, "D"), fix(0, 1, "A"), fix(4, 6, "overlaps"), fix(2, 2, "+"), fix(2, 2, "+")];
        assert_eq!(fixed("abcdef", fixes), ("Ab+cdDf".to_owned(), 3));
        assert_eq!(fixed("\u{feff}ab", vec![fix(1, 2, "é")]), ("\u{feff}aé".to_owned(), 1));
        assert_eq!(fixed("aé", vec![fix(2, 2, "x"), fix(9, 9, "y")]), ("aé".to_owned(), 0), "not in a character");
    }
}
