//! The calls of fragments that enclose the location of a diagnostic.

use super::diagnostic::{Diagnostic, TraceFrame};
use crate::source::Location;

/// The number of calls that are reported from each end of a long chain.
const TOLD: usize = 8;

/// Adds a chain of `depth` nested calls: `frame` returns the fragment and the location of each, where
/// number 0 is the innermost. The middle of a long chain is omitted.
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
