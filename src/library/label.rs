//! Labels of variables, which are names of files.

/// A text as a label: other characters than letters, digits, `.`, `_` and `-` are replaced, and so is a dot at its
/// beginning, since readers of models ignore files with such names.
pub(crate) fn label(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut label: String = text.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if label.starts_with('.') {
        label.replace_range(..1, "_");
    }
    label
}

/// A text as a label with folders: its parts between slashes are those of the label.
#[cfg(feature = "onnx")]
pub(crate) fn label_of_path(text: &str) -> String {
    let parts: Vec<String> = text.split('/').filter(|part| !part.is_empty()).map(label).collect();
    let is_file = |part: &String| part.to_ascii_lowercase().ends_with(".dat");
    // A folder cannot have the name of the file of another label.
    let has_files = parts.iter().rev().skip(1).any(is_file);
    parts.join(if has_files { "_" } else { "/" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_names_of_files_in_folders() {
        for (text, wanted) in [
            ("conv.0/weight", "conv.0/weight"),
            ("/enc//w:0", "enc/w_0"),
            ("../.w", "_./_w"),
            ("a.dat/b", "a.dat_b"),
            ("/", ""),
        ] {
            assert_eq!(label_of_path(text), wanted, "{text}");
        }
    }
}
