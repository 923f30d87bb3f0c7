//! Diagnostics as text: the source lines with labels, followed by the enclosing calls.

mod calls;
mod excerpt;
mod heading;
mod human;
mod line;
mod report;
#[cfg(test)]
mod tests;

pub(crate) use line::{line, summary};
