//! The `nnef-flatten` command that the wheel installs.

fn main() -> std::process::ExitCode {
    nnef_flatten::cli::main()
}
