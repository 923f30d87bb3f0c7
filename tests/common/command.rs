//! The command as a user calls it, for all tests of it.

#![allow(dead_code)] // Every test crate uses a part.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A call of the command.
pub struct Call {
    command: Command,
    stdin: Option<Vec<u8>>,
}

/// A call with arguments, without colours and without standard input, in the folder of the package.
pub fn call<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Call {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nnef-flatten"));
    command.args(args).env("NO_COLOR", "1");
    Call { command, stdin: None }
}

impl Call {
    /// The same with more arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// The same in another folder.
    pub fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// The same with standard input.
    pub fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = Some(bytes.as_ref().to_vec());
        self
    }

    /// Runs the command to its end.
    pub fn run(mut self) -> Output {
        let stdin = if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the command starts");
        let writer = child.stdin.take().zip(self.stdin).map(|(mut pipe, bytes)| {
            // A program that refuses its arguments does not read.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)))
        });
        let output = child.wait_with_output().expect("the command ends");
        writer.into_iter().for_each(|writer| writer.join().expect("the input is written"));
        output
    }
}

/// Runs the command without standard input.
pub fn run(args: &[&str]) -> Output {
    call(args).run()
}

/// Runs the command with standard input.
pub fn feed(args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
    call(args).stdin(stdin).run()
}

/// All that the command wrote: messages are on standard error, and those of `check` on standard output.
pub fn messages(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What the command wrote to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
