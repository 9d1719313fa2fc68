//! How often pages are rewritten.

use std::collections::BTreeMap;

use serde::Serialize;

use super::lru_stack::LruStack;

/// Shares of the written pages, the most written first, whose part of the writes is named.
const HOTTEST: [f64; 4] = [0.01, 0.05, 0.1, 0.2];

/// Writes by page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UpdateFrequency {
    /// Pages written once or more.
    pub written_pages: u64,
    /// Page accesses that wrote.
    pub page_writes: u64,
    /// Pages written twice or more.
    pub rewritten_pages: u64,
    /// Page writes by written pages; 0 without a write.
    pub writes_per_page_mean: f64,
    /// Writes of the page that was written most; at most 4294967295 are counted of a page.
    pub writes_per_page_max: u64,
    /// Pages by how often they were written: bins that are not empty, their width doubling.
    pub bins: Vec<UpdateBin>,
    /// How the writes concentrate; empty without a write.
    pub hottest: Vec<HottestPages>,
}

/// Pages that were written about equally often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UpdateBin {
    /// Fewest writes of a page of the bin.
    pub writes_from: u64,
    /// Most writes of a page of the bin.
    pub writes_to: u64,
    /// Pages in it.
    pub pages: u64,
    /// Writes to them.
    pub page_writes: u64,
}

/// The most written pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HottestPages {
    /// Share of the written pages; at least one page.
    pub share_of_written_pages: f64,
    /// Their share of the page writes.
    pub share_of_page_writes: f64,
}

impl UpdateFrequency {
    /// From what the stack knows of every page.
    pub(super) fn new(stack: &LruStack) -> Self {
        // As many keys as there are different counts: at most the root of twice the writes.
        let mut pages_by_writes: BTreeMap<u64, u64> = BTreeMap::new();
        for page in stack.pages().filter(|page| page.writes > 0) {
            *pages_by_writes.entry(page.writes.into()).or_default() += 1;
        }
        let written_pages: u64 = pages_by_writes.values().sum();
        let page_writes = pages_by_writes.iter().map(|(writes, pages)| writes * pages).sum();
        let once = pages_by_writes.get(&1).copied().unwrap_or(0);
        Self {
            written_pages,
            page_writes,
            rewritten_pages: written_pages - once,
            writes_per_page_mean: page_writes as f64 / written_pages.max(1) as f64,
            writes_per_page_max: pages_by_writes.keys().next_back().copied().unwrap_or(0),
            bins: bins(&pages_by_writes),
            hottest: hottest(&pages_by_writes, written_pages, page_writes),
        }
    }
}

/// 1, 2, 3 to 4, 5 to 8, 9 to 16 writes and so on.
fn bins(pages_by_writes: &BTreeMap<u64, u64>) -> Vec<UpdateBin> {
    let mut bins: Vec<UpdateBin> = Vec::new();
    for (&writes, &pages) in pages_by_writes {
        let writes_to = writes.next_power_of_two();
        if bins.last().is_none_or(|bin| bin.writes_to != writes_to) {
            let writes_from = writes_to / 2 + 1;
            bins.push(UpdateBin { writes_from, writes_to, pages: 0, page_writes: 0 });
        }
        if let Some(bin) = bins.last_mut() {
            bin.pages += pages;
            bin.page_writes += writes * pages;
        }
    }
    bins
}

fn hottest(
    pages_by_writes: &BTreeMap<u64, u64>,
    written_pages: u64,
    page_writes: u64,
) -> Vec<HottestPages> {
    let share_of = |share: f64| {
        let mut left = ((written_pages as f64 * share) as u64).max(1);
        let mut writes_to_them = 0;
        for (&writes, &pages) in pages_by_writes.iter().rev() {
            writes_to_them += writes * pages.min(left);
            left -= pages.min(left);
        }
        HottestPages {
            share_of_written_pages: share,
            share_of_page_writes: writes_to_them as f64 / page_writes as f64,
        }
    };
    if written_pages == 0 { Vec::new() } else { HOTTEST.map(share_of).to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_by_page_by_hand() {
        let mut stack = LruStack::new(0);
        // Pages 0 to 9 are written 1, 1, 1, 1, 1, 2, 3, 4, 5 and 81 times; page 10 is only read.
        for (page, times) in [1, 1, 1, 1, 1, 2, 3, 4, 5, 81].into_iter().enumerate() {
            (0..times).for_each(|_| stack.access(0, page as u64, true));
        }
        stack.access(0, 10, false);
        let found = UpdateFrequency::new(&stack);
        assert_eq!((found.written_pages, found.page_writes, found.rewritten_pages), (10, 100, 5));
        assert_eq!((found.writes_per_page_mean, found.writes_per_page_max), (10.0, 81));
        let row = |bin: &UpdateBin| (bin.writes_from, bin.writes_to, bin.pages, bin.page_writes);
        let rows: Vec<(u64, u64, u64, u64)> = found.bins.iter().map(row).collect();
        assert_eq!(
            rows,
            [(1, 1, 5, 5), (2, 2, 1, 2), (3, 4, 2, 7), (5, 8, 1, 5), (65, 128, 1, 81)]
        );
        let shares: Vec<f64> = found.hottest.iter().map(|row| row.share_of_page_writes).collect();
        assert_eq!(shares, [0.81, 0.81, 0.81, 0.86]);
    }

    #[test]
    fn without_a_write_there_is_no_distribution() {
        let found = UpdateFrequency::new(&LruStack::new(0));
        assert_eq!(found, UpdateFrequency::default());
    }
}
