//! The subcommand: describes, evaluates or converts an expression, or fuses a document.

use std::path::Path;

use super::asked::Asked;
use super::fuse;
use crate::Diagnostics;
use crate::cli::args::{self, ExprTo, Language};
use crate::cli::outcome::{RunResult, Status};
use crate::cli::report::Reporter;
use crate::cli::{io, options};

/// Describes, evaluates or converts an expression, or fuses a document.
pub(crate) fn run(arguments: &args::Expr, mut language: Language, reporter: &mut Reporter) -> RunResult {
    if arguments.fuse {
        let input = arguments.text.as_ref().or(arguments.literal.as_ref()).map_or("-", String::as_str);
        return fuse::run(Path::new(input), arguments, &language, reporter);
    }
    language.asked.output = options::name(&arguments.to.unwrap_or(ExprTo::Text));
    language.usable(None)?;
    let asked = Asked::read(arguments, &language)?;
    let mut found = Diagnostics::new(language.strict);
    let answer = asked.answer(arguments, &mut found);
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&asked.sources, found).errors == 0;
    reporter.summary();
    match answer.filter(|_| accepted) {
        Some(answer) => {
            io::write_stdout(language.limits.output(), &mut |out| out.write_all(&answer)).map(|()| Status::Done)
        }
        None => Ok(Status::Refused),
    }
}
