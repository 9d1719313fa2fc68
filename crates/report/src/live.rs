//! The page of a drive that serves: it asks the drive what it shows, and holds no number itself.

use crate::writers::page::{self, Charts, Kind};
use serde::Serialize;

const PAGE: Kind = Kind {
    template: include_str!("../assets/live.html"),
    extends: None,
    charts: Charts::Within(&[include_str!("../assets/live_charts.js")]),
    after: &[
        include_str!("../assets/live_blocks.js"),
        include_str!("../assets/live_reclaims.js"),
        include_str!("../assets/live.js"),
    ],
};

#[derive(Serialize)]
struct Own<'a> {
    facts: &'a [(String, String)],
}

/// Writes the page. `facts`: what does not change while the drive serves, name and text.
#[must_use]
pub fn write(title: &str, facts: &[(String, String)]) -> Vec<u8> {
    page::render(&PAGE, title, b"{}", &Own { facts })
}
