//! Which of the mutants that stand in these sources is on: `FTLAB_MUTANT`, its number. Instead of
//! one `FTLAB_REACHED` names a file that the numbers of those are written to that were asked for.
//! Only in the copies that tests/mutants makes.

use std::io::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

const MOST: usize = 1 << 16;
const NOTES: u32 = u32::MAX;

static ON: LazyLock<u32> = LazyLock::new(|| match std::env::var("FTLAB_MUTANT") {
    Ok(number) => number.parse().expect("a number"),
    Err(_) if std::env::var_os("FTLAB_REACHED").is_some() => NOTES,
    Err(_) => 0,
});
static REACHED: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

/// Whether it is this one.
#[inline]
pub fn on(number: u32) -> bool {
    let chosen = *ON;
    if chosen == NOTES {
        note(number);
    }
    chosen == number
}

#[cold]
fn note(number: u32) {
    if !REACHED[number as usize].swap(true, Ordering::Relaxed) {
        let path = std::env::var_os("FTLAB_REACHED").expect("set");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.expect("a file").write_all(format!("{number}\n").as_bytes()).expect("written");
    }
}
