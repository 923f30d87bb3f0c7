//! Addresses of files.

use std::path::Path;

/// The address of a file with an absolute path: bytes that addresses cannot have are escaped.
pub(super) fn of_file(path: &Path) -> String {
    let path = path.to_string_lossy();
    let path = if std::path::MAIN_SEPARATOR == '\\' { path.replace('\\', "/") } else { path.into_owned() };
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => uri.push(byte.into()),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The last part of an address, unescaped as far as it is text: a name for messages, with its extension.
pub(super) fn name(uri: &str) -> String {
    let last = uri.rsplit('/').next().unwrap_or(uri);
    let mut bytes = Vec::with_capacity(last.len());
    let mut rest = last.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [a, b, after @ ..]) => std::str::from_utf8(&[*a, *b])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .map(|byte| (byte, after)),
            _ => None,
        };
        let (byte, after) = escaped.unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_escape_what_they_cannot_have() {
        assert_eq!(of_file(Path::new("/a b/é.nnef")), "file:///a%20b/%C3%A9.nnef");
        assert_eq!(name("file:///a%20b/%C3%A9%.nnef"), "é%.nnef");
        let escaped = of_file(Path::new("/50%#?.nnef"));
        assert_eq!((escaped.as_str(), name(&escaped).as_str()), ("file:///50%25%23%3F.nnef", "50%#?.nnef"));
        assert_eq!(name("untitled:Untitled-1"), "untitled:Untitled-1");
    }
}
