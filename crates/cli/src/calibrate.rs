//! `ftlab calibrate`: a device from what fio measured on a real drive.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use ftlab_lab::calibrate::{JOB_FILE, Request};
use ftlab_lab::{Error, Result, ResultFile, quoted};
use ftlab_report::calibration::tables::{PARAMETERS, PROBES, TOPOLOGIES};
use ftlab_report::calibration::{Calibration, page};
use serde_json::to_value;

use crate::arguments::CalibrateArguments;
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Claims the files, fits, writes, prints.
pub fn calibrate(typed: &CalibrateArguments, watch: &Watch) -> Result<()> {
    if typed.job_file {
        return print::text(JOB_FILE);
    }
    let (Some(base), Some(out)) = (&typed.base, &typed.out) else {
        return Err(Error::usage("--base and --out are missing"));
    };
    if out.extension().is_none_or(|extension| extension != "toml") {
        return Err(Error::usage(format!(
            "--out {} is no device file; legal: a new file that ends in .toml",
            out.display()
        )));
    }
    if typed.html.as_ref().is_some_and(|html| place(html) == place(out)) {
        return Err(Error::usage(format!(
            "--out and --html are both {}; legal: two files",
            out.display()
        )));
    }
    watch.begin()?;
    let request = request(typed, base)?;
    let claim = |path: &Path| ResultFile::claim(path, &watch.unfinished);
    let device = claim(out)?;
    let html = typed.html.as_deref().map(claim).transpose()?;
    let calibrated = request.run(&Progress::new(typed.quiet, watch))?;
    if let Some(html) = html {
        html.publish(&page::write(&calibrated.found))?;
    }
    device.publish(calibrated.device.as_bytes())?;
    match typed.json {
        true => {
            let value = to_value(&calibrated.found)
                .map_err(|error| Error::Run(format!("what was found has no JSON form: {error}")))?;
            print::json(&value)
        }
        false => told(&calibrated.found, out, typed.html.as_deref()),
    }
}

/// Where a new file would be, however its path is typed.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

fn request(typed: &CalibrateArguments, base: &str) -> Result<Request> {
    Ok(Request {
        files: typed.files.clone(),
        base: base.to_owned(),
        buffer: typed.buffer.clone(),
        set: typed.set.iter().map(String::as_str).collect(),
        channels: typed.channels.clone(),
        dies: typed.dies.clone(),
        planes: typed.planes.clone(),
        precondition: typed.precondition.as_deref().map(str::parse).transpose()?,
        requests: Some(typed.requests),
        seed: typed.seed,
        jobs: typed.jobs.and_then(|jobs| NonZero::new(usize::from(jobs))),
        command: command(typed, base),
    })
}

/// The command line of the same fit, without the files that it writes.
fn command(typed: &CalibrateArguments, base: &str) -> String {
    let mut words = vec!["ftlab calibrate".to_owned()];
    words.extend(typed.files.iter().map(String::as_str).map(quoted));
    let mut add = |name: &str, value: &str| words.push(format!("--{name} {}", quoted(value)));
    add("base", base);
    typed.buffer.iter().for_each(|name| add("buffer", name));
    typed.set.iter().for_each(|setting| add("set", setting));
    for (name, list) in
        [("channels", &typed.channels), ("dies", &typed.dies), ("planes", &typed.planes)]
    {
        if !list.is_empty() {
            add(name, &list.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
        }
    }
    typed.precondition.iter().for_each(|mode| add("precondition", mode));
    if typed.requests != 4000 {
        add("requests", &typed.requests.to_string());
    }
    if typed.seed != 1 {
        add("seed", &typed.seed.to_string());
    }
    words.push("--out FILE.toml".to_owned());
    words.join(" ")
}

fn told(found: &Calibration, out: &Path, page: Option<&Path>) -> Result<()> {
    let versions: Vec<String> =
        found.files.iter().map(|(file, version)| format!("{file} ({version})")).collect();
    print::text(&format!("{}: {}\nfrom {}\n", found.base, found.ways(), versions.join(", ")))?;
    print::numbers(&PARAMETERS, &found.parameter_rows())?;
    for sentence in found.unknown() {
        print::text(&sentence)?;
    }
    print::text(&format!("\n{}\n", found.topology_verdict()))?;
    if found.topologies.len() > 1 {
        print::numbers(&TOPOLOGIES, &found.topology_rows())?;
        let beyond = found.topologies_beyond();
        if beyond > 0 {
            print::text(&format!("{beyond} more were tried (--json)"))?;
        }
        print::text("")?;
    }
    print::numbers(&PROBES, &found.probe_rows())?;
    print::text("")?;
    for (job, why) in &found.left_out {
        print::text(&format!("Left out: {job}: {why}."))?;
    }
    for sentence in &found.words {
        print::text(sentence)?;
    }
    let simulations = found.simulations;
    let page = page.map_or(String::new(), |page| format!(", {}", page.display()));
    print::text(&format!(
        "\nWritten after {simulations} simulations: {}{page}; --device {} runs on it",
        out.display(),
        out.display()
    ))
}
