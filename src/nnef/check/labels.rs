//! Rules on labels of variables (G1, G2). Labels written out are checked before the expansion, so
//! that they are reported together with other mistakes; computed ones once they are known.

use crate::diagnostics::Code;
use crate::nnef::dialect::Dialect;

/// What is wrong with a label, if anything is.
pub fn fault(label: &str, dialect: Dialect) -> Option<(Code, String)> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./\\".contains(c);
    if label.is_empty() {
        return Some((Code::EmptyLabel, "the label of a variable is empty".to_string()));
    }
    let c = label.chars().find(|&c| dialect == Dialect::V1 && !allowed(c))?;
    Some((Code::LabelCharacters, format!("`{c}` is not allowed in the label '{label}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_paths() {
        assert_eq!(fault("a/b-c.d\\e_1", Dialect::V1), None);
        assert_eq!(fault("a:0", Dialect::Draft), None);
        assert_eq!(fault("a:0", Dialect::V1).map(|(code, _)| code), Some(Code::LabelCharacters));
        assert_eq!(fault("", Dialect::Draft).map(|(code, _)| code), Some(Code::EmptyLabel));
    }
}
