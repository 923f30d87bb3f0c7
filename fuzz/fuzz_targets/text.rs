//! Any bytes: reading and expanding them ends without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::{Lower, Options, expand, parse};

fuzz_target!(|bytes: &[u8]| {
    let options = Options::default().with(|o| { o.lower = Lower::All; o.max_ops = 20_000; o.max_depth = 2_000; });
    let parsed = parse("fuzz", String::from_utf8_lossy(bytes).into_owned(), &options);
    let _ = expand(&parsed.document, &options);
});
