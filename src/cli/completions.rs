//! `nnef-flatten completions`: a script for a shell.

use clap_complete::Shell;

use crate::sink::OutputLimit;

use super::outcome::{RunResult, Status};
use super::{io, options};

/// The scripts that call `nnef-flatten complete`: a fixed list of words cannot distinguish an INPUT from a
/// subcommand.
const SCRIPTS: &[(Shell, &str)] = &[
    (Shell::Bash, include_str!("shells/bash.sh")),
    (Shell::Zsh, include_str!("shells/zsh.sh")),
    (Shell::Fish, include_str!("shells/fish.fish")),
];

/// Writes the completion script of a shell.
pub(crate) fn run(shell: Shell) -> RunResult {
    let mut script = Vec::new();
    match SCRIPTS.iter().find(|(of, _)| *of == shell) {
        Some((_, text)) => script.extend_from_slice(text.as_bytes()),
        None => clap_complete::generate(shell, &mut options::command(), "nnef-flatten", &mut script),
    }
    io::write_stdout(OutputLimit::NONE, &mut |out| out.write_all(&script))?;
    Ok(Status::Done)
}
