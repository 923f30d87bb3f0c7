//! What bodies of standard operators depend on.

/// What bodies depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BodyNeeds {
    Nothing,
    /// Types of the elements of operands.
    Elements,
    /// Types and shapes of operands.
    Types,
}
