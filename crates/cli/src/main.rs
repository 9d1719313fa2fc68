//! The program: its arguments in, an exit code out. All of it is the library's, which the Python
//! package brings as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ftlab::main(std::env::args_os()))
}
