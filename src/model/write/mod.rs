//! Writing models into a folder or an archive, completely or not at all.

mod apart;
mod archive;
mod content;
mod copy;
mod folder;
mod target;

pub(super) use archive::header;
pub use content::Content;
pub(crate) use content::{Look, Staged};
pub use target::Target;
pub(crate) use target::rewrite;
