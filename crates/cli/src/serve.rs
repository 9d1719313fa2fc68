//! `ftlab serve`: a simulated drive as a network block device, until a signal ends it.

mod listening;
mod page;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ftlab_drive::{Drive, Pace};
use ftlab_lab::{Error, Experiment, Result, ResultFile, RunResult};
use ftlab_nbd::{Export as _, Server};
use ftlab_report::format::Quantity;
use ftlab_report::writers::Document;

use crate::arguments::ServeArguments;
use crate::conversion;
use crate::output::{identify, written};
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;
use listening::listen;
use page::Page;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How often the result so far is written.
const STATISTICS: Duration = Duration::from_secs(1);

/// Prepares, listens, serves, and tells what that cost.
pub fn serve(typed: &ServeArguments, watch: &Watch) -> Result<()> {
    let pace: Pace = typed.timing.parse().map_err(Error::Usage)?;
    let experiment = Experiment {
        precondition: typed.precondition.parse()?,
        seed: typed.seed,
        ..conversion::device(&typed.scheme, &typed.device)?
    };
    watch.begin()?;
    let progress = Progress::new(typed.quiet, watch);
    let serving = experiment.serving(&progress)?;
    let title = format!("{} on {}", serving.scheme(), serving.config().device.name);
    let claim = |path: &Path| ResultFile::claim(path, &watch.unfinished);
    let json = typed.json.as_deref().map(claim).transpose()?;
    let record = typed.record.as_deref().map(named_ftb).transpose()?.map(claim).transpose()?;
    let (server, url) = listen(&typed.listen, typed.listen_anyone)?;
    let http = typed.http.as_deref();
    let http = http.map(|text| page::listen(text, typed.listen_anyone)).transpose()?;
    let recorded = record.as_ref().map(ResultFile::handle).transpose()?;
    let keep = (typed.store.as_deref(), recorded);
    let drive = Drive::open(serving, pace, keep, &progress)?;
    drive.lose_every(typed.canary);
    drop(progress);
    let size = Quantity::Bytes.format(drive.size() as f64);
    let found = drive.recovered_in().map_or(String::new(), |took| {
        format!(", found again in {} of simulated time", Quantity::Nanoseconds.format(took as f64))
    });
    print::text(&format!("{title}, {size}{found}, serves {url}; Ctrl-C ends it"))?;
    let command = command(&experiment, typed);
    let page =
        http.map(|listener| Page::new(listener, &drive, &title, page::facts(&size, &command)));
    if let Some(page) = &page {
        print::text(&format!("It is shown at {}", page.url()))?;
    }
    let told = Told { drive: &drive, title: &title, command };
    serve_until_told(server, page.as_ref(), &told, (typed.stats.as_deref(), watch))?;
    // What failed cannot be looked through.
    let result = told.result(drive.failure().is_none());
    drive.close().map_err(Error::Run)?;
    if let Some(file) = record {
        drive.end_record().map_err(|error| {
            Error::Run(format!("{} cannot be written ({error})", show(typed.record.as_deref())))
        })?;
        file.persist()?;
    }
    let result = result?;
    let document = told.document(&result);
    if let Some(file) = json {
        file.publish(&written("json", &document)?)?;
    }
    print::bytes(&written("text", &document)?)?;
    drive.failure().map_or(Ok(()), |why| Err(Error::Run(format!("the drive failed: {why}"))))
}

fn show(path: Option<&Path>) -> String {
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

fn named_ftb(path: &Path) -> Result<&Path> {
    match path.extension().is_some_and(|ending| ending == "ftb") {
        true => Ok(path),
        false => Err(Error::usage(format!(
            "--record {} is not legal; legal: a name that ends in .ftb",
            path.display()
        ))),
    }
}

/// What serves the like again.
fn command(experiment: &Experiment, typed: &ServeArguments) -> String {
    let run = experiment.command();
    let options = run.strip_prefix("ftlab run").unwrap_or(&run);
    let store =
        typed.store.as_ref().map_or(String::new(), |path| format!(" --store {}", path.display()));
    let http = typed.http.as_ref().map_or(String::new(), |at| format!(" --http {at}"));
    format!("ftlab serve{options}{store} --listen {} --timing {}{http}", typed.listen, typed.timing)
}

/// What a drive tells of itself.
struct Told<'a> {
    drive: &'a Drive,
    title: &'a str,
    command: String,
}

impl Told<'_> {
    fn result(&self, audited: bool) -> Result<RunResult> {
        let mut result = self.drive.result(&self.command, audited)?;
        identify(&mut result, false);
        Ok(result)
    }

    fn document<'r>(&'r self, result: &'r RunResult) -> Document<'r> {
        Document { title: self.title, runs: std::slice::from_ref(result), comparison: false }
    }
}

/// Serves until a signal ends it, or the drive fails.
fn serve_until_told(
    server: Server,
    page: Option<&Page<'_>>,
    told: &Told<'_>,
    (statistics, watch): (Option<&Path>, &Watch),
) -> Result<()> {
    let asked = wants_table()?;
    let (end, page_ends) = (server.handle(), AtomicBool::new(false));
    let mut due = Instant::now();
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.run(told.drive));
        if let Some(page) = page {
            scope.spawn(|| page.run(&page_ends));
            scope.spawn(|| page.look(&page_ends));
        }
        let mut look = || -> Result<()> {
            while watch.answer().is_continue() && told.drive.failure().is_none() {
                if asked.swap(false, Ordering::Relaxed) {
                    let result = told.result(false)?;
                    print::bytes(&written("text", &told.document(&result))?)?;
                }
                if let Some(path) = statistics.filter(|_| Instant::now() >= due) {
                    due = Instant::now() + STATISTICS;
                    replace(path, &written("json", &told.document(&told.result(false)?))?)?;
                }
                thread::sleep(LOOK);
            }
            Ok(())
        };
        let looked = look();
        told.drive.end_waiting();
        end.stop();
        page_ends.store(true, Ordering::SeqCst);
        let served = serving.join().map_err(|_| Error::Run("the server ended by a bug".to_owned()));
        looked?;
        served?.map_err(|error| Error::Run(format!("the server ended ({error})")))
    })
}

/// Puts a file in the place of the one of that name, at once.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let done = fs::write(&aside, bytes).and_then(|()| fs::rename(&aside, path));
    done.map_err(|error| {
        Error::Run(format!("--stats {} cannot be written ({error})", path.display()))
    })
}

/// Becomes true with every SIGUSR1.
fn wants_table() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&asked))
        .map_err(|error| Error::Run(format!("SIGUSR1 cannot be watched for: {error}")))?;
    Ok(asked)
}
