//! The walk over the trips of a loop: in each one its body gets the states and gives those of the next trip, and values that
//! are collected. What a value is, and what happens where only the run tells whether a trip takes place, is a
//! [`TripDomain`]: numbers, types, nodes of a model, operations of a graph.

/// What is known of the condition of a loop.
#[derive(Clone, Debug)]
pub(crate) enum Condition<V> {
    /// Whether the next trip takes place.
    Known(bool),
    /// The value that tells it when the loop runs.
    Open(V),
}

/// What the body of a loop gives in a trip.
pub(crate) struct TripResults<V> {
    /// The condition of the next trip.
    pub(crate) condition: Condition<V>,
    pub(crate) states: Vec<V>,
    /// The values that are collected.
    pub(crate) items: Vec<V>,
}

impl<V> TripResults<V> {
    /// The results behind the condition: first the states, of which there are so many.
    pub(crate) fn new(condition: Condition<V>, mut results: Vec<V>, states: usize) -> Self {
        let items = results.split_off(states.min(results.len()));
        TripResults { condition, states: results, items }
    }
}

/// A choice between the values of a trip and those before it.
pub(crate) struct TripChoice<'c, V> {
    /// What tells whether the trip takes place.
    pub(crate) active: &'c V,
    /// The number of the state.
    pub(crate) state: usize,
    pub(crate) new: V,
    pub(crate) old: V,
}

/// What the trips of a loop do.
pub(crate) trait TripDomain {
    type Value: Clone;
    type Failure;

    /// Begins a trip that takes place if `active` holds, where that is not known. Returns what it depends on then.
    fn begin(&mut self, trip: i64, active: Option<Self::Value>) -> Result<Option<Self::Value>, Self::Failure>;

    /// Runs the body on the states.
    fn body(&mut self, trip: i64, states: Vec<Self::Value>) -> Result<TripResults<Self::Value>, Self::Failure>;

    /// Takes the items of a trip.
    fn collect(&mut self, items: Vec<Self::Value>, active: Option<&Self::Value>) -> Result<(), Self::Failure>;

    /// The new value of a state if a trip takes place, else the old one. Where all conditions are known there is no choice.
    fn choose(&mut self, choice: TripChoice<Self::Value>) -> Result<Self::Value, Self::Failure> {
        Ok(choice.new)
    }

    /// The condition of a trip after those before it.
    fn both(&mut self, _: Option<Self::Value>, more: Self::Value) -> Result<Self::Value, Self::Failure> {
        Ok(more)
    }

    /// Whether another trip would change nothing; it may change the states after a trip.
    fn is_settled(&mut self, _: i64, _: &mut [Self::Value], _: &[Self::Value]) -> bool {
        false
    }
}

/// Where a loop begins.
pub(crate) struct LoopStart<V> {
    /// The most trips, if they are bounded.
    pub(crate) most: Option<i64>,
    pub(crate) condition: Condition<V>,
    pub(crate) states: Vec<V>,
}

impl<V> LoopStart<V> {
    /// The start of a loop with so many trips.
    pub(crate) fn counted(trips: i64, states: Vec<V>) -> Self {
        LoopStart { most: Some(trips), condition: Condition::Known(true), states }
    }
}

