//! The nested calls of fragments around the place of a diagnostic.

use super::{Diagnostic, TraceFrame};
use crate::source::Location;

/// How many calls are shown from each end of a long chain.
const TOLD: usize = 8;

/// Adds a chain of `depth` nested calls: `frame` gives the fragment and the place of each, and the
/// innermost is number 0. The middle of a long chain is omitted.
pub(crate) fn attach(diagnostic: &mut Diagnostic, depth: usize, frame: impl Fn(usize) -> (String, Location)) {
    let tell = |i| {
        let (fragment, at) = frame(i);
        TraceFrame { fragment, at }
    };
    if depth <= 2 * TOLD {
        diagnostic.expansion = (0..depth).map(tell).collect();
        return;
    }
    diagnostic.expansion = (0..TOLD).chain(depth - TOLD..depth).map(tell).collect();
    diagnostic.elided = Some((depth - 2 * TOLD, TOLD));
}
