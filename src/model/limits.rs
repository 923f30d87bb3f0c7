//! How large a model may be.

/// The limits on models. Files are never held in memory, so they bound time and disk, and the
/// memory that the list of files takes.
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
    /// Up to this many bytes a compressed archive may unpack to in any case.
    pub unpacked: u64,
    /// Beyond them, to this many times its size. Weights hardly compress; what unpacks to far more
    /// is made to fill a disk.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entries: 200_000, names: 64 << 20, graph: 2 << 30, quant: 64 << 20, unpacked: 8 << 30, ratio: 200 }
    }
}