/// Runs the trips of a loop. Returns the states after the last one.
///
/// # Errors
///
/// The first failure of the domain.
pub(crate) fn walk<D: TripDomain>(domain: &mut D, start: LoopStart<D::Value>) -> Result<Vec<D::Value>, D::Failure> {
    let LoopStart { most, mut condition, mut states } = start;
    let mut trip = 0;
    while most.is_none_or(|most| trip < most) {
        let active = match condition {
            Condition::Known(false) => break,
            Condition::Known(true) => None,
            Condition::Open(active) => Some(active),
        };
        let active = domain.begin(trip, active)?;
        let before = active.as_ref().map(|_| states.clone());
        let results = domain.body(trip, states)?;
        domain.collect(results.items, active.as_ref())?;
        states = results.states;
        if let (Some(before), Some(active)) = (before, &active) {
            let pairs = states.into_iter().zip(before.iter().cloned()).enumerate();
            let chosen = pairs.map(|(state, (new, old))| domain.choose(TripChoice { active, state, new, old }));
            states = chosen.collect::<Result<_, _>>()?;
            if domain.is_settled(trip, &mut states, &before) {
                break;
            }
        }
        condition = match (results.condition, active) {
            (Condition::Known(true), Some(active)) => Condition::Open(active),
            (Condition::Open(more), active) => Condition::Open(domain.both(active, more)?),
            (known, _) => known,
        };
        trip += 1;
    }
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::{Condition, LoopStart, TripChoice, TripDomain, TripResults, walk};

    /// Formulas as texts: what is known only at run time has a name.
    #[derive(Default)]
    struct Texts {
        /// The conditions behind each trip: known ones are `true` and `false`.
        conditions: Vec<&'static str>,
        collected: Vec<String>,
    }

    impl TripDomain for Texts {
        type Value = String;
        type Failure = String;

        fn begin(&mut self, _: i64, active: Option<String>) -> Result<Option<String>, String> {
            Ok(active)
        }

        fn body(&mut self, trip: i64, states: Vec<String>) -> Result<TripResults<String>, String> {
            let condition = self.conditions.get(trip as usize).ok_or("endless")?;
            let condition = match condition.parse() {
                Ok(known) => Condition::Known(known),
                Err(_) => Condition::Open((*condition).to_owned()),
            };
            let state = format!("f({})", states.join(","));
            Ok(TripResults::new(condition, vec![state, format!("g{trip}")], 1))
        }

        fn collect(&mut self, items: Vec<String>, active: Option<&String>) -> Result<(), String> {
            let of = active.map_or(String::new(), |active| format!(" if {active}"));
            self.collected.extend(items.iter().map(|item| format!("{item}{of}")));
            Ok(())
        }

        fn choose(&mut self, of: TripChoice<String>) -> Result<String, String> {
            Ok(format!("{}?{}:{}", of.active, of.new, of.old))
        }

        fn both(&mut self, active: Option<String>, more: String) -> Result<String, String> {
            Ok(active.map_or(more.clone(), |active| format!("{active}&{more}")))
        }
    }

    fn walked(
        most: Option<i64>,
        first: &str,
        conditions: &[&'static str],
    ) -> (Result<Vec<String>, String>, Vec<String>) {
        let mut texts = Texts { conditions: conditions.to_vec(), ..Texts::default() };
        let condition = first.parse().map_or_else(|_| Condition::Open(first.to_owned()), Condition::Known);
        let states = walk(&mut texts, LoopStart { most, condition, states: vec!["s".to_owned()] });
        (states, texts.collected)
    }

    #[test]
    fn known_conditions_end_a_loop() {
        let (states, collected) = walked(None, "true", &["true", "false"]);
        assert_eq!((states.unwrap(), collected), (vec!["f(f(s))".to_owned()], vec!["g0".to_owned(), "g1".to_owned()]));
        assert_eq!(walked(Some(1), "true", &["true", "true"]).0.unwrap(), ["f(s)"]);
        assert_eq!(walked(None, "false", &[]).0.unwrap(), ["s"]);
        assert_eq!(walked(None, "true", &["true"]).0.unwrap_err(), "endless");
    }

    #[test]
    fn open_conditions_choose() {
        let (states, collected) = walked(Some(3), "a", &["true", "b", "true"]);
        assert_eq!(states.unwrap(), ["a&b?f(a?f(a?f(s):s):a?f(s):s):a?f(a?f(s):s):a?f(s):s"]);
        assert_eq!(collected, ["g0 if a", "g1 if a", "g2 if a&b"]);
        assert_eq!(walked(Some(9), "true", &["a", "false"]).0.unwrap(), ["a?f(f(s)):f(s)"]);
    }
}
