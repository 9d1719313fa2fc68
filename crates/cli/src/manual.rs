//! `ftlab man`: a page for every command, made from what `--help` says.

use clap::CommandFactory as _;
use ftlab_lab::Result;

use crate::arguments::{Arguments, ManArguments};
use crate::result_folder::ResultFolder;
use crate::watch::Watch;

/// Writes the pages to a new folder.
pub fn man(typed: &ManArguments, watch: &Watch) -> Result<()> {
    watch.begin()?;
    let mut folder = ResultFolder::claim(&typed.out, false, &watch.unfinished)?;
    clap_mangen::generate_to(Arguments::command(), folder.place())
        .map_err(|error| folder.cannot(&error))?;
    folder.publish()
}
