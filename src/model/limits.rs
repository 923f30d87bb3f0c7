//! The limits on models.

/// The limits on models. Data files are not loaded into memory, so the limits apply to time, disk space, and the memory
/// for the list of files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of files and folders.
    pub entries: usize,
    /// The maximum total length of the names of files and folders, in bytes.
    pub names: usize,
    /// The maximum size of the text of a graph, in bytes.
    pub graph: u64,
    /// The maximum size of `graph.quant`, in bytes.
    pub quant: u64,
    /// The size that a text in a compressed archive may have in any case, in bytes. A larger one may have up to
    /// [`Limits::ratio`] times the size of the archive. Texts are kept in memory.
    pub text: u64,
    /// The number of bytes to which a compressed archive may decompress in any case.
    pub unpacked: u64,
    /// The maximum ratio of decompressed to compressed size of an archive beyond [`Limits::unpacked`]. Weights
    /// are hardly compressible; an archive with a much higher ratio is a decompression bomb.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            entries: 200_000,
            names: 64 << 20,
            graph: 2 << 30,
            quant: 64 << 20,
            text: 64 << 20,
            unpacked: 8 << 30,
            ratio: 200,
        }
    }
}

impl Limits {
    /// The bytes of names that are allowed for each file.
    pub(crate) const NAME: usize = 335;

    /// The limits for untrusted models, such as those that a service reads.
    pub fn untrusted() -> Self {
        Limits {
            entries: 10_000,
            names: 10_000 * Self::NAME,
            graph: 8 << 20,
            quant: 8 << 20,
            text: 8 << 20,
            unpacked: 256 << 20,
            ratio: 10,
        }
    }

    /// The number of bytes that `packed` compressed bytes may decompress to; `always` is allowed in any case.
    pub(crate) fn inflated(&self, always: u64, packed: u64) -> u64 {
        always.max(packed.saturating_mul(self.ratio))
    }
}
