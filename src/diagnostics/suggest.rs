//! "Did you mean": the nearest of the known names.

use indexmap::IndexMap;

/// The maximum number of known names to compare: a document can have very many.
pub(crate) const MAX_KNOWN: usize = 10_000;

/// The longest names that are compared.
const MAX_LETTERS: usize = 64;

/// The known name most similar to `wanted`, if one is similar enough.
///
/// Similar means an edit distance (with transpositions) of at most a third of the length, but from 1 to 4,
/// and less than all letters. Names that differ only in case or underscores are always similar.
pub(crate) fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(wanted, &mut known.into_iter())
}

/// All known names that are as similar to `wanted` as the nearest one.
pub(crate) fn all_nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let similar = similar(wanted, &mut known.into_iter());
    let least = similar.iter().map(|(distance, _)| *distance).min();
    similar.into_iter().filter(|(distance, _)| Some(*distance) == least).map(|(_, name)| name).collect()
}

/// [`nearest`] for any iterator, so that it is compiled only once.
fn nearest_of<'a>(wanted: &str, known: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let similar = similar(wanted, known).into_iter();
    similar.min_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1))).map(|(_, candidate)| candidate)
}

/// The known names that are similar enough, each with its distance.
fn similar<'a>(wanted: &str, known: &mut dyn Iterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    let is_short = |name: &str| name.len() <= MAX_LETTERS || name.chars().take(MAX_LETTERS + 1).count() <= MAX_LETTERS;
    if !is_short(wanted) {
        return Vec::new();
    }
    let limit = (wanted.chars().count() / 3).clamp(1, 4);
    known
        .take(MAX_KNOWN)
        .filter(|candidate| *candidate != wanted && !candidate.is_empty() && is_short(candidate))
        .filter_map(|candidate| {
            let distance = if fold(candidate).eq(fold(wanted)) { 0 } else { distance(wanted, candidate, limit)? };
            (distance < wanted.chars().count().max(candidate.chars().count())).then_some((distance, candidate))
        })
        .collect()
}

/// The known name that `wanted` probably misspells: with one or two wrong letters, one if it is short, or
/// other case or underscores. Names that differ only in digits are not misspellings.
pub(crate) fn misspelt<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    misspelt_of(wanted, &mut known.into_iter())
}

fn misspelt_of<'a>(wanted: &str, known: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let (count, of_wanted) = (wanted.chars().count(), letters(wanted));
    let limit = (count / 3).clamp(1, 2);
    if !(3..=MAX_LETTERS).contains(&count) {
        return None;
    }
    let near = |name: &&str| {
        // Underscores do not count.
        let close = name.len().abs_diff(wanted.len()) <= 2 * limit && *name != wanted;
        close && (distance(wanted, name, limit).is_some() || fold(name).eq(fold(wanted)))
    };
    nearest_of(wanted, &mut known.filter(near).filter(|name| letters(name) != of_wanted))
}

/// Whether a name has the letters of another one in another case, or with two neighbours swapped.
pub(crate) fn anagram(wanted: &str, known: &str) -> bool {
    wanted.len() == known.len() && {
        let different = wanted.bytes().zip(known.bytes()).enumerate().filter(|(_, (a, b))| !a.eq_ignore_ascii_case(b));
        match *different.take(3).collect::<Vec<_>>() {
            [] => wanted != known,
            [(at, (a, b)), (next, (c, d))] => next == at + 1 && (a, b) == (d, c),
            _ => false,
        }
    }
}

/// The most unknown names of an input that are compared with known ones.
const MOST_COMPARED: usize = 1000;

/// The unknown names of an input in their order, each with the known one that it probably misspells.
#[derive(Debug, Default)]
pub(crate) struct UnknownNames<'a>(IndexMap<&'a str, Option<&'static str>>);

impl<'a> UnknownNames<'a> {
    /// The known name that an unknown one misspells. It is compared once.
    pub(crate) fn meant(
        &mut self,
        name: &'a str,
        misspelt: impl FnOnce(&str) -> Option<&'static str>,
    ) -> Option<&'static str> {
        let is_compared = self.0.len() < MOST_COMPARED;
        *self.0.entry(name).or_insert_with(|| if is_compared { misspelt(name) } else { None })
    }

    /// What [`UnknownNames::meant`] found for a name; none for others.
    pub(crate) fn known(&self, name: &str) -> Option<&'static str> {
        self.0.get(name).copied().flatten()
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.0.keys().copied()
    }
}

/// A help text that suggests the nearest name.
pub(crate) fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(wanted, known).map(|name| format!("did you mean `{name}`?"))
}

/// The symbols that there are, for the message about another one; nothing if there are none.
pub(crate) fn its_symbols(known: &[&str]) -> Option<String> {
    let listed = known.iter().take(8).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    (!known.is_empty()).then(|| format!("its symbols are {listed}"))
}

/// The message about an input that needs a value.
pub(crate) fn no_value(input: &str) -> String {
    format!("nothing is given for input `{input}`: `--inputs FILE` gives the values of inputs")
}

/// The message about an input with two values.
pub(crate) fn given_twice(input: &str) -> String {
    format!("input `{input}` is given twice")
}

