//! Which arguments name standard input: it can be read only once.

use std::path::{Path, PathBuf};

use super::{Cli, Command, Tabled};
use crate::cli::io::is_stream;
use crate::cli::outcome::Failure;

impl Cli {
    /// Refuses arguments that name standard input twice: the second input from it would be empty.
    ///
    /// # Errors
    ///
    /// `-` stands for several inputs.
    pub(crate) fn streams(&self) -> Result<(), Failure> {
        let mut files: Vec<&Path> = self.language.fragments.iter().map(PathBuf::as_path).collect();
        match &self.command {
            None => {
                files.push(or_stream(self.input.as_deref()));
                files.extend(self.verification.inputs.as_deref());
            }
            Some(Command::Check(Tabled(check))) => {
                files.push(or_stream(check.inputs.first().map(PathBuf::as_path)));
                files.extend(check.inputs.iter().skip(1).chain(&check.language.fragments).map(PathBuf::as_path));
            }
            Some(Command::Diff(Tabled(diff))) => {
                files.extend(diff.a.as_deref().into_iter().chain(diff.b.as_deref()));
                files.extend(diff.language.fragments.iter().map(PathBuf::as_path));
            }
            Some(Command::Fmt(Tabled(fmt))) => files.extend(fmt.inputs.iter().map(PathBuf::as_path)),
            Some(Command::Run(Tabled(run))) => {
                files.push(or_stream(run.input.as_deref()));
                files.extend(run.inputs.as_deref());
                files.extend(run.language.fragments.iter().map(PathBuf::as_path));
            }
            Some(Command::Expr(Tabled(expr))) => {
                let literal = expr.literal.as_deref().filter(|_| expr.fuse);
                files.extend(expr.text.as_deref().or(literal).map(Path::new));
                files.extend(expr.inputs.as_deref());
                files.extend(expr.language.fragments.iter().map(PathBuf::as_path));
            }
            #[cfg(feature = "lsp")]
            Some(Command::Lsp(Tabled(lsp))) => {
                files.push(or_stream(None));
                files.extend(lsp.fragments.iter().map(PathBuf::as_path));
            }
            // These read at most one input.
            Some(
                Command::Layout(_)
                | Command::Explain(_)
                | Command::Completions(_)
                | Command::Man(_)
                | Command::Complete(_),
            ) => {}
        }
        match files.into_iter().filter(|path| is_stream(path)).count() {
            0 | 1 => Ok(()),
            _ => {
                let message = "standard input can be read only once: `-` stands for one input";
                Err(Failure::Message(message.to_owned()))
            }
        }
    }
}

/// An input; standard input without one.
fn or_stream(input: Option<&Path>) -> &Path {
    input.unwrap_or(Path::new("-"))
}
