//! Output files and folders: they are written completely or not at all, synchronized to disk before they
//! get their names (large ones before they replace others), and leave nothing behind if a run is interrupted.

mod beside;
mod disk;
mod output;
mod paths;
mod replace;
pub(crate) mod temporary;
#[cfg(test)]
mod tests;

pub(crate) use beside::Beside;
pub(crate) use disk::{sync, sync_folder};
pub(crate) use output::{is_synced, write, write_beside};
pub(crate) use paths::{parent, real};
pub(crate) use replace::replace_folder;
