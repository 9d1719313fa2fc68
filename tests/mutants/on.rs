//! Which of the mutants that stand in these sources is on: `FTLAB_MUTANT`, its number. Instead of
//! one `FTLAB_REACHED` names a file that the numbers of those are written to that were asked for.
//! Only in the copies that tests/mutants makes.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

const MOST: usize = 1 << 16;

static ON: LazyLock<On> = LazyLock::new(|| match std::env::var("FTLAB_MUTANT") {
    Ok(number) => On { number: number.parse().expect("a number"), notes: None },
    Err(_) => On { number: 0, notes: std::env::var_os("FTLAB_REACHED").map(notes) },
});
static REACHED: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

struct On {
    number: u32,
    notes: Option<Mutex<File>>,
}

fn notes(path: std::ffi::OsString) -> Mutex<File> {
    Mutex::new(OpenOptions::new().create(true).append(true).open(path).expect("a file"))
}

/// Whether it is this one.
#[inline]
pub fn on(number: u32) -> bool {
    let on = &*ON;
    if let Some(notes) = &on.notes {
        note(number, notes);
    }
    on.number == number
}

/// Allocates nothing: there is a test that counts what is allocated.
#[cold]
fn note(number: u32, notes: &Mutex<File>) {
    if !REACHED[number as usize].swap(true, Ordering::Relaxed) {
        writeln!(notes.lock().expect("whole"), "{number}").expect("written");
    }
}
