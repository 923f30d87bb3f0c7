//! What the tests of several modules share.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

#[allow(dead_code, unreachable_pub)] // Builds without some features use a part.
#[path = "../tests/common/numbers.rs"]
mod numbers;
#[path = "../tests/common/patterns.rs"]
mod patterns;
#[allow(dead_code, unreachable_pub)] // The other tests use the rest.
#[path = "../tests/common/real.rs"]
mod real;

#[allow(unused_imports)]
pub(crate) use numbers::{all_near, near};
pub(crate) use patterns::matching;
pub(crate) use real::{RealDocument, models, shared};

/// Compares a table with that of a page of `docs` which begins with the same line. With `UPDATE_SNAPSHOTS=1` in the environment
/// it is written again.
#[allow(dead_code)]
pub(crate) fn is_table_of(page: &str, table: &str) {
    static PAGES: Mutex<()> = Mutex::new(());
    // Pages have several tables.
    let held = PAGES.lock().expect("no test of a table has failed");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page);
    let text = fs::read_to_string(&path).expect("a page");
    let header = table.lines().next().expect("a header");
    let start = text.find(header).unwrap_or_else(|| panic!("{page} has no table {header}"));
    let end = text[start..].find("\n\n").map_or(text.len(), |end| start + end + 1);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, format!("{}{table}{}", &text[..start], &text[end..])).expect("the page is written");
    } else if text[start..end] != *table {
        drop(held);
        panic!("{page} does not have the table {header}: UPDATE_SNAPSHOTS=1 writes it again");
    }
}

#[cfg(feature = "onnx")]
proptest::proptest! {
    #[test]
    fn generated_texts_match(text in matching("(a|bc{1,3})[x-z.é]{0,4}-?(12|\\.)")) {
        let pattern = regex::Regex::new("^(a|bc{1,3})[x-z.é]{0,4}-?(12|\\.)$").expect("a pattern");
        proptest::prop_assert!(pattern.is_match(&text), "{}", text);
    }
}
