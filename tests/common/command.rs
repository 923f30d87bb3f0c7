//! The command as a user calls it, for all tests of it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nnef_flatten::input::{Input, Refusal};

/// The name of the variable with the path of the program to test, if it is not the one that is built with the tests.
const GIVEN: &str = "NNEF_FLATTEN_BIN";

/// The program that is built with the tests: it is not optimized, and ends where numbers overflow.
pub fn program() -> PathBuf {
    std::env::var_os(GIVEN).unwrap_or(env!("CARGO_BIN_EXE_nnef-flatten").into()).into()
}

/// A call of the command.
pub struct Call {
    command: Command,
    stdin: Option<Vec<u8>>,
}

/// A call with arguments, without colours and without standard input, in the folder of the package.
pub fn call<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Call {
    call_of(&program(), args)
}

/// The same of a program.
fn call_of<A: AsRef<OsStr>>(program: &Path, args: impl IntoIterator<Item = A>) -> Call {
    let mut command = Command::new(program);
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

    /// The same with a variable of the environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The same by a shell with limits, such as `-t 2` for seconds of processor time.
    pub fn limited(self, limits: &[&str]) -> Self {
        let limits: String = limits.iter().map(|limit| format!("ulimit {limit} && ")).collect();
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(limits + "exec \"$0\" \"$@\"")
            .arg(self.command.get_program())
            .args(self.command.get_args());
        let variables = self.command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(variables);
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        Call { command, ..self }
    }

    /// The process, for tests that give it streams of their own or do not wait for its end.
    pub fn command(self) -> Command {
        self.command
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

/// What the library prints of an input in a notation.
pub fn printed(input: Input, to: &str) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::new();
    input.print(to, &mut out)?;
    Ok(out)
}

/// Why the library refuses an input.
pub fn told(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Found(found) => found.to_string(),
        other => format!("{other:?}"),
    }
}

/// Whether a text of NNEF has data beside it.
pub fn has_variables(nnef: &[u8]) -> bool {
    nnef.windows(10).any(|part| part == b"= variable")
}

/// All that the command wrote: messages are on standard error, and those of `check` on standard output.
pub fn messages(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What the command wrote to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The same with an optimized program, for tests of time, memory and depth and those with thousands of calls. It is built when
/// the first test needs it, from the sources as they are.
pub mod fast {
    use std::ffi::OsStr;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};
    use std::sync::OnceLock;

    use super::{Call, GIVEN, call_of, stderr};

    /// The program.
    pub fn program() -> PathBuf {
        static BUILT: OnceLock<PathBuf> = OnceLock::new();
        std::env::var_os(GIVEN).map_or_else(|| BUILT.get_or_init(built).clone(), PathBuf::from)
    }

    fn built() -> PathBuf {
        let target = Path::new(env!("CARGO_BIN_EXE_nnef-flatten")).ancestors().nth(2).expect("a folder of artifacts");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["build", "--quiet", "--profile", "fast", "--bin", "nnef-flatten", "--target-dir"]).arg(target);
        let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts");
        assert!(output.status.success(), "the fast program is not built:\n{}", stderr(&output));
        target.join("fast/nnef-flatten").with_extension(std::env::consts::EXE_EXTENSION)
    }

    /// A call with arguments, as those of the other program.
    pub fn call<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Call {
        call_of(&program(), args)
    }

    /// Runs the command without standard input.
    pub fn run(args: &[&str]) -> Output {
        call(args).run()
    }

    /// Runs the command with standard input.
    pub fn feed(args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        call(args).stdin(stdin).run()
    }
}
