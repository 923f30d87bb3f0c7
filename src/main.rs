//! The `nnef-flatten` command.

fn main() -> std::process::ExitCode {
    nnef_flatten::cli::main()
}
