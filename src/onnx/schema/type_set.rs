//! Types of values, and sets of them.

/// A type of values, such as `tensor(float)`, as its number in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TypeId(pub(super) u8);

/// A set of types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeSet(pub(super) u128);

impl TypeSet {
    pub(crate) fn has(self, of: TypeId) -> bool {
        self.0 >> of.0 & 1 == 1
    }

    /// The type, if the set has exactly one.
    pub(crate) fn single(self) -> Option<TypeId> {
        self.0.is_power_of_two().then(|| TypeId(self.0.trailing_zeros() as u8))
    }
}
