//! The subcommand: answers the questions about a shape, or lists the shapes in a text.

use super::dump::listing;
use super::questions::ask;
use crate::cli::args::{self, Language, LayoutTo};
use crate::cli::outcome::{RunResult, Status};
use crate::cli::report::Reporter;
use crate::cli::{io, options};
use crate::source::Sources;

/// Answers the questions about a shape, or lists the shapes in a text.
pub(crate) fn run(arguments: &args::Layout, mut language: Language, reporter: &mut Reporter) -> RunResult {
    language.asked.output = options::name(&arguments.to.unwrap_or(LayoutTo::Text));
    language.usable(None)?;
    let limits = &language.limits;
    let text = match (&arguments.shape, &arguments.text) {
        (Some(shape), None) if shape != "-" => shape,
        (None, Some(text)) => text,
        _ => return listing(arguments, limits, reporter),
    };
    let mut sources = Sources::new();
    match ask(arguments, text, &mut sources).and_then(|asked| asked.answer(arguments.to, limits)) {
        Ok(answer) => io::write_stdout(limits.output(), &mut |out| out.write_all(&answer)).map(|()| Status::Done),
        Err(found) => {
            reporter.all(&sources, found);
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}
