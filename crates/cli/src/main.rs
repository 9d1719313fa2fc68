//! The `ftlab` command: arguments in, one command, an exit code out.

mod arguments;
mod compare;
mod devices;
#[cfg(test)]
mod devices_theory;
mod driving;
mod execute;
mod failure;
mod filling;
mod find_subset;
mod first_pass;
mod footprint;
mod list;
mod memory;
mod output;
mod plan;
mod precondition;
mod prices;
mod print;
mod progress;
mod ram;
mod reclaiming;
mod recording;
mod reproduce;
mod run;
mod selection;
mod settings_file;
mod sizing;
mod snapshot;
mod steady;
mod stream;
mod timing;
mod trace;
mod trace_dir;
mod unfinished;
mod units;
mod warnings;
mod workloads;

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
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print::error(&failure.to_string());
            ExitCode::from(failure.code())
        }
    }
}
