//! The shapes of any text are listed in linear time, within the memory that is allowed, and print texts that read back.

use std::time::Duration;

use crate::shared::cpu_time_of;
use nnef_flatten::tensor::{Shape, ShapeList};

/// The memory of the list.
const MEMORY: u64 = 64 << 20;
/// The length of the repeated text, and the time that it may take: some hundred times what a plain scan takes.
const LONG: usize = 1 << 20;
const TIME: Duration = Duration::from_millis(1500);

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    // Few bytes are repeated to a long text, so that work on the same bytes again and again shows.
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(rest);
    let Ok(list) = ShapeList::of(&text, MEMORY) else { panic!("a short text has too many shapes") };
    for (shape, line, count) in list.shapes() {
        let printed = shape.to_string();
        let again: Shape = printed.parse().unwrap_or_else(|found| panic!("{printed}\n{found}"));
        assert_eq!(again.array(), Some(shape));
        assert!(count > 0 && line > 0);
    }
    if first % 16 == 0 && !text.is_empty() {
        let long = text.repeat(LONG / text.len());
        let (took, repeated) = cpu_time_of(|| ShapeList::of(&long, MEMORY));
        assert!(took < TIME, "{} bytes take {took:?}", long.len());
        // Where the pieces meet, a further shape may be read.
        assert!(repeated.is_ok_and(|repeated| repeated.shapes().len() + 1 >= list.shapes().len()));
    }
}
