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
pub(crate) fn write(
    out: &mut dyn Write,
    count: usize,
    threads: Option<NonZeroUsize>,
    make: impl Fn(Range<usize>, &mut String) + Sync,
) -> io::Result<()> {
    let others = others(count, threads);
    let make = &make;
    std::thread::scope(|scope| {
        // If the system refuses a thread, the others do the work, or this one alone.
        let workers: Vec<Worker> = (0..others).map_while(|_| Worker::start(scope, make)).collect();
        if workers.is_empty() { write_alone(out, count, make) } else { write_together(out, count, &workers) }
    })
}

/// The ranges of items of the pieces.
fn pieces(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(size).map(move |start| start..(start + size).min(count))
}

fn write_alone(out: &mut dyn Write, count: usize, make: impl Fn(Range<usize>, &mut String)) -> io::Result<()> {
    let mut buffer = String::with_capacity(count.min(SMALL) * ITEM);
    for piece in pieces(count, SMALL) {
        make(piece, &mut buffer);
        out.write_all(buffer.as_bytes())?;
        buffer.clear();
    }
    Ok(())
}

/// Workers take turns. Each has one piece to make and the next one in its queue, so that none is idle
/// while this thread writes.
fn write_together(out: &mut dyn Write, count: usize, workers: &[Worker]) -> io::Result<()> {
    let mut jobs = pieces(count, LARGE);
    let turns = || workers.iter().cycle();
    for (worker, piece) in turns().zip(jobs.by_ref().take(2 * workers.len())) {
        worker.give(piece, String::new())?;
    }
    for (worker, _) in turns().zip(pieces(count, LARGE)) {
        let mut buffer = worker.made.recv().map_err(io::Error::other)?;
        out.write_all(buffer.as_bytes())?;
        if let Some(piece) = jobs.next() {
            buffer.clear();
            worker.give(piece, buffer)?;
        }
    }
    Ok(())
}

/// A thread that makes pieces until its queue is closed.
struct Worker {
    jobs: Sender<(Range<usize>, String)>,
    made: Receiver<String>,
}

impl Worker {
    fn start<'s, 'e: 's, F>(scope: &'s Scope<'s, 'e>, make: &'e F) -> Option<Self>
    where
        F: Fn(Range<usize>, &mut String) + Sync,
    {
        let (jobs, given) = channel::<(Range<usize>, String)>();
        let (done, made) = channel();
        let work = move || {
            for (piece, mut buffer) in given {
                make(piece, &mut buffer);
                if done.send(buffer).is_err() {
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
                let make = |range: Range<usize>, buffer: &mut String| {
                    range.for_each(|i| buffer.push_str(&format!("{i};")));
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
        let make = |range: Range<usize>, buffer: &mut String| range.for_each(|_| buffer.push('x'));
        for threads in [1, 2, 5] {
            let threads = NonZeroUsize::new(threads);
            let refused = write(&mut Full(3 * LARGE), 20 * LARGE, threads, make);
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::WriteZero);
            assert!(write(&mut Full(20 * LARGE), 20 * LARGE, threads, make).is_ok());
        }
    }
}
