//! What a model tells about itself, for people: short texts, by what they are.

/// The most characters of a text, and the most items of a list.
#[cfg(feature = "input")]
const CHARACTERS: usize = 300;
#[cfg(feature = "input")]
const ITEMS: usize = 40;

/// What a model tells about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts(pub(crate) Vec<(&'static str, String)>);

#[cfg(feature = "input")]
impl Facts {
    /// The notation of what tells nothing else.
    pub(crate) fn of_notation(name: &str) -> Self {
        let mut facts = Facts::default();
        facts.add("notation", name);
        facts
    }

    /// Adds a text, if it is not empty; a long one ends early.
    pub(crate) fn add(&mut self, key: &'static str, text: &str) {
        if !text.is_empty() {
            self.0.push((key, short(text)));
        }
    }

    /// Adds a list, if it is not empty; a long one ends early.
    pub(crate) fn add_list(&mut self, key: &'static str, items: impl ExactSizeIterator<Item = String>) {
        let more = items.len().saturating_sub(ITEMS);
        let mut items: Vec<String> = items.take(ITEMS).map(|item| short(&item)).collect();
        if more > 0 {
            items.push(format!("… {more} more"));
        }
        if !items.is_empty() {
            self.0.push((key, items.join(", ")));
        }
    }

    /// Adds texts apart, all of one kind, but not too many.
    pub(crate) fn add_each(&mut self, key: &'static str, texts: impl Iterator<Item = String>) {
        texts.take(ITEMS).for_each(|text| self.add(key, &text));
    }
}

/// The start of a long text.
#[cfg(feature = "input")]
fn short(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(all(test, feature = "input"))]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_lists_end_early() {
        let mut facts = Facts::default();
        facts.add("empty", "");
        facts.add("long", &"ä".repeat(1000));
        facts.add_list("list", vec!["x".to_owned(); 50].into_iter());
        facts.add_each("each", std::iter::repeat_n("y".to_owned(), 50));
        assert_eq!(facts.0.len(), 2 + ITEMS);
        assert_eq!(facts.0[0], ("long", "ä".repeat(CHARACTERS) + "…"));
        assert!(facts.0[1].1.ends_with("x, … 10 more"));
    }
}
