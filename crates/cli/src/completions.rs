//! `ftlab completions`: what completes commands in a shell, names of the tables included.

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory as _};
use ftlab_engine::buffer;
use ftlab_engine::schemes::TABLE;
use ftlab_lab::Result;
use ftlab_lab::devices::DEVICES;
use ftlab_lab::reproduce::EXPERIMENTS;
use ftlab_trace::formats::FORMATS;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::print;

/// Prints the script of a shell.
pub fn completions(typed: &CompletionsArguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(typed.shell, &mut named(Arguments::command()), "ftlab", &mut script);
    print::bytes(&script)
}

/// The commands with the names that their options take. Where a path is as legal as a name
/// (workloads, devices, experiments), shells that offer names alone would hide the files: devices
/// and experiments offer names, workloads paths.
fn named(command: Command) -> Command {
    let schemes: Vec<&'static str> = TABLE.iter().map(|row| row.paper.name).collect();
    let several = ["all"].into_iter().chain(schemes.iter().copied()).collect();
    let experiments = ["all"].into_iter().chain(EXPERIMENTS.iter().map(|one| one.name)).collect();
    let options: [(&str, Vec<&'static str>); 7] = [
        ("scheme", schemes),
        ("schemes", several),
        ("device", DEVICES.iter().map(|device| device.name).collect()),
        ("buffer", buffer::TABLE.iter().map(|buffer| buffer.name).collect()),
        ("format", FORMATS.iter().map(|format| format.name).collect()),
        ("address", vec!["strict", "modulo", "dense"]),
        ("names", experiments),
    ];
    with(command, &options)
}

/// Gives the options of a command, and of those below it, their values.
fn with(command: Command, options: &[(&str, Vec<&'static str>)]) -> Command {
    let command = command.mut_args(|argument| {
        let values = options.iter().find(|(name, _)| argument.get_id() == name);
        match values {
            Some((_, values)) => argument.value_parser(PossibleValuesParser::new(values.clone())),
            None => argument,
        }
    });
    command.mut_subcommands(|below| with(below, options))
}
