//! Predication: a loop whose condition is a tensor is expanded into as many trips as its limit
//! allows. A trip is active if the conditions of all trips up to it hold, and `select` chooses
//! between the values of an active trip and those before it.

/// What the condition of a loop says before a trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The trip is made, perhaps only if a predicate holds.
    GoesOn,
    /// The loop is over.
    Ends,
    /// It depends on run-time data, and nothing bounds the trips.
    Unbounded,
}

/// An expansion that makes operations for the trips of a loop.
pub(crate) trait Predicated {
    /// Values that trips compute.
    type Value: Clone;
    /// Why an operation could not be made.
    type Failure;

    /// The logical value, if it is known while expanding.
    fn truth(&self, value: &Self::Value) -> Option<bool>;

    /// Whether two values are known to be the same.
    fn same(&self, a: &Self::Value, b: &Self::Value) -> bool;

    /// Makes an operation on tensors.
    fn emit(&mut self, operation: &'static str, operands: &[&Self::Value]) -> Result<Self::Value, Self::Failure>;

    /// The conjunction of two conditions.
    fn both(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Failure> {
        match (self.truth(a), self.truth(b)) {
            (Some(true), _) | (_, Some(false)) => Ok(b.clone()),
            (Some(false), _) | (_, Some(true)) => Ok(a.clone()),
            (None, None) => self.emit("and", &[a, b]),
        }
    }

    /// Tests a condition. Where it is not known, `active` becomes the predicate of the trip: that all
    /// conditions so far held.
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

    /// The new value where a condition holds, else the old one.
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
