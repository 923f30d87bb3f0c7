//! A diagnostic on one line, and the sentence that ends a run.

use super::heading::{Paint, place, write_heading};
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::visible::clean;
use crate::source::Sources;

/// The diagnostic on one line, with its location.
pub(crate) fn line(diagnostic: &Diagnostic, sources: &Sources, color: bool) -> String {
    let mut heading = Vec::new();
    // Writing to memory does not fail.
    let _ = write_heading(&mut heading, diagnostic, Paint { color });
    let heading = String::from_utf8_lossy(&heading);
    let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!("; {}", clean(help)));
    format!("{}, at {}{help}", heading.trim_end(), place(sources, diagnostic.at))
}

/// The sentence that ends a run: `2 errors, 3 warnings (5 more not shown)`; `None` if all numbers are 0.
pub(crate) fn summary(errors: usize, warnings: usize, suppressed: usize) -> Option<String> {
    let counted = |count: usize, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{plural}"))
    };
    let mut text = match (counted(errors, "error"), counted(warnings, "warning")) {
        (Some(errors), Some(warnings)) => format!("{errors}, {warnings}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) if suppressed == 0 => return None,
        (None, None) => return Some(format!("{suppressed} not shown")),
    };
    if suppressed > 0 {
        text.push_str(&format!(" ({suppressed} more not shown)"));
    }
    Some(text)
}
