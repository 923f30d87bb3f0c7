//! `nnef-flatten lsp`: a language server on standard input and output.

use super::args::Language;
use super::io;
use super::outcome::{Failure, RunResult, Status};
use crate::Options;
use crate::lsp::{Ended, serve};

use super::inputs::libraries;

/// Serves an editor until it ends the session.
pub(crate) fn run(language: &Language) -> RunResult {
    language.usable(None)?;
    // An editor shows any text, and asks about it with each key that is pressed.
    let limits = language.limits.clone().or_untrusted();
    let options = Options { strict: language.strict, ..limits.options() };
    let options = Options { libraries: libraries(language, options.max_text)?, ..options };
    match serve(options) {
        Ok(Ended::Done) => Ok(Status::Done),
        Ok(Ended::Early) => Ok(Status::Refused),
        Ok(Ended::Closed) => {
            Err(Failure::Message("the editor has ended without the requests that end a session".to_owned()))
        }
        Err(error) => Err(io::failure("the session", &error)),
    }
}
