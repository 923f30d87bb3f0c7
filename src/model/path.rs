//! Names of files within a model: relative paths with `/` between their parts that do not lead out of the model.

/// The maximum length of a name in bytes.
pub(crate) const MAX_PATH: usize = 4096;
/// The maximum length of a part of a name in bytes.
const MAX_PART: usize = 255;

/// The name without `./` and empty parts, or the reason why it is not valid.
pub(crate) fn clean(name: &str) -> Result<String, &'static str> {
    if name.len() > MAX_PATH {
        return Err("is too long");
    }
    if name.starts_with('/') {
        return Err("is absolute");
    }
    if name.contains('\\') {
        return Err("has a backslash");
    }
    if name.chars().any(char::is_control) {
        return Err("has a control character");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    match parts.first() {
        None => return Err("is empty"),
        Some(first) if is_drive(first) => return Err("names a drive"),
        Some(_) => {}
    }
    if parts.contains(&"..") {
        return Err("leads outside the model");
    }
    if parts.iter().any(|part| part.len() > MAX_PART) {
        return Err("is too long");
    }
    Ok(parts.join("/"))
}

/// Whether a part is a drive such as `C:`; on Windows, any colon means a drive or a stream.
fn is_drive(part: &str) -> bool {
    let bytes = part.as_bytes();
    (bytes.len() == 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':') || (cfg!(windows) && part.contains(':'))
}

/// The name of the data file of a variable, or the reason why its label is not valid.
///
/// Some exporters write a leading slash in labels, but not in file names. Exporters on Windows separate the parts of a
/// label by backslashes.
pub(crate) fn data_file(label: &str) -> Result<String, &'static str> {
    let label = label.replace('\\', "/");
    let label = label.trim_start_matches('/');
    if label.is_empty() || label.ends_with('/') {
        return Err("is empty");
    }
    let name = clean(&format!("{label}.dat"))?;
    if is_hidden(&name) { Err("has a part that begins with a dot, and readers ignore such files") } else { Ok(name) }
}

/// Whether a part of a name begins with a dot. Readers of models ignore these files, which belong to the system or
/// other programs.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_one_way() {
        assert_eq!(clean("./a//b.dat"), Ok("a/b.dat".to_string()));
        assert_eq!(data_file("block1/weights"), Ok("block1/weights.dat".to_string()));
        assert_eq!(data_file(r"block1\weights"), Ok("block1/weights.dat".to_string()));
        assert!(data_file(r"..\weights").is_err());
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in
            ["", ".", "./", "/a", "//a", "..", "../a", "a/..", "a/../../b", "a\\b", "C:/a", "c:", "a\0b", "a\nb"]
        {
            assert!(clean(name).is_err(), "{name:?}");
        }
        assert!(clean(&"a/".repeat(3000)).is_err());
        assert!(clean(&"a".repeat(256)).is_err());
    }

    #[test]
    fn other_names_are_plain() {
        for (name, plain) in
            [("a", "a"), ("./a", "a"), ("a/./b/", "a/b"), ("a..b", "a..b"), ("w:0.dat", "w:0.dat"), ("é", "é")]
        {
            assert_eq!(clean(name).as_deref(), Ok(plain), "{name:?}");
        }
    }

    #[test]
    fn labels_are_names_without_extension() {
        assert_eq!(data_file("/a.b/c").as_deref(), Ok("a.b/c.dat"));
        for label in ["", "/", "a/", "../a", "/../a", "a\\..\\..\\b", "C:\\a", ".a", "a/.b", ".a/b"] {
            assert!(data_file(label).is_err(), "{label:?}");
        }
    }

    #[test]
    fn hidden_names_have_a_dot() {
        assert!(is_hidden(".git/x") && is_hidden("a/._b") && !is_hidden("a.b/c.d"));
    }
}
