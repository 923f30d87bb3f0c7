//! `nnef-flatten run`: the values of a network's outputs.

use std::path::Path;

use super::args::{From, Language, Output, To};
use super::report::Reporter;
use super::{Failure, Outcome, loops};

/// Evaluates one network; which notation it is in decides how.
pub fn run(
    input: &Path,
    inputs: Option<&Path>,
    language: &Language,
    output: &Output,
    reporter: &mut Reporter,
) -> Outcome {
    if output.to.is_some_and(|to| to != To::Json) {
        return Err(Failure::Message("values are written as JSON: --to json".to_owned()));
    }
    match language.from {
        Some(From::Loops) => loops::run(input, inputs, language, output, reporter),
        _ => Err(Failure::Message("only networks with loops are evaluated: --from loops".to_owned())),
    }
}
