//! `--verify`: evaluates source and flat graph on the same inputs.

use crate::Graph;
use crate::input::model_run;
use crate::input::settings::Settings;
use crate::input::source::{Backing, Verified};
use crate::onnx::Document;
use crate::source::Sources;
use serde_json::json;

use super::args::{Language, Verification};
use super::outcome::Failure;
use super::report::Reporter;
use super::request::Request;
use super::tensors;

/// Compares a flat graph with its source. Returns whether they agree; a difference is reported.
pub(super) fn run(
    backing: &dyn Backing,
    graph: &Graph,
    request: &Request,
    reporter: &mut Reporter,
) -> Result<bool, Failure> {
    let verification = request.verification;
    let read = |path| tensors::read(path, graph, &request.language.limits);
    let given = verification.inputs.as_deref().map(read).transpose();
    let seed = verification.seed.unwrap_or(0);
    let compared = given.and_then(|given| {
        let given = given.unwrap_or_default();
        Ok(backing.verify(graph, (&given, seed), request.settings)?)
    });
    match compared {
        Ok(Verified::Equal(items, largest)) => tell(items, largest, reporter),
        Ok(Verified::Nothing(why)) => tell_nothing(&why, reporter),
        Err(Failure::Refused(found)) => {
            reporter.all(&found.sources, found.diagnostics);
            reporter.summary();
            return Ok(false);
        }
        Err(failure) => return Err(failure),
    }
    Ok(true)
}

/// Compares a flat model of ONNX with its source. Returns whether they agree; a difference is reported.
pub(super) fn model(
    [source, flat]: [&Document; 2],
    sources: &Sources,
    (language, verification, settings): (&Language, &Verification, &Settings),
    reporter: &mut Reporter,
) -> Result<bool, Failure> {
    let read = |path| tensors::read_model(path, &source.inputs(), &language.limits);
    let given = verification.inputs.as_deref().map(read).transpose()?.unwrap_or_default();
    let inputs = model_run::random_inputs(source, (&given, verification.seed.unwrap_or(0)), settings);
    match inputs.and_then(|inputs| model_run::compare([source, flat], &inputs, settings)) {
        Ok((items, largest)) => {
            tell(items, largest, reporter);
            Ok(true)
        }
        Err(found) => {
            reporter.one(sources, &found);
            reporter.summary();
            Ok(false)
        }
    }
}

/// Reports that a source and a flat graph agree; for programs as an object.
fn tell(items: usize, largest: f64, reporter: &mut Reporter) {
    let shown = if largest == 0.0 { "0".to_owned() } else { format!("{largest:e}") };
    let text = format!("verified: {items} items of the outputs, the largest difference is {shown}");
    reporter.result(&text, &json!({ "verify": { "verified": true, "items": items, "largest_difference": largest } }));
}

/// Reports that a comparison says nothing on these inputs, and why.
fn tell_nothing(why: &str, reporter: &mut Reporter) {
    reporter.result(&format!("not verified: {why}"), &json!({ "verify": { "verified": false, "reason": why } }));
}
