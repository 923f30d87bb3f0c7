//! The command as a user calls it.

use std::path::Path;
use std::process::{Command, Output};

/// What the command did.
pub struct Ran {
    /// The exit status.
    pub status: Option<i32>,
    pub stderr: String,
}

/// Runs the command with words that contain no blanks, in a folder.
pub fn run(words: &str, folder: &Path) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nnef-flatten"));
    let Output { status, stderr, .. } =
        command.args(words.split_whitespace()).current_dir(folder).env("NO_COLOR", "1").output().expect("it starts");
    Ran { status: status.code(), stderr: String::from_utf8_lossy(&stderr).into_owned() }
}
