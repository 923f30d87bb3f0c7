//! Messages: how findings and failures are written, and where.

mod github;
mod reporter;
mod sarif;
mod short;
mod sink;

pub(crate) use reporter::{Counts, Reporter, Verdict};
pub(crate) use sink::Messages;
