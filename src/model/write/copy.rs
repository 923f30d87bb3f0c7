//! Copies of files in pieces.

use std::io::{self, Read, Write};

/// The number of bytes that are copied at once.
const CHUNK: usize = 1 << 18;

/// Copies exactly `size` bytes in pieces.
pub(super) fn copy(
    from: &mut dyn Read,
    to: &mut dyn Write,
    size: u64,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK.min(usize::try_from(size).unwrap_or(CHUNK))];
    let mut left = size;
    while left > 0 {
        let room = buffer.len().min(usize::try_from(left).unwrap_or(CHUNK));
        let count = match from.read(&mut buffer[..room]) {
            Ok(0) => {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read"));
            }
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(&buffer[..count])?;
        left -= count as u64;
        progress(count as u64);
    }
    if from.read(&mut [0])? > 0 {
        return Err(io::Error::other("the file became longer while it was read"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most seven bytes at once.
    struct Dripping<'b>(&'b [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let room = buffer.len().min(7);
            self.0.read(&mut buffer[..room])
        }
    }

    #[test]
    fn exactly_so_many_bytes_are_copied() {
        let copied = |bytes: &[u8], size: u64| {
            let of = |from: &mut dyn Read| {
                let (mut out, mut told) = (Vec::new(), 0);
                copy(from, &mut out, size, &mut |count| told += count).map(|()| (out, told)).ok()
            };
            let found = of(&mut &*bytes);
            assert_eq!(of(&mut Dripping(bytes)), found);
            found
        };
        let many: Vec<u8> = (0..2 * CHUNK + 3).map(|i| (i % 251) as u8).collect();
        let size = many.len() as u64;
        assert_eq!(copied(&many, size).unwrap(), (many.clone(), size));
        assert!(copied(&many, size + 1).is_none() && copied(&many, size - 1).is_none());
        assert_eq!(copied(b"abc", 3).unwrap(), (b"abc".to_vec(), 3));
        assert_eq!(copied(b"", 0).unwrap(), (Vec::new(), 0));
        assert!(copied(b"abc", 4).is_none() && copied(b"abc", 2).is_none());
    }
}
