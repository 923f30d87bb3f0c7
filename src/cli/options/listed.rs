//! Lists of words in messages.

/// `a, b or c`.
pub(crate) fn listed(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items[..] {
        [] => "nothing".to_owned(),
        [one] => one.to_owned(),
        [ref before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}
