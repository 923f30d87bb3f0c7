//! `--verify`: evaluates source and flat graph on the same inputs.

use crate::diagnostics::{Code, Diagnostic};
use crate::eval::Evaluator;
use crate::source::Location;
use crate::{Dialect, Document, Graph, Lower, Options};
use serde_json::json;

use super::args::{Language, Verification};
use super::models::{self, Origin};
use super::report::Reporter;
use super::{Failure, flatten, tensors};

/// The largest difference that rounding explains: the order of additions may differ.
const TOLERANCE: f64 = 1e-9;

/// Compares a flat graph with its source, which is expanded to primitives. Returns whether they agree.
pub(crate) fn verify(
    origin: &Origin,
    document: &Document,
    graph: &Graph,
    language: &Language,
    verification: &Verification,
    reporter: &mut Reporter,
) -> Result<bool, Failure> {
    let seed = verification.seed.unwrap_or(0);
    let read = |path| tensors::read(path, graph, &language.limits);
    let given = match verification.inputs.as_deref().map(read).transpose() {
        Ok(given) => given.unwrap_or_default(),
        Err(unread) => return flatten::report_unread(unread, reporter).map(|_| false),
    };
    // The specification's bodies of these two operations are invalid for all operands, so the evaluator has
    // kernels for them. The draft does not have these operations.
    let of_dialect = document.dialect() == Dialect::V1;
    let keep = ["avg_roi_align", "max_roi_align"].into_iter().filter(|_| of_dialect).map(str::to_owned).collect();
    let options = flatten::options(language);
    let options = Options { lower: Lower::All, keep, unroll: false, expand_loops: true, flat: false, ..options };
    let source = match crate::expand(document, &options) {
        Ok(expansion) => expansion.graph,
        Err(errors) => {
            reporter.all(document.sources(), errors);
            reporter.summary();
            return Ok(false);
        }
    };
    let data = match models::data(origin, &[&source, graph], &language.limits) {
        Ok(data) => data,
        Err(unread) => return flatten::report_unread(unread, reporter).map(|_| false),
    };
    let limits = language.limits.evaluation_of(data.as_deref());
    let evaluator = Evaluator::with_limits(limits).random_variables(seed);
    let found = source
        .random_inputs_within(limits, &given, seed)
        .map_err(|error| Box::new(error.diagnostic(&source)))
        .and_then(|inputs| evaluator.compare([&source, graph], &inputs, &*tensors::variables(data.as_deref())));
    let problem = match found {
        Ok(difference) if difference.largest <= TOLERANCE => {
            let (items, largest) = (difference.items, difference.largest);
            tell(items, largest, reporter);
            return Ok(true);
        }
        Ok(difference) => {
            let (output, largest) = (difference.output, difference.largest);
            let message = format!("output `{output}` differs by {largest:e} from what the source computes");
            let at = Location { file: document.main().file, ..Location::default() };
            Diagnostic::new(Code::VerifyDifference, at, message)
        }
        Err(diagnostic) => *diagnostic,
    };
    reporter.one(document.sources(), &problem);
    reporter.summary();
    Ok(false)
}

/// Reports that a source and a flat graph agree; for programs as an object.
pub(crate) fn tell(items: usize, largest: f64, reporter: &mut Reporter) {
    let shown = if largest == 0.0 { "0".to_owned() } else { format!("{largest:e}") };
    let text = format!("verified: {items} items of the outputs, the largest difference is {shown}");
    reporter.result(&text, &json!({ "verify": { "verified": true, "items": items, "largest_difference": largest } }));
}

/// Reports that a comparison says nothing on these inputs, and why.
pub(crate) fn tell_nothing(why: &str, reporter: &mut Reporter) {
    reporter.result(&format!("not verified: {why}"), &json!({ "verify": { "verified": false, "reason": why } }));
}
