//! Devices: bundled datasheets and files of the user's own.

use std::path::Path;

use ftlab_engine::config::{Config, EnergyModel};

use crate::bundled::{Bundled, bundled, is_path};
use crate::error::{Error, Result};
use crate::settings_file::SettingsFile;

/// Every bundled device: one file in `config/devices` of this crate, one name here.
pub const DEVICES: &[Bundled] = bundled!(
    "devices": "dftl2014", "dftl2014_code", "asplos09", "adapt2012", "lazyftl2011",
    "treeftl2013", "ssdsim2010", "slc_small", "tlc_nvme", "qlc_nvme", "consumer_tlc"
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
    let DeviceText { file, stem, text } = text_of(name)?;
    parse(&file, &stem, &text)
}

/// A device file as it is written.
pub(crate) struct DeviceText {
    /// Where it is, for messages.
    pub file: String,
    /// Its name without the extension.
    pub stem: String,
    /// Its content.
    pub text: String,
}

/// The text of a device, named as for [`find`].
pub(crate) fn text_of(name: &str) -> Result<DeviceText> {
    if is_path(name) {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Error::usage(format!("{name}: cannot be read ({error})")))?;
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(DeviceText { file: name.to_owned(), stem, text });
    }
    match DEVICES.iter().find(|device| device.name == name) {
        Some(Bundled { name, text }) => Ok(DeviceText {
            file: format!("config/devices/{name}.toml"),
            stem: (*name).to_owned(),
            text: (*text).to_owned(),
        }),
        None => {
            let names: Vec<&str> = DEVICES.iter().map(|device| device.name).collect();
            let unknown = Error::unknown("device", name, &names);
            Err(Error::usage(format!("{unknown}, or a path to a .toml file")))
        }
    }
}

pub(crate) fn parse(file: &str, name: &str, text: &str) -> Result<Device> {
    let parsed = SettingsFile::parse(file, text, HEAD)?;
    let mut config = Config::default();
    config.device.name = name.to_owned();
    parsed.apply(&mut config)?;
    config.check().map_err(|error| Error::usage(format!("{file}: {error}")))?;
    refuse_silence(&parsed, &config)?;
    let head = |key: &str| parsed.head(key).unwrap_or_default().to_owned();
    Ok(Device { about: head("about"), source: head("source"), config })
}

/// What a part endures and what it draws has no default that could hold for another part: a file
/// that is silent about them would get the numbers of a paper's SLC.
fn refuse_silence(parsed: &SettingsFile, config: &Config) -> Result<()> {
    let energy: &[&str] = match config.energy.model {
        EnergyModel::PerOperation => &["energy.read", "energy.program", "energy.erase"],
        EnergyModel::Current => &["energy.millivolts", "energy.flash_microamperes"],
        EnergyModel::None => &[],
    };
    let stated = |key: &str| parsed.settings.iter().any(|setting| setting.key == key);
    let model: &[&str] = if stated("energy.model") { energy } else { &["energy.model"] };
    let missing: Vec<&str> = ["device.endurance_cycles"]
        .iter()
        .chain(model)
        .copied()
        .filter(|key| !stated(key))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{}: not stated: {}. A device file says itself what its part endures and draws. Legal: \
         endurance_cycles = N under [device], the program/erase cycles of the part (SLC about \
         100000, TLC about 3000); under [energy] model = \"per_operation\" with read, program and \
         erase, model = \"current\" with millivolts and flash_microamperes, or model = \"none\" \
         where nothing is known",
        parsed.file,
        missing.join(", ")
    )))
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

    /// A file of three lines got the energy of DFTL's table and the endurance of SLC, unsaid.
    #[test]
    fn a_file_that_is_silent_about_endurance_or_energy_is_refused_by_key() {
        let refusal = |text: &str| parse("d.toml", "d", text).err().unwrap().to_string();
        let silent = refusal("[device]\nplanes = 2\n");
        let named = "d.toml: not stated: device.endurance_cycles, energy.model. ";
        assert!(silent.starts_with(named), "{silent}");
        let head = "[device]\nendurance_cycles = 3000\n[energy]\n";
        for (model, missing) in [
            ("per_operation", "energy.read, energy.program, energy.erase"),
            ("current", "energy.millivolts, energy.flash_microamperes"),
        ] {
            let half = refusal(&format!("{head}model = \"{model}\"\n"));
            assert!(half.starts_with(&format!("d.toml: not stated: {missing}. ")), "{half}");
        }
        let one = refusal(&format!("{head}model = \"current\"\nmillivolts = 3300\n"));
        assert!(one.starts_with("d.toml: not stated: energy.flash_microamperes. "), "{one}");
        let device = parse("d.toml", "d", &format!("{head}model = \"none\"\n")).ok().unwrap();
        assert_eq!(device.config.energy.model, EnergyModel::None);
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
