//! The `ftlab` command: arguments in, one command, an exit code out. What is run, and how, is the
//! library's (`ftlab-lab`); here are arguments, printing, files, progress bars and signals.
//!
//! A library itself, because two programs are made of it: `ftlab`, and the one that the Python
//! package brings. What that package has to know of the command stands here too: the words of every
//! option, what can be listed, and the commit.

mod arguments;
mod calibrate;
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
mod serve;
mod sweep;
mod trace;
mod units;
mod watch;

use std::ffi::OsString;
use std::io::Write as _;

use clap::{CommandFactory as _, Parser as _, ValueEnum as _};
use ftlab_lab::{Error, Result};
use serde_json::Value;

use arguments::{Arguments, Command, Listing};
use watch::Watch;

pub use output::identify;

/// The commit that this was built from: 12 hexadecimal digits, or `commit unknown`.
pub const COMMIT: &str = env!("FTLAB_COMMIT");

/// Runs the command of these words, of which the first is the program's name, and returns its exit
/// code: 0 done, 1 the run failed, 2 usage or bad input, 130 Ctrl-C, 143 SIGTERM. Prints to
/// standard output and standard error. Commands that take long watch for signals from then on, for
/// the rest of the process: a second one ends it.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let code = match Arguments::try_parse_from(words) {
        Ok(arguments) => obey(&arguments),
        Err(told) => {
            // There is nowhere left to complain when the terminal is closed.
            let _ = told.print();
            u8::try_from(told.exit_code()).unwrap_or(2)
        }
    };
    // Who calls this need not end as a program of Rust does, which flushes.
    let _ = std::io::stdout().flush();
    code
}

fn obey(arguments: &Arguments) -> u8 {
    let watch = Watch::default();
    let done = match &arguments.command {
        Command::List(list) => list::list(list),
        Command::Trace(command) => trace::trace(command, &watch),
        Command::Run(typed) => run::run(typed, &watch),
        Command::Compare(typed) => compare::compare(typed, &watch),
        Command::Sweep(typed) => sweep::sweep(typed, &watch),
        Command::Serve(typed) => serve::serve(typed, &watch),
        Command::Calibrate(typed) => calibrate::calibrate(typed, &watch),
        Command::Ram(typed) => ram::ram(typed),
        Command::Reproduce(typed) => reproduce::reproduce(typed, &watch),
        Command::Explore(typed) => explore::explore(typed, &watch),
        Command::Diff(typed) => diff::print_diff(typed, &watch),
        Command::Schema(typed) => schema::schema(typed),
        Command::Completions(typed) => completions::completions(typed),
        Command::Man(typed) => manual::man(typed, &watch),
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            print::error(&watch.told(&error));
            watch.exit_code(&error)
        }
    }
}

/// What `ftlab list NAME --json` prints: an array of objects.
///
/// # Errors
/// [`Error::Usage`]: a name of no list, and which there are.
pub fn listing(name: &str) -> Result<Value> {
    let known = Listing::from_str(name, false).map_err(|_| {
        let names: Vec<String> = Listing::value_variants().iter().map(listing_name).collect();
        Error::unknown("list", name, &names.iter().map(String::as_str).collect::<Vec<_>>())
    })?;
    Ok(list::listed(known)?.json())
}

fn listing_name(of: &Listing) -> String {
    of.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// An option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its name without dashes: `skip-bad`.
    pub name: String,
    /// What its value looks like, `N` or `FILE`; none of a flag.
    pub value: Option<String>,
    /// What it does, as `--help` says it, without a full stop.
    pub about: String,
}

/// The options of a command (`run`, `compare`, `trace inspect`, `sweep`), in the order of its help.
///
/// # Panics
/// Where there is no such command.
#[must_use]
pub fn options(command: &str) -> Vec<Described> {
    let mut all = Arguments::command();
    let own = command.split(' ').fold(&mut all, |above, name| {
        above.find_subcommand_mut(name).unwrap_or_else(|| panic!("no command '{command}'"))
    });
    let described = |option: &clap::Arg| {
        let name = option.get_long()?.to_owned();
        let takes = option.get_action().takes_values();
        let names = option.get_value_names().filter(|_| takes);
        let value = names.map(|names| names.iter().map(|name| name.as_str()).collect::<String>());
        let about = option.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Described { name, value, about })
    };
    own.get_arguments().filter_map(described).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_an_experiment_is_described() {
        let mut all = options("run");
        all.extend(options("compare"));
        for name in ftlab_lab::Experiment::OPTIONS {
            let found = all.iter().find(|one| one.name == name);
            assert!(found.is_some_and(|one| one.about.len() > 10), "{name}: {found:?}");
        }
        let capacity = all.iter().find(|one| one.name == "capacity").unwrap();
        assert_eq!(capacity.value.as_deref(), Some("BYTES|auto"));
        let flag = all.iter().find(|one| one.name == "verify").unwrap();
        assert_eq!(flag.value, None);
        assert!(options("trace inspect").iter().any(|one| one.name == "cache-entries"));
    }

    #[test]
    fn lists_are_those_of_the_command() {
        assert!(listing("schemes").unwrap()[0]["name"].is_string());
        let told = listing("scheme").unwrap_err().to_string();
        assert!(told.contains("did you mean 'schemes'") && told.contains("devices"), "{told}");
    }
}
