//! Any bytes: reading, checking, formatting and expanding them ends without a panic.

use crate::shared::small;
use nnef_flatten::{Lower, check, expand, parse};

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let options = small().with(|o| {
        o.lower = Lower::All;
        o.unroll = true;
    });
    let parsed = parse("fuzz", String::from_utf8_lossy(bytes).into_owned(), &options);
    let _ = (check(&parsed.document, &options), expand(&parsed.document, &options));
    if !parsed.diagnostics.has_errors() {
        let once = parsed.document.format();
        let again = parse("formatted", once.clone(), &options);
        assert!(!again.diagnostics.has_errors(), "{once}");
        assert_eq!(again.document.format(), once);
    }
}
