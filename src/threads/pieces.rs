//! Writing a long text in pieces that several threads make in parallel.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// The number of items of a piece, when there is one thread.
const SMALL: usize = 512;
/// The number of items of a piece, when there are several threads.
const LARGE: usize = 8192;
/// The approximate number of bytes of an item.
const ITEM: usize = 64;
/// The bytes of text with which a piece ends: those of items with long lists would take as much memory as the whole text.
const FULL: usize = 8 << 20;
/// With fewer items, starting other threads takes longer than they save.
const MANY: usize = 4 * LARGE;

/// The number of worker threads for a text of `count` items: `threads`, or as many as the machine runs
/// at once; 0 if there is only one. For short texts it is 0 without asking the system, which takes time.
fn others(count: usize, threads: Option<NonZeroUsize>) -> usize {
    if count < MANY {
        return 0;
    }
    let threads = threads.or_else(|| std::thread::available_parallelism().ok());
    threads.map(NonZeroUsize::get).filter(|&threads| threads > 1).unwrap_or(0)
}

/// Writes the text that `make` adds to a buffer for each range of `count` items, in order. The text is
/// the same for any number of threads.
///
/// `make` adds at least one item and returns where it stopped, such as [`until_full`] does.
pub(crate) fn write(
    out: &mut dyn Write,
    count: usize,
    threads: Option<NonZeroUsize>,
    make: impl Fn(Range<usize>, &mut String) -> usize + Sync,
) -> io::Result<()> {
    let others = others(count, threads);
    let make = &make;
    std::thread::scope(|scope| {
        // If the system refuses a thread, the others do the work, or this one alone.
        let workers: Vec<Worker> = (0..others).map_while(|_| Worker::start(scope, make)).collect();
        let mut buffer = String::new();
        match workers.is_empty() {
            true => write_alone(out, 0..count, make, &mut buffer),
            false => write_together(out, count, &workers, make),
        }
    })
}

/// Adds the items of a range until the text of the piece is full; `add` returns its bytes. Returns where it stopped.
pub(crate) fn until_full(mut range: Range<usize>, mut add: impl FnMut(usize) -> usize) -> usize {
    let end = range.end;
    range.find(|at| add(*at) >= FULL).map_or(end, |last| last + 1)
}

/// The ranges of items of the pieces.
fn pieces(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(size).map(move |start| start..(start + size).min(count))
}

fn write_alone(
    out: &mut dyn Write,
    items: Range<usize>,
    make: impl Fn(Range<usize>, &mut String) -> usize,
    buffer: &mut String,
) -> io::Result<()> {
    buffer.reserve(items.len().min(SMALL) * ITEM);
    let mut at = items.start;
    while at < items.end {
        at = make(at..items.end.min(at + SMALL), buffer);
        out.write_all(buffer.as_bytes())?;
        buffer.clear();
    }
    Ok(())
}

/// Workers take turns. Each has one piece to make and the next one in its queue, so that none is idle
/// while this thread writes. What is left of a piece with much text is made here.
fn write_together(
    out: &mut dyn Write,
    count: usize,
    workers: &[Worker],
    make: impl Fn(Range<usize>, &mut String) -> usize,
) -> io::Result<()> {
    let mut jobs = pieces(count, LARGE);
    let turns = || workers.iter().cycle();
    for (worker, piece) in turns().zip(jobs.by_ref().take(2 * workers.len())) {
        worker.give(piece, String::new())?;
    }
    for (worker, piece) in turns().zip(pieces(count, LARGE)) {
        let (at, mut buffer) = worker.made.recv().map_err(io::Error::other)?;
        out.write_all(buffer.as_bytes())?;
        buffer.clear();
        write_alone(out, at..piece.end, &make, &mut buffer)?;
        if let Some(piece) = jobs.next() {
            worker.give(piece, buffer)?;
        }
    }
    Ok(())
}

/// A thread that makes pieces until its queue is closed.
struct Worker {
    jobs: Sender<(Range<usize>, String)>,
    made: Receiver<(usize, String)>,
}

impl Worker {
    fn start<'s, 'e: 's, F>(scope: &'s Scope<'s, 'e>, make: &'e F) -> Option<Self>
    where
        F: Fn(Range<usize>, &mut String) -> usize + Sync,
    {
        let (jobs, given) = channel::<(Range<usize>, String)>();
        let (done, made) = channel();
        let work = move || {
            for (piece, mut buffer) in given {
                let at = make(piece, &mut buffer);
                if done.send((at, buffer)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().spawn_scoped(scope, work).ok()?;
        Some(Worker { jobs, made })
    }

    /// Adds a piece to its queue, and a buffer for its text.
    fn give(&self, piece: Range<usize>, buffer: String) -> io::Result<()> {
        self.jobs.send((piece, buffer)).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_same_for_any_number_of_threads() {
        for count in [0, 1, SMALL, SMALL + 1, MANY - 1, MANY, MANY + 12_345] {
            let text = |threads: usize| {
                let mut out = Vec::new();
                // Some pieces stop early.
                let make = |range: Range<usize>, buffer: &mut String| {
                    let end = if range.start.is_multiple_of(5) { range.end } else { range.end.min(range.start + 1000) };
                    (range.start..end).for_each(|i| buffer.push_str(&format!("{i};")));
                    end
                };
                write(&mut out, count, NonZeroUsize::new(threads), make).unwrap();
                out
            };
            let one = text(1);
            assert_eq!(one.iter().filter(|byte| **byte == b';').count(), count);
            assert!([0, 2, 3, 7].into_iter().all(|threads| text(threads) == one));
        }
    }

    #[test]
    fn it_ends_where_nothing_more_can_be_written() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, text: &[u8]) -> io::Result<usize> {
                let room = self.0.min(text.len());
                self.0 -= room;
                Ok(room)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let make = |range: Range<usize>, buffer: &mut String| {
            let end = range.end;
            range.for_each(|_| buffer.push('x'));
            end
        };
        for threads in [1, 2, 5] {
            let threads = NonZeroUsize::new(threads);
            let refused = write(&mut Full(3 * LARGE), 20 * LARGE, threads, make);
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::WriteZero);
            assert!(write(&mut Full(20 * LARGE), 20 * LARGE, threads, make).is_ok());
        }
    }
}