/// The message about an input that a graph, a model or a network does not have.
pub(crate) fn no_input(of: &str, wanted: &str, known: &[&str]) -> String {
    let hint = did_you_mean(wanted, known.iter().copied());
    let hint = hint.unwrap_or_else(|| format!("its inputs are {}", known.join(", ")));
    format!("the {of} has no input `{wanted}`; {hint}")
}

fn fold(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| *c != '_').flat_map(char::to_lowercase)
}

/// A lower bound of the edit distance: the number of characters of one text that the other one lacks, in
/// any order. Characters that are not ASCII count as equal.
fn unshared(a: &str, b: &str) -> usize {
    let mut more = [0i32; 128];
    a.chars().for_each(|c| more[(c as usize).min(127)] += 1);
    b.chars().for_each(|c| more[(c as usize).min(127)] -= 1);
    let only_a: i32 = more.iter().map(|count| count.max(&0)).sum();
    let only_b: i32 = more.iter().map(|count| count.min(&0)).sum();
    only_a.max(-only_b) as usize
}

/// The edit distance with adjacent transpositions; `None` if it is above `limit`. Only a band along the
/// diagonal is computed, as wide as the limit: distances outside of it are greater.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    if unshared(a, b) > limit {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![limit + 1; b.len() + 1];
        row[0] = i;
        for j in i.saturating_sub(limit).max(1)..=(i + limit).min(b.len()) {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
        }
        // A transposition uses the row before the last one.
        if row.iter().chain(&last).all(|distance| *distance > limit) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    (last[b.len()] <= limit).then(|| last[b.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_inputs_are_told_with_the_known_ones() {
        let told = |wanted: &str| no_input("model", wanted, &["image", "mask"]);
        assert_eq!(told("imago"), "the model has no input `imago`; did you mean `image`?");
        assert_eq!(told("other"), "the model has no input `other`; its inputs are image, mask");
    }

    #[test]
    fn what_is_not_shared_is_no_more_than_the_distance() {
        let texts =
            ["", "a", "conv", "convo", "ocnv", "deconv", "max_pool", "maxpool", "äö", "ä", "relu", "leaky_relu"];
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            let exact = distance(a, b, 100).expect("within the limit");
            assert!(unshared(a, b) <= exact, "{a} {b}");
            for limit in 0..8 {
                assert_eq!(distance(a, b, limit), Some(exact).filter(|exact| *exact <= limit), "{a} {b} {limit}");
            }
        }
    }

    #[test]
    fn anagrams_swap_neighbours_or_cases() {
        for (wanted, known) in [("ReLu", "ReLU"), ("sofmtax", "softmax"), ("Conv2D", "Conv2d")] {
            assert!(anagram(wanted, known), "{wanted}");
        }
        for other in ["softmax", "softmin", "sotfamx", "softma", "log_softmax", "éoftma"] {
            assert!(!anagram(other, "softmax"), "{other}");
        }
    }

    #[test]
    fn names_are_misspelt_by_letters() {
        let known = ["relu", "conv", "max_pool", "sigmoid", "exp"];
        for (wanted, meant) in [("rleu", "relu"), ("Conv", "conv"), ("maxpool", "max_pool"), ("sigmd", "")] {
            assert_eq!(misspelt(wanted, known).unwrap_or(""), meant, "{wanted}");
        }
        for other in ["relu6", "conv2", "erf", "sigmoid", "softplus", "x"] {
            assert_eq!(misspelt(other, known), None, "{other}");
        }
    }

    #[test]
    fn finds_near_names_only() {
        let known = ["relu", "conv", "max_pool", "sigmoid"];
        assert_eq!(nearest("rleu", known), Some("relu"));
        assert_eq!(nearest("maxpool", known), Some("max_pool"));
        assert_eq!(nearest("MaxPool", known), Some("max_pool"));
        assert_eq!(nearest("sigmiod", known), Some("sigmoid"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("q", ["x", "w"]), None);
        assert_eq!(nearest("q", ["x", "q1"]), Some("q1"));
        assert_eq!(nearest("X", ["x", "w"]), Some("x"));
    }

    /// A third of the letters may differ, but at least one and at most four.
    #[test]
    fn the_distance_depends_on_the_length() {
        for (wanted, known, is_near) in [
            ("abc", "abd", true),
            ("abcde", "abxye", false),
            ("abcdef", "abxyef", true),
            ("abcdef", "xyzdef", false),
            ("abcdefghijkl", "wxyzefghijkl", true),
            ("abcdefghijklmnopqr", "vwxyzfghijklmnopqr", false),
        ] {
            assert_eq!(nearest(wanted, [known]), Some(known).filter(|_| is_near), "{wanted}");
            assert_eq!(all_nearest(wanted, [known]), Vec::from_iter(Some(known).filter(|_| is_near)), "{wanted}");
        }
    }

    /// Of several names, the nearest one is told, and of those that are equally near, the first one by name.
    #[test]
    fn the_nearest_of_several_is_told() {
        let known = ["softmaxes", "softmox", "softmix"];
        assert_eq!(nearest("softmax", known), Some("softmix"));
        assert_eq!(all_nearest("softmax", known), ["softmox", "softmix"]);
        assert_eq!(nearest("soft_max", ["soft_maz", "softmax"]), Some("softmax"));
        assert_eq!(nearest("SoftMax", ["SoftMix", "softmax"]), Some("softmax"));
    }
}
