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

    #[test]
    fn exactly_so_many_bytes_are_copied() {
        let copied = |bytes: &[u8], size: u64| {
            let (mut out, mut told) = (Vec::new(), 0);
            copy(&mut &*bytes, &mut out, size, &mut |count| told += count).map(|()| (out, told))
        };
        assert_eq!(copied(b"abc", 3).unwrap(), (b"abc".to_vec(), 3));
        assert_eq!(copied(b"", 0).unwrap(), (Vec::new(), 0));
        assert!(copied(b"abc", 4).is_err() && copied(b"abc", 2).is_err());
    }
}
