//! The `ftlab` command: arguments in, one command, an exit code out. What is run, and how, is the
//! library's (`ftlab-lab`); here are arguments, printing, files, progress bars and signals.

mod arguments;
mod compare;
mod completions;
mod conversion;
mod diff;
mod explore;
mod find_subset;
mod gather;
mod list;
mod manual;
mod output;
mod print;
mod progress;
mod ram;
mod reproduce;
mod result_folder;
mod run;
mod schema;
mod sweep;
mod trace;
mod units;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use watch::Watch;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let watch = Watch::default();
    let done = match &arguments.command {
        Command::List(list) => list::list(list),
        Command::Trace(command) => trace::trace(command, &watch),
        Command::Run(typed) => run::run(typed, &watch),
        Command::Compare(typed) => compare::compare(typed, &watch),
        Command::Sweep(typed) => sweep::sweep(typed, &watch),
        Command::Ram(typed) => ram::ram(typed),
        Command::Reproduce(typed) => reproduce::reproduce(typed, &watch),
        Command::Explore(typed) => explore::explore(typed, &watch),
        Command::Diff(typed) => diff::print_diff(typed, &watch),
        Command::Schema(typed) => schema::schema(typed),
        Command::Completions(typed) => completions::completions(typed),
        Command::Man(typed) => manual::man(typed, &watch),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::error(&watch.told(&error));
            ExitCode::from(watch.exit_code(&error))
        }
    }
}
