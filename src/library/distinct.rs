//! Distinct names.

use rustc_hash::{FxHashMap, FxHashSet};

/// A set of names, to which texts are added under distinct names.
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    known: FxHashSet<String>,
    /// For each text that was a name already, the last number that was added to it.
    numbers: FxHashMap<String, u32>,
}

impl Distinct {
    /// Adds a text, with a number if it is a name already, and returns its name. Letters are compared without regard to
    /// case if `folded` is set.
    pub(crate) fn add(&mut self, text: &str, folded: bool) -> String {
        let key = |name: &str| if folded { name.to_ascii_lowercase() } else { name.to_owned() };
        if self.known.insert(key(text)) {
            return text.to_owned();
        }
        let number = self.numbers.entry(key(text)).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{text}_{number}");
            if self.known.insert(key(&name)) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        let mut names = Distinct::default();
        let found = ["a", "a_2", "a", "A", "a"].map(|text| names.add(text, false));
        assert_eq!(found, ["a", "a_2", "a_3", "A", "a_4"]);
        let mut names = Distinct::default();
        assert_eq!(["a", "A", "B"].map(|text| names.add(text, true)), ["a", "A_2", "B"]);
    }
}
