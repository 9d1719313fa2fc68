//! Looking into a workload without running it.

use std::fmt;
use std::num::NonZero;
use std::str::FromStr;

use ftlab_trace::{InspectionOptions, Workload, inspect_workload, parse_bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::devices;
use crate::error::{Error, Result};
use crate::observer::{Observer, Steps};
use crate::options::reading::Reading;
use crate::options::text::as_text;
use crate::plan::first_pass::description;
use crate::workload::choice::WorkloadChoice;

/// What is to be looked into, and what is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// As [`Experiment::workload`](crate::Experiment::workload).
    pub workload: String,
    /// How it is read.
    pub reading: Reading,
    /// In what it is counted.
    pub counting: Counting,
}

/// What an inspection counts in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Counting {
    /// The pages and erase blocks of this device; 4 KiB and 256 KiB where none is stated.
    pub device: Option<String>,
    /// Page of the footprint, the LRU stack and the map.
    pub page_size: Option<PageSize>,
    /// Entries of a translation page; one per 4 bytes of a page where nothing is stated.
    pub map_entries: Option<NonZero<u32>>,
    /// Sizes of a cache of map entries to be listed, each at least 1.
    pub cache_entries: Sizes,
    /// Sizes of a cache of whole translation pages to be listed, each at least 1.
    pub cache_pages: Sizes,
}

/// Bytes of a page: a multiple of 512 up to 16 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSize(u64);

impl PageSize {
    /// The bytes.
    pub(crate) fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for PageSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let legal = |bytes: &u64| bytes.is_multiple_of(512) && (512..=16 << 20).contains(bytes);
        parse_bytes(text).ok().filter(legal).map(PageSize).ok_or_else(|| {
            Error::usage(format!(
                "--page-size '{text}' is not legal; legal: a multiple of 512 bytes up to 16 MiB, \
                 such as 2k or 4KiB"
            ))
        })
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

as_text!(PageSize);

/// Sizes of a cache, each at least 1, with commas between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(Vec<NonZero<u64>>);

impl FromIterator<NonZero<u64>> for Sizes {
    fn from_iter<I: IntoIterator<Item = NonZero<u64>>>(sizes: I) -> Self {
        Sizes(sizes.into_iter().collect())
    }
}

impl FromStr for Sizes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let size = |text: &str| text.trim().parse().ok();
        let sizes: Option<Vec<NonZero<u64>>> = text.split(',').map(size).collect();
        sizes.map(Sizes).ok_or_else(|| {
            Error::usage(format!(
                "sizes of a cache '{text}' are not legal; legal: numbers from 1 with commas \
                 between them"
            ))
        })
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }
}

as_text!(Sizes);

impl Inspection {
    /// Looks into the workload; what was found, and the same as JSON.
    ///
    /// # Errors
    /// [`Error::Usage`] for what cannot be read or is not legal, [`Error::Cancelled`].
    pub fn run(&self, observer: &dyn Observer) -> Result<(ftlab_trace::Inspection, Value)> {
        let (counting, logical_bytes) = self.counting.options()?;
        let choice = WorkloadChoice::new(&self.workload, &self.reading, &[], Some(observer))?;
        let workload = choice.open(logical_bytes)?;
        let steps = Steps::requests(observer, &choice.name, workload.requests_known());
        let watch = |requests| steps.advance_by(requests);
        let described = |workload: &Workload| description(workload, observer);
        let mut found = inspect_workload(&workload, &counting, watch, described)?;
        drop(steps);
        found.stand_in = choice.stands_for();
        found.name = choice.name;
        found.filter = self.reading.filter.as_ref().map(ToString::to_string);
        let value = serde_json::to_value(&found)
            .map_err(|error| Error::Run(format!("the inspection has no JSON form: {error}")))?;
        Ok((found, value))
    }

    /// Whether the workload is there, without looking into it.
    pub(crate) fn check(&self) -> Result<()> {
        WorkloadChoice::new(&self.workload, &self.reading, &[], None).map(|_| ())
    }
}

impl Counting {
    /// The names of these options.
    pub const OPTIONS: [&'static str; 5] =
        ["device", "page-size", "map-entries", "cache-entries", "cache-pages"];

    /// What to count in, and the capacity that shares in a spec refer to; 0 without a device.
    fn options(&self) -> Result<(InspectionOptions, u64)> {
        let defaults = InspectionOptions::default();
        let (mut page_bytes, mut extent_bytes) = (defaults.page_bytes, defaults.extent_bytes);
        let mut logical_bytes = 0;
        if let Some(name) = &self.device {
            let device = devices::find(name)?.config.device.clone();
            page_bytes = device.unit_bytes();
            extent_bytes = page_bytes * u64::from(device.units_per_block());
            logical_bytes = device.logical_pages() * page_bytes;
        }
        if let Some(PageSize(bytes)) = self.page_size {
            page_bytes = bytes;
        }
        let mut counting = InspectionOptions::of_pages(page_bytes, extent_bytes);
        if let Some(entries) = self.map_entries {
            counting.map_entries = entries.get().into();
        }
        let plain = |sizes: &Sizes| sizes.0.iter().map(|size| size.get()).collect();
        counting.cache_entries = plain(&self.cache_entries);
        counting.cache_pages = plain(&self.cache_pages);
        Ok((counting, logical_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_pages_are_told_as_they_are_read() {
        assert_eq!("8, 64".parse::<Sizes>().unwrap().to_string(), "8,64");
        assert_eq!("4KiB".parse::<PageSize>().unwrap().to_string(), "4096");
        for text in ["", "0", "8,,64", "8,x"] {
            let refusal = text.parse::<Sizes>().unwrap_err().to_string();
            assert!(refusal.contains("numbers from 1"), "{text}: {refusal}");
        }
        for text in ["0", "3", "32MiB", "x"] {
            let refusal = text.parse::<PageSize>().unwrap_err().to_string();
            assert!(refusal.contains("a multiple of 512"), "{text}: {refusal}");
        }
    }
}
