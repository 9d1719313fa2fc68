//! The table of writers: one file and one row per output format.

mod csv;
mod document;
mod html;
mod json;
pub(crate) mod page;
mod text;

pub use document::Document;

/// One output format.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// Its name, which is also the extension of its files.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    /// Makes the file.
    pub write: fn(&Document<'_>) -> Vec<u8>,
}

/// Every output format.
pub const WRITERS: &[Writer] = &[
    Writer { name: "text", about: "Aligned tables for the terminal.", write: text::write },
    Writer { name: "json", about: "Everything, for programs.", write: json::write },
    Writer { name: "csv", about: "A row per run, for spreadsheets.", write: csv::write },
    Writer { name: "html", about: "One page with charts, read offline.", write: html::write },
];

/// The writer of that name.
#[must_use]
pub fn writer(name: &str) -> Option<&'static Writer> {
    WRITERS.iter().find(|writer| writer.name == name)
}
