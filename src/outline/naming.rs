//! Names for bodies and their values.

use rustc_hash::FxHashMap;

use crate::source::names::is_identifier;

/// What two names have in common at their ends, from the start of a word on; nothing if that is not a name.
///
/// The parameter for `layers_0_mlp_weight` and `layers_1_mlp_weight` is `mlp_weight`.
pub(crate) fn common_name<'n>(first: &'n str, last: &str) -> &'n str {
    let equal = first.bytes().rev().zip(last.bytes().rev()).take_while(|(a, b)| a == b).count();
    // All bytes of a character are in both, or none of its first ones.
    let start = (first.len() - equal..=first.len()).find(|at| first.is_char_boundary(*at)).unwrap_or(first.len());
    let common = &first[start..];
    let word = if start == 0 { Some(0) } else { common.find(['_', '.', '/', ':']).map(|at| at + 1) };
    let name = word.map_or("", |at| common[at..].trim_start_matches(['_', '.', '/', ':']));
    if name.starts_with(|c: char| c.is_ascii_digit()) { "" } else { name }
}

/// A text as an identifier: what is not part of one becomes `_`. Nothing for a text without letters.
pub(crate) fn identifier(text: &str) -> String {
    let text = text.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match is_identifier(&name) {
        true => name,
        false => String::new(),
    }
}

/// Names that are distinct: in one body, or of all bodies.
#[derive(Debug, Default)]
pub(crate) struct BodyNames {
    taken: FxHashMap<String, u32>,
}

impl BodyNames {
    /// Notes a name that is not available.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.entry(name.to_owned()).or_insert(1);
    }

    /// A name, with a number at its end if it is taken.
    pub(crate) fn distinct(&mut self, name: &str) -> String {
        if !self.taken.contains_key(name) {
            self.reserve(name);
            return name.to_owned();
        }
        loop {
            let number = self.taken.entry(name.to_owned()).or_insert(1);
            *number += 1;
            let separator = if name.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
            let numbered = format!("{name}{separator}{number}");
            if !self.taken.contains_key(&numbered) {
                self.reserve(&numbered);
                return numbered;
            }
        }
    }
}

/// What paths have in common at their starts, in whole parts, without the parts that are numbers: `layers` of
/// `layers.0.mlp.up` and `layers.0.norm`. The last part of the only path counts, too.
pub(crate) fn shared_path(paths: &[impl AsRef<str>], separators: &[char]) -> String {
    let Some((first, rest)) = paths.split_first() else { return String::new() };
    let parts = |path: &str| path.split(separators).map(str::to_owned).collect::<Vec<_>>();
    let mut common = parts(first.as_ref());
    for path in rest {
        let equal = common.iter().zip(path.as_ref().split(separators)).take_while(|(a, b)| a == b).count();
        common.truncate(equal);
    }
    let named = common.into_iter().filter(|part| !part.is_empty() && !part.bytes().all(|byte| byte.is_ascii_digit()));
    named.collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_common_ends_of_whole_words() {
        for (first, last, wanted) in [
            ("layers_0_mlp_weight", "layers_11_mlp_weight", "mlp_weight"),
            ("/layers.0/mlp/MatMul_output", "/layers.1/mlp/MatMul_output", "mlp/MatMul_output"),
            ("variable12", "variable22", ""),
            ("a_12", "b_12", ""),
            ("mask", "mask", "mask"),
            ("aé_x", "bé_x", "x"),
            ("x", "_x", "x"),
            ("", "x", ""),
        ] {
            assert_eq!(common_name(first, last), wanted, "{first} {last}");
        }
    }

    #[test]
    fn paths_have_common_parts_without_numbers() {
        assert_eq!(shared_path(&["layers.0.mlp.up", "layers.0.mlp.down"], &['.']), "layers_mlp");
        assert_eq!(shared_path(&["m__model___1__a", "m__model___1__b"], &['_']), "m_model");
        assert_eq!(shared_path(&["a/b", "c/b"], &['/']), "");
        assert_eq!(shared_path(&[] as &[&str], &['/']), "");
    }

    #[test]
    fn names_become_distinct_identifiers() {
        assert_eq!(["/a.b/c", "3", "é", "_x_"].map(identifier), ["a_b_c", "", "", "x"]);
        let mut names = BodyNames::default();
        names.reserve("exp");
        let found = ["exp", "a", "a", "x1", "x1", "a2"].map(|name| names.distinct(name));
        assert_eq!(found, ["exp2", "a", "a2", "x1", "x1_2", "a2_2"]);
    }
}
