//! Any bytes: reading, checking, formatting and expanding them ends without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::{Lower, check, expand, parse};
use nnef_flatten_fuzz::{bounded, small};

fuzz_target!(|bytes: &[u8]| bounded(|| {
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
}));
