//! What stands for the crate `zip` in WebAssembly, where it would need the random numbers of a browser: archives are
//! neither read nor written.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::marker::PhantomData;

const ABSENT: &str = "there are no ZIP archives in WebAssembly";

/// An archive, of which there is none.
#[derive(Clone, Debug)]
pub(crate) struct ZipArchive<R>(Infallible, PhantomData<R>);

impl<R> ZipArchive<R> {
    /// Refuses bytes.
    pub(crate) fn new(_: R) -> Result<Self, &'static str> {
        Err(ABSENT)
    }

    /// The number of members.
    pub(crate) fn len(&self) -> usize {
        match self.0 {}
    }

    /// The member at a position.
    pub(crate) fn by_index(&mut self, _: usize) -> Result<read::ZipFile<'_, R>, &'static str> {
        match self.0 {}
    }

    /// The member with a name.
    pub(crate) fn by_name(&mut self, _: &str) -> Result<read::ZipFile<'_, R>, &'static str> {
        match self.0 {}
    }
}

/// Reading.
pub(crate) mod read {
    use super::{Cow, Infallible, PhantomData, Read, io};

    /// A member of an archive, of which there is none.
    pub(crate) struct ZipFile<'a, R>(Infallible, PhantomData<&'a R>);

    impl<R> ZipFile<'_, R> {
        /// The number of bytes.
        pub(crate) fn size(&self) -> u64 {
            match self.0 {}
        }

        /// The name.
        pub(crate) fn name(&self) -> Result<Cow<'_, str>, &'static str> {
            match self.0 {}
        }
    }

    impl<R> Read for ZipFile<'_, R> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            match self.0 {}
        }
    }
}

/// A writer, which cannot begin a member.
pub(crate) struct ZipWriter<W>(W);

impl<W> ZipWriter<W> {
    /// A writer to an output.
    pub(crate) fn new(to: W) -> Self {
        ZipWriter(to)
    }

    /// Refuses a member.
    pub(crate) fn start_file(&mut self, _: impl Into<String>, _: write::SimpleFileOptions) -> Result<(), &'static str> {
        Err(ABSENT)
    }

    /// Refuses the archive.
    pub(crate) fn finish(self) -> Result<W, &'static str> {
        Err(ABSENT)
    }
}

impl<W> Write for ZipWriter<W> {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other(ABSENT))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writing.
pub(crate) mod write {
    /// The options of a member.
    #[derive(Clone, Copy, Default)]
    pub(crate) struct SimpleFileOptions;

    impl SimpleFileOptions {
        /// Has no effect.
        pub(crate) fn compression_method(self, _: super::CompressionMethod) -> Self {
            self
        }

        /// Has no effect.
        pub(crate) fn last_modified_time(self, _: super::DateTime) -> Self {
            self
        }

        /// Has no effect.
        pub(crate) fn large_file(self, _: bool) -> Self {
            self
        }
    }
}

/// How members are compressed.
pub(crate) enum CompressionMethod {
    /// Not at all.
    Stored,
}

/// When members were modified.
#[derive(Default)]
pub(crate) struct DateTime;
