//! Names for bodies and their values.

use rustc_hash::FxHashMap;

use crate::source::names::is_identifier;

/// What two names have in common at their ends, from the start of a word on; nothing if that is no name.
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
