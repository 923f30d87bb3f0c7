//! Entries of archives, written by hand: their headers need not be true.

/// An entry of an archive, whose header may say anything.
pub fn entry(archive: &mut Vec<u8>, name: &str, kind: u8, size: u64, content: &[u8]) {
    let mut header = [0u8; 512];
    let length = name.len().min(99);
    header[..length].copy_from_slice(&name.as_bytes()[..length]);
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[136..148].copy_from_slice(b"00000000000\0");
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    archive.extend_from_slice(&header);
    archive.extend_from_slice(content);
    archive.resize(archive.len().next_multiple_of(512), 0);
}
