//! `ftlab explore`: any number of results on one page.

use ftlab_lab::{Result, ResultFile};
use ftlab_report::explore::{self, Explored};

use crate::arguments::ExploreArguments;
use crate::gather::gather;
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Reads, writes, prints.
pub fn explore(typed: &ExploreArguments, watch: &Watch) -> Result<()> {
    watch.begin()?;
    let page = ResultFile::claim(&typed.out, &watch.unfinished)?;
    let progress = Progress::new(typed.quiet, watch);
    let found = gather(&typed.results, &progress)?;
    drop(progress);
    let asked: Vec<String> = typed.results.iter().map(|path| path.display().to_string()).collect();
    let explored = Explored {
        asked: &asked,
        runs: &found.runs,
        files: found.files,
        passed_over: found.passed_over,
        unreadable: &found.unreadable,
    };
    page.publish(&explore::write(&explored))?;
    print::text(&explore::title(&explored))?;
    for (word, sentence) in explore::facts(&explored) {
        print::text(&format!("{word}: {sentence}"))?;
    }
    for warning in explore::warnings(&explored) {
        print::text(&format!("Warning: {warning}"))?;
    }
    print::text(&format!("\nWritten: {}", typed.out.display()))
}
