//! The limits on models.

/// The limits on models. Data files are not held in memory, so the limits bound time, disk space, and
/// the memory for the list of files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most files and folders.
    pub entries: usize,
    /// The most bytes that the names of files and folders have together.
    pub names: usize,
    /// The longest text of a graph, in bytes.
    pub graph: u64,
    /// The longest `graph.quant`, in bytes.
    pub quant: u64,
    /// A text in a compressed archive may always have this many bytes; one that is longer, up to
    /// [`Limits::ratio`] times the size of the archive. Texts are held in memory.
    pub text: u64,
    /// A compressed archive may always decompress to this many bytes.
    pub unpacked: u64,
    /// It may decompress to more, up to this many times its size. Weights hardly compress; an archive
    /// that decompresses to far more is made to fill a disk.
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
    /// The bytes of names that there are for each file.
    pub(crate) const NAME: usize = 335;

    /// The limits for models of strangers, as a service reads them.
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

    /// How many bytes so many compressed ones may become, where some are allowed in any case.
    pub(crate) fn inflated(&self, always: u64, packed: u64) -> u64 {
        always.max(packed.saturating_mul(self.ratio))
    }
}
