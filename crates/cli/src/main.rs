//! The `ftlab` command: arguments in, one command, an exit code out. What is run, and how, is the
//! library's (`ftlab-lab`); here are arguments, printing, files, progress bars and signals.

mod arguments;
mod compare;
mod completions;
mod conversion;
mod find_subset;
mod list;
mod manual;
mod output;
mod print;
mod progress;
mod ram;
mod reproduce;
mod run;
mod schema;
mod trace;
mod units;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::List(list) => list::list(list),
        Command::Trace(command) => trace::trace(command),
        Command::Run(typed) => run::run(typed),
        Command::Compare(typed) => compare::compare(typed),
        Command::Ram(typed) => ram::ram(typed),
        Command::Reproduce(typed) => reproduce::reproduce(typed),
        Command::Schema(typed) => schema::schema(typed),
        Command::Completions(typed) => completions::completions(typed),
        Command::Man(typed) => manual::man(typed),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::error(&error.to_string());
            ExitCode::from(watch::exit_code(&error))
        }
    }
}
