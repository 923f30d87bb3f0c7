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
