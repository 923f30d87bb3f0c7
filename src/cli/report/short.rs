//! A finding on a line that begins with its place, as compilers write them.

use std::io::{self, Write};

use crate::diagnostics::json::Located;
use crate::diagnostics::visible::clean;
use crate::diagnostics::{Code, Diagnostic};

/// `file:line:column: error[E0401 A1]: message; help`, without line and column for a file that has none.
pub(super) fn write(out: &mut (impl Write + ?Sized), located: &Located, diagnostic: &Diagnostic) -> io::Result<()> {
    let file = located.sources.file(diagnostic.at.file);
    write!(out, "{}:", clean(file.name()))?;
    if !file.is_binary() {
        let start = located.places.start(diagnostic.at);
        write!(out, "{}:{}:", start.line, start.column)?;
    }
    let (word, id) = (diagnostic.severity.word(), id(diagnostic.code));
    writeln!(out, " {word}[{id}]: {}", with_help(diagnostic))
}

/// A code with its rule.
pub(super) fn id(code: Code) -> String {
    let rule = code.rule().map(|rule| format!(" {rule}")).unwrap_or_default();
    format!("{}{rule}", code.as_str())
}

/// Message and help on one line.
pub(super) fn with_help(diagnostic: &Diagnostic) -> String {
    let help = diagnostic.help.as_ref().map(|help| format!("; {}", clean(help))).unwrap_or_default();
    format!("{}{help}", clean(&diagnostic.message))
}
