//! `ftlab man`: a page for every command, made from what `--help` says.

use clap::CommandFactory as _;
use ftlab_lab::Result;

use crate::arguments::{Arguments, ManArguments};
use crate::output::ResultFolder;
use crate::watch::Watch;

/// Writes the pages to a new folder.
pub fn man(typed: &ManArguments) -> Result<()> {
    let watch = Watch::begin()?;
    let folder = ResultFolder::claim(&typed.out, &watch.unfinished)?;
    clap_mangen::generate_to(Arguments::command(), folder.unfinished())
        .map_err(|error| folder.cannot(&error))?;
    folder.publish()
}
