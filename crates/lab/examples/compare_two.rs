//! Two schemes on one device and workload, and what each costs.
//!
//!     cargo run --release -p ftlab-lab --example compare_two

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use ftlab_lab::{Error, Experiment, Silent};

fn main() -> Result<(), Error> {
    let experiment = Experiment {
        schemes: "dftl,fast".into(),
        device: "dftl2014".to_owned(),
        workload: "oltp_demo".to_owned(),
        precondition: "fill".parse()?,
        verify: true,
        ..Experiment::default()
    };
    let complete = experiment.compare()?.run(None, &Silent)?.complete()?;
    for run in &complete.runs {
        let response_ms = run.latency_ns.all.system.mean / 1e6;
        let (waf, erases) = (run.waf.unwrap_or_default(), run.flash.total_erases);
        println!("{}: {response_ms:.3} ms, WAF {waf:.3}, {erases} erases", run.scheme);
    }
    Ok(())
}
