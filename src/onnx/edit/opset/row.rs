//! A row of the table of changes.

use super::step::{OpsetStep, Stepped};

/// What takes a node over a change, in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Crossing {
    /// What follows from the difference of the schemas: attributes with their defaults, operands that may be omitted, and
    /// types.
    BySchemas,
    /// A function, and what follows from the difference of the schemas then.
    By(fn(&mut OpsetStep) -> Stepped),
    /// Nothing: why.
    None(&'static str),
}

/// A version in which operators changed in more than their schemas tell, or in what has to be said otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpsetRow {
    pub(super) operators: &'static [&'static str],
    /// The first version of the operator set with the change.
    pub(super) version: i64,
    /// What changed.
    pub(super) change: &'static str,
    /// From the version before it to this one, and back.
    pub(super) up: Crossing,
    pub(super) down: Crossing,
}

pub(super) const fn row(operators: &'static [&'static str], version: i64, change: &'static str) -> OpsetRow {
    OpsetRow { operators, version, change, up: Crossing::BySchemas, down: Crossing::BySchemas }
}

impl OpsetRow {
    pub(super) const fn up(self, function: fn(&mut OpsetStep) -> Stepped) -> Self {
        OpsetRow { up: Crossing::By(function), ..self }
    }

    pub(super) const fn down(self, function: fn(&mut OpsetStep) -> Stepped) -> Self {
        OpsetRow { down: Crossing::By(function), ..self }
    }

    pub(super) const fn not_up(self, reason: &'static str) -> Self {
        OpsetRow { up: Crossing::None(reason), ..self }
    }

    pub(super) const fn not_down(self, reason: &'static str) -> Self {
        OpsetRow { down: Crossing::None(reason), ..self }
    }
}
