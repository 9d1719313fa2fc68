//! Tells the command which commit it is built from: a packed crate carries it in a file, a checkout
//! is asked; elsewhere it is not known.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = packed().or_else(checked_out).unwrap_or_else(|| "commit unknown".to_owned());
    println!("cargo::rustc-env=FTLAB_COMMIT={commit}");
}

/// What `cargo package` wrote down.
fn packed() -> Option<String> {
    const FILE: &str = ".cargo_vcs_info.json";
    let text = std::fs::read_to_string(FILE).ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    let (commit, _) = rest.split_once('"')?;
    commit.get(..12).map(str::to_owned)
}

/// What git says of the folder that this lies in; changes since the commit are not told.
fn checked_out() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // Every commit, checkout and amendment writes here.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
