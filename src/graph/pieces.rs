//! Text that is made in pieces, by several threads where there is much of it.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::Range;

/// How many items become a piece, when there is one thread.
const SMALL: usize = 512;
/// How many, when there are several.
const LARGE: usize = 8192;
/// With fewer items, other threads are not worth their start.
const MANY: usize = 4 * LARGE;

/// As many threads as the machine runs at once.
pub fn all_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Writes what `make` adds to a buffer for each range of `count` items, in order. The text is the
/// same for any number of threads.
pub fn write(
    out: &mut dyn Write,
    count: usize,
    threads: NonZeroUsize,
    make: impl Fn(Range<usize>, &mut String) + Sync,
) -> io::Result<()> {
    let threads = if count < MANY { 1 } else { threads.get() };
    let size = if threads == 1 { SMALL } else { LARGE };
    let mut buffers = vec![String::new(); threads];
    let piece = |index: usize| (index * size).min(count)..((index + 1) * size).min(count);
    let mut next = 0;
    while next * size < count {
        let (own, others) = buffers.split_at_mut(1);
        std::thread::scope(|scope| {
            for (i, buffer) in others.iter_mut().enumerate() {
                let (range, make) = (piece(next + 1 + i), &make);
                scope.spawn(move || make(range, buffer));
            }
            own.iter_mut().for_each(|buffer| make(piece(next), buffer));
        });
        for buffer in &mut buffers {
            out.write_all(buffer.as_bytes())?;
            buffer.clear();
        }
        next += threads;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_same_for_any_number_of_threads() {
        for count in [0, 1, SMALL, SMALL + 1, MANY - 1, MANY, MANY + 12_345] {
            let text = |threads: usize| {
                let mut out = Vec::new();
                let make = |range: Range<usize>, buffer: &mut String| {
                    range.for_each(|i| buffer.push_str(&format!("{i};")));
                };
                write(&mut out, count, NonZeroUsize::new(threads).unwrap(), make).unwrap();
                out
            };
            let one = text(1);
            assert_eq!(one.iter().filter(|byte| **byte == b';').count(), count);
            assert!([2, 3, 7].into_iter().all(|threads| text(threads) == one));
        }
    }
}
