//! Predication: if the condition of a loop is a tensor, all trips up to the limit are expanded. A trip is
//! active if the conditions of all trips up to it hold; `select` chooses between the values of an active trip
//! and the values before it.

/// The effect of the condition of a loop on the next trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The trip is expanded; it may have a predicate.
    GoesOn,
    /// The loop is over.
    Ends,
    /// The condition depends on run-time data, and there is no trip limit.
    Unbounded,
}

/// An expansion that adds operations for the trips of a loop.
pub(crate) trait Predicated {
    /// The values of trips.
    type Value: Clone;
    /// The error of adding an operation.
    type Failure;

    /// The value of a logical that is known while expanding.
    fn truth(&self, value: &Self::Value) -> Option<bool>;

    /// Whether two values are known to be equal.
    fn same(&self, a: &Self::Value, b: &Self::Value) -> bool;

    /// Adds an operation on tensors.
    fn emit(&mut self, operation: &'static str, operands: &[&Self::Value]) -> Result<Self::Value, Self::Failure>;

    /// The conjunction of two conditions.
    fn both(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Failure> {
        match (self.truth(a), self.truth(b)) {
            (Some(true), _) | (_, Some(false)) => Ok(b.clone()),
            (Some(false), _) | (_, Some(true)) => Ok(a.clone()),
            (None, None) => self.emit("and", &[a, b]),
        }
    }

    /// Tests a condition. If its value is not known, `active` becomes the predicate of the trip: the
    /// conjunction of all unknown conditions so far.
    fn test(
        &mut self,
        condition: &Self::Value,
        active: &mut Option<Self::Value>,
        bounded: bool,
    ) -> Result<Verdict, Self::Failure> {
        match self.truth(condition) {
            Some(true) => return Ok(Verdict::GoesOn),
            Some(false) => return Ok(Verdict::Ends),
            None if !bounded => return Ok(Verdict::Unbounded),
            None => {}
        }
        *active = Some(match active.take() {
            Some(before) => self.both(&before, condition)?,
            None => condition.clone(),
        });
        Ok(Verdict::GoesOn)
    }

    /// The new value if `active` holds, otherwise the old one.
    fn choose(
        &mut self,
        active: &Self::Value,
        new: &Self::Value,
        old: &Self::Value,
    ) -> Result<Self::Value, Self::Failure> {
        match self.truth(active) {
            _ if self.same(new, old) => Ok(old.clone()),
            Some(known) => Ok(if known { new.clone() } else { old.clone() }),
            None => self.emit("select", &[active, new, old]),
        }
    }
}
