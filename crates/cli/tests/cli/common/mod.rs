//! Runs the real binary in a folder of its own.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use boon::{Compiler, SchemaIndex, Schemas};
use ftlab_report::schema;
use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which `ftlab` runs.
pub struct Bench {
    folder: TempDir,
}

/// How a command ended.
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ended {
    fn new(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Standard output of a command that must have succeeded.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        assert_eq!(self.err, "", "silent outside a terminal");
        self.out
    }

    /// Standard error of a command that must have ended with `code` and said each of `words`.
    #[track_caller]
    pub fn refused(self, code: i32, words: &[&str]) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "'{word}' is not in: {}", self.err);
        }
        assert_eq!(self.out, "", "nothing but the error is printed");
        self.err
    }
}

/// The program: `FTLAB_PROGRAM`, or the one that was compiled with the tests.
pub fn program() -> OsString {
    std::env::var_os("FTLAB_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_ftlab").into())
}

impl Bench {
    /// An empty folder.
    pub fn new() -> Self {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// What is in the folder, hidden files included.
    pub fn entries(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().to_str().unwrap().to_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(program());
        // What tests of many small devices ask of the allocator is none of a user's.
        command.env_remove("MALLOC_TRIM_THRESHOLD_").env_remove("MALLOC_MMAP_THRESHOLD_");
        command.current_dir(self.folder.path()).args(line.split_whitespace());
        command
    }

    /// Runs `ftlab` with the words of `line`.
    pub fn ftlab(&self, line: &str) -> Ended {
        Ended::new(&self.command(line).stdin(Stdio::null()).output().unwrap())
    }

    /// The same, with something that happens while it runs.
    pub fn ftlab_meanwhile(&self, line: &str, meanwhile: impl FnOnce()) -> Ended {
        let mut command = self.command(line);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        meanwhile();
        Ended::new(&child.wait_with_output().unwrap())
    }

    /// Runs `ftlab` until `under_way` says that it has begun, and a fifth of a second more; then it
    /// gets the signal of Ctrl-C.
    #[cfg(unix)]
    pub fn interrupted(&self, line: &str, under_way: impl Fn() -> bool) -> Ended {
        self.ended_by("-INT", line, || {
            let begun = under_way();
            if begun {
                std::thread::sleep(Duration::from_millis(200));
            }
            begun
        })
    }

    /// Runs `ftlab` until `is_time`; then it gets `signal` at once.
    #[cfg(unix)]
    pub fn ended_by(&self, signal: &str, line: &str, is_time: impl Fn() -> bool) -> Ended {
        let mut command = self.command(line);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let began = Instant::now();
        while !is_time() {
            assert!(began.elapsed() < Duration::from_secs(20), "nothing began within 20 seconds");
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        Ended::new(&child.wait_with_output().unwrap())
    }

    /// Runs `ftlab` where the address space has so many KiB.
    #[cfg(unix)]
    pub fn ftlab_within(&self, kibibytes: u64, line: &str) -> Ended {
        let own = self.command(line);
        let mut command = Command::new("sh");
        command.current_dir(self.folder.path()).arg("-c");
        command.arg(format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\""));
        command.arg(own.get_program()).args(own.get_args());
        Ended::new(&command.stdin(Stdio::null()).output().unwrap())
    }

    /// Runs `ftlab` with a file of the folder as standard input.
    pub fn ftlab_reading(&self, input: &str, line: &str) -> Ended {
        let input = std::fs::File::open(self.path(input)).unwrap();
        Ended::new(&self.command(line).stdin(input).output().unwrap())
    }

    /// A JSON file of the folder; results are held to their schema.
    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        let value = serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap();
        if is_result(&value) {
            conforms(&RESULTS, &value, name);
        }
        value
    }

    /// Runs `ftlab run` and returns its JSON.
    #[track_caller]
    pub fn run(&self, line: &str) -> Value {
        let number = self.entries().len();
        self.ftlab(&format!("run {line} --json run{number}.json")).ok();
        self.json(&format!("run{number}.json"))
    }
}

/// The schema of files of results.
pub static RESULTS: LazyLock<Schema> = LazyLock::new(|| Schema::new(&schema::results()));

/// The schema of a row per request.
pub static ROWS: LazyLock<Schema> = LazyLock::new(|| Schema::new(&schema::rows()));

/// What values are held to.
pub struct Schema {
    compiled: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn new(schema: &Value) -> Self {
        let (name, mut compiled, mut compiler) = ("schema.json", Schemas::new(), Compiler::new());
        compiler.add_resource(name, schema.clone()).expect("nothing else has this name");
        let index = compiler.compile(name, &mut compiled).expect("a legal schema");
        Schema { compiled, index }
    }

    /// Whether a value is what the schema says.
    pub fn holds(&self, value: &Value) -> bool {
        self.compiled.validate(value, self.index).is_ok()
    }
}

/// An object per run, or an array of them.
fn is_result(value: &Value) -> bool {
    let run = value.as_array().map_or(Some(value), |runs| runs.first());
    run.and_then(|run| run.get("schema")).is_some_and(|schema| schema == "ftlab/1")
}

/// Holds a value to its schema.
#[track_caller]
pub fn conforms(schema: &Schema, value: &Value, what: &str) {
    let found = schema.compiled.validate(value, schema.index);
    // What is wrong with an array of runs would print all of them.
    let wrong = found.err().map(|error| error.to_string().chars().take(2_000).collect::<String>());
    assert!(wrong.is_none(), "{what}: {}", wrong.unwrap_or_default());
}

/// Names of all schemes, from the table itself.
pub fn schemes() -> Vec<&'static str> {
    ftlab_engine::schemes::TABLE.iter().map(|row| row.paper.name).collect()
}

/// The folder of real traces, which is no part of the project.
pub fn traces() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    folder.is_dir().then(|| folder.canonicalize().unwrap())
}

/// A result without what depends on the machine.
pub fn without_wall(mut result: Value) -> Value {
    let runs = match &mut result {
        Value::Array(runs) => runs.iter_mut().collect(),
        one => vec![one],
    };
    for run in runs {
        run.as_object_mut().unwrap().remove("wall").unwrap();
        run.as_object_mut().unwrap().remove("made").unwrap();
    }
    result
}
