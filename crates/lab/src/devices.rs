//! Devices: bundled datasheets and files of the user's own.

use std::path::Path;

use ftlab_engine::config::Config;

use crate::bundled::{Bundled, bundled, is_path};
use crate::error::{Error, Result};
use crate::settings_file::SettingsFile;

/// Every bundled device: one file in `config/devices` of this crate, one name here.
pub const DEVICES: &[Bundled] = bundled!(
    "devices": "dftl2014", "dftl2014_code", "asplos09", "adapt2012", "lazyftl2011",
    "treeftl2013", "ssdsim2010", "slc_small", "tlc_nvme", "qlc_nvme"
);

/// Keys before the first section of a device file.
const HEAD: &[&str] = &["about", "source"];

/// A device as its file describes it.
pub struct Device {
    /// What it is, in a line.
    pub about: String,
    /// Where its numbers come from.
    pub source: String,
    /// The settings that the file leaves alone have their defaults.
    pub config: Config,
}

/// The device of that name, or of that file: a path has a slash or ends in `.toml`.
///
/// # Errors
/// Unknown names, with the nearest; files that cannot be read; keys and values that are not legal,
/// with their line.
pub fn find(name: &str) -> Result<Device> {
    if is_path(name) {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Error::usage(format!("{name}: cannot be read ({error})")))?;
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        return parse(name, &stem, &text);
    }
    match DEVICES.iter().find(|device| device.name == name) {
        Some(Bundled { name, text }) => parse(&format!("config/devices/{name}.toml"), name, text),
        None => {
            let names: Vec<&str> = DEVICES.iter().map(|device| device.name).collect();
            let unknown = Error::unknown("device", name, &names);
            Err(Error::usage(format!("{unknown}, or a path to a .toml file")))
        }
    }
}

fn parse(file: &str, name: &str, text: &str) -> Result<Device> {
    let parsed = SettingsFile::parse(file, text, HEAD)?;
    let mut config = Config::default();
    config.device.name = name.to_owned();
    parsed.apply(&mut config)?;
    config.check().map_err(|error| Error::usage(format!("{file}: {error}")))?;
    let head = |key: &str| parsed.head(key).unwrap_or_default().to_owned();
    Ok(Device { about: head("about"), source: head("source"), config })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled::files_in;

    #[test]
    fn every_device_file_is_bundled_legal_and_says_where_it_comes_from() {
        let mut names: Vec<&str> = DEVICES.iter().map(|device| device.name).collect();
        for bundled in DEVICES {
            let device = find(bundled.name).unwrap();
            assert!(!device.about.is_empty() && !device.source.is_empty(), "{}", bundled.name);
            assert_eq!(device.config.device.name, bundled.name);
        }
        names.sort_unstable();
        assert_eq!(names, files_in("devices"));
    }

    #[test]
    fn the_sizes_are_those_of_the_papers() {
        let sizes = |name: &str| {
            let device = find(name).unwrap().config.device.clone();
            (device.physical_blocks(), device.logical_pages() / 64)
        };
        assert_eq!(sizes("dftl2014"), (8448, 8192));
        assert_eq!(sizes("ssdsim2010").0, 4 * 4 * 4 * 2048);
        assert_eq!(sizes("treeftl2013"), (270_336, (32 << 30) / (128 << 10)));
        assert_eq!(find("treeftl2013").unwrap().config.timing.ram_page.0, 2_000);
        let lazy = find("lazyftl2011").unwrap().config.timing.clone();
        assert_eq!((lazy.read.0, lazy.program.0, lazy.erase.0), (80_000, 200_000, 1_500_000));
        let code = find("dftl2014_code").unwrap().config.timing.clone();
        assert_eq!((code.read.0 * 4, code.program.0 * 4), (130_900, 405_900));
        assert_eq!(find("asplos09").unwrap().config.timing.erase.0, 2_000_000);
        let transfer = find("ssdsim2010").unwrap().config.timing.page_transfer.0;
        assert_eq!(transfer, 25 * 2112);
    }
}
