//! `--verify`: evaluates source and flat graph on the same inputs.

use crate::Graph;
use crate::input::source::{Backing, Verified};
use serde_json::json;

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
