//! `ftlab serve`: a simulated drive as a network block device, until a signal ends it.

mod listening;
mod page;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ftlab_drive::{Drive, Folder, Pace};
use ftlab_engine::config::{Bytes, Value as _};
use ftlab_lab::{Error, Experiment, Result, ResultFile, RunResult, quoted};
use ftlab_nbd::{Export as _, Server};
use ftlab_report::format::Quantity;
use ftlab_report::writers::Document;

use crate::arguments::ServeArguments;
use crate::conversion;
use crate::output::{identify, written};
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;
use listening::Place;
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
    let place = Place::new(&typed.listen, typed.listen_anyone)?;
    let log_bytes = typed.store_log.as_deref().map(log_bytes).transpose()?;
    let http = typed.http.as_deref();
    let http = http.map(|text| page::listen(text, typed.listen_anyone)).transpose()?;
    let recorded = record.as_ref().map(ResultFile::handle).transpose()?;
    let folder = typed.store.as_deref().map(|path| Folder { path, log_bytes });
    let drive = Drive::open(serving, pace, (folder, recorded), &progress)?;
    drive.lose_every(typed.canary);
    drop(progress);
    let (server, url) = place.listen()?;
    let asked = wants_table()?;
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
    let look = Look { asked, statistics: typed.stats.as_deref(), watch };
    let served = serve_until_told(server, page.as_ref(), &told, look);
    let kept = end(&told, json, record.map(|file| (file, show(typed.record.as_deref()))));
    served.and(kept)?;
    drive.failure().map_or(Ok(()), |why| Err(Error::Run(format!("the drive failed: {why}"))))
}

/// What was answered is kept, and told as far as can be, whatever goes wrong meanwhile: the first
/// that did.
fn end(
    told: &Told<'_>,
    json: Option<ResultFile>,
    record: Option<(ResultFile, String)>,
) -> Result<()> {
    let drive = told.drive;
    // Flush, result, checkpoint: the result knows of the flush as the record does.
    let flushed = drive.last_flush().map_err(Error::Run);
    // What failed cannot be looked through.
    let result = told.result(drive.failure().is_none());
    let closed = drive.close().map_err(Error::Run);
    let recorded = record.map_or(Ok(()), |(file, name)| {
        drive
            .end_record()
            .map_err(|error| Error::Run(format!("{name} cannot be written ({error})")))?;
        file.persist()
    });
    let published = result.and_then(|result| {
        let document = told.document(&result);
        let json = json.map_or(Ok(()), |file| file.publish(&written("json", &document)?));
        json.and(print::bytes(&written("text", &document)?))
    });
    flushed.and(closed).and(recorded).and(published)
}

/// `--store-log`.
fn log_bytes(text: &str) -> Result<u64> {
    match Bytes::parse(text).filter(|bytes| bytes.0 > 0) {
        Some(bytes) => Ok(bytes.0),
        None => Err(Error::usage(format!(
            "--store-log '{text}' is not legal; legal: {}, above 0",
            Bytes::legal()
        ))),
    }
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

/// What serves the like again, as a shell takes it.
fn command(experiment: &Experiment, typed: &ServeArguments) -> String {
    let run = experiment.command();
    let options = run.strip_prefix("ftlab run").unwrap_or(&run);
    let store = typed.store.as_ref().map(|path| path.to_string_lossy());
    let own = [
        ("store", store.as_deref()),
        ("store-log", typed.store_log.as_deref()),
        ("listen", Some(typed.listen.as_str())),
        ("timing", Some(typed.timing.as_str())),
        ("http", typed.http.as_deref()),
    ];
    let told =
        own.iter().filter_map(|(name, text)| Some(format!(" --{name} {}", quoted((*text)?))));
    let anyone = if typed.listen_anyone { " --listen-anyone" } else { "" };
    format!("ftlab serve{options}{}{anyone}", told.collect::<String>())
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

    /// The table so far.
    fn table(&self) -> Result<()> {
        print::bytes(&written("text", &self.document(&self.result(false)?))?)
    }

    /// The result so far.
    fn json(&self) -> Result<Vec<u8>> {
        written("json", &self.document(&self.result(false)?))
    }

    fn document<'r>(&'r self, result: &'r RunResult) -> Document<'r> {
        Document { title: self.title, runs: std::slice::from_ref(result), comparison: false }
    }
}

/// What is looked for while a drive is served.
struct Look<'a> {
    /// Whether the table is wanted.
    asked: Arc<AtomicBool>,
    statistics: Option<&'a Path>,
    watch: &'a Watch,
}

impl Look<'_> {
    /// Until a signal ends it, or the drive fails. What cannot be told meanwhile is said, and no
    /// reason for the drive to end: it is said once until it can be told again.
    fn until_told(&self, told: &Told<'_>) {
        let (mut due, mut failed) = (Instant::now(), false);
        while self.watch.answer().is_continue() && told.drive.failure().is_none() {
            if self.asked.swap(false, Ordering::Relaxed)
                && let Err(error) = told.table()
            {
                print::note(&format!("The drive goes on without its table: {error}"));
            }
            if let Some(path) = self.statistics.filter(|_| Instant::now() >= due) {
                due = Instant::now() + STATISTICS;
                let replaced = told.json().and_then(|bytes| replace(path, &bytes));
                if let Err(error) = replaced.as_ref().map_err(ToString::to_string)
                    && !failed
                {
                    print::note(&format!("The drive goes on without what failed: {error}"));
                }
                failed = replaced.is_err();
            }
            thread::sleep(LOOK);
        }
    }
}

/// Serves until a signal ends it, or the drive fails.
fn serve_until_told(
    server: Server,
    page: Option<&Page<'_>>,
    told: &Told<'_>,
    look: Look<'_>,
) -> Result<()> {
    let (end, page_ends) = (server.handle(), AtomicBool::new(false));
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.run(told.drive));
        if let Some(page) = page {
            scope.spawn(|| page.run(&page_ends));
            scope.spawn(|| page.look(&page_ends));
        }
        look.until_told(told);
        told.drive.end_waiting();
        end.stop();
        page_ends.store(true, Ordering::SeqCst);
        let served = serving.join().map_err(|_| Error::Run("the server ended by a bug".to_owned()));
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
