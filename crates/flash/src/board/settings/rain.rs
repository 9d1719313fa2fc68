//! The group `rain`: parity over the dies of a line, and what becomes of a die that fails.

use crate::settings::SettingError;
use crate::{choices, settings};

use super::device::DeviceSettings;
use super::nand::NandSettings;

choices! {
    /// What a flush does with a stripe that is not full.
    pub enum RainFlush {
        /// Nothing: capacitors save its parity when the power goes.
        Capacitor = "capacitor",
        /// Its parity so far is programmed to its next page, and the whole parity when it is full.
        Partial = "partial",
        /// It is filled up with pages that hold nothing.
        Pad = "pad",
    }
}

settings! {
    /// Parity over the dies of a line (`alloc.unit = line`).
    pub struct RainSettings in "rain" {
        /// Dies of a stripe, one page of which is the parity of the others; 0: no parity. The dies
        /// of the device are a multiple of it.
        stripe: u32 = 0, legal("0 or 2..=64", |v| *v == 0 || (2..=64).contains(v)),
            source("docs/papers/lines.md");
        /// Whether the die that holds the parity changes from stripe to stripe.
        rotate: bool = true, legal("", |_| true), source("docs/papers/lines.md");
        /// What a flush does with a stripe that is not full.
        flush: RainFlush = RainFlush::Capacitor, legal("", |_| true),
            source("docs/papers/lines.md");
        /// Pages of a failed die, or of single pages that failed, that are moved before each page
        /// that is written, and at a time in idle gaps, as long as there are any.
        rebuild_pages: u32 = 8, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("ftlab");
    }
}

impl RainSettings {
    /// Stripes divide the dies, and a die that fails is one of them.
    pub(super) fn check(
        &self,
        device: &DeviceSettings,
        nand: &NandSettings,
    ) -> Result<(), SettingError> {
        self.check_without_parity()?;
        let dies = device.plane_count() / u64::from(device.planes);
        let stripe = self.stripe;
        if stripe > 0 && !dies.is_multiple_of(u64::from(stripe)) {
            return Err(SettingError::Conflict(format!(
                "rain.stripe = {stripe} must divide the dies of the device, of which there are \
                 {dies} (device.channels * device.packages * device.dies)"
            )));
        }
        if self.flush != RainFlush::Capacitor && device.units_per_page() > 1 {
            return Err(SettingError::Conflict(format!(
                "rain.flush = {} and device.mapping_unit = {} exclude each other: units gather to \
                 flash pages under capacitors, which save parity too; legal: rain.flush = capacitor, \
                 or device.mapping_unit = auto",
                self.flush.name(),
                device.unit_bytes()
            )));
        }
        if self.flush != RainFlush::Capacitor && device.ram_nonvolatile {
            return Err(SettingError::Conflict(format!(
                "rain.flush = {} and device.ram_nonvolatile = true exclude each other: the parity of \
                 stripes that are not full outlives a power cut in such memory; legal: \
                 rain.flush = capacitor, or device.ram_nonvolatile = false",
                self.flush.name()
            )));
        }
        if nand.failing_die.0.is_none() && nand.die_fails_after > 0 {
            return Err(SettingError::Conflict(format!(
                "nand.die_fails_after = {} says when a die fails, and nand.failing_die names none",
                nand.die_fails_after
            )));
        }
        if let Some(die) = nand.failing_die.0
            && u64::from(die) >= dies
        {
            return Err(SettingError::Conflict(format!(
                "nand.failing_die = {die}, the device has dies 0 to {}",
                dies - 1
            )));
        }
        Ok(())
    }

    /// Without parity nothing else is said of it.
    fn check_without_parity(&self) -> Result<(), SettingError> {
        let usual = RainSettings::default();
        let pages = self.rebuild_pages;
        let without_effect = [
            (!self.rotate, "rain.rotate = false".to_owned()),
            (self.flush != usual.flush, format!("rain.flush = {}", self.flush.name())),
            (pages != usual.rebuild_pages, format!("rain.rebuild_pages = {pages}")),
        ];
        match without_effect.into_iter().find(|(is_set, _)| *is_set && self.stripe == 0) {
            None => Ok(()),
            Some((_, what)) => Err(SettingError::Conflict(format!(
                "{what} is of stripes, and rain.stripe = 0 says that there are none; legal: \
                 rain.stripe = 2 to 64, or its default"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Bytes, Optional};

    /// Two channels of three packages of two dies of two planes: twelve dies.
    fn device() -> DeviceSettings {
        DeviceSettings { channels: 2, packages: 3, dies: 2, planes: 2, ..DeviceSettings::default() }
    }

    fn stripes(stripe: u32, flush: RainFlush) -> RainSettings {
        RainSettings { stripe, flush, ..RainSettings::default() }
    }

    /// What is said; empty where nothing is.
    fn said(rain: &RainSettings, device: &DeviceSettings, nand: &NandSettings) -> String {
        let checked = rain.check(device, nand);
        checked.map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn stripes_divide_the_dies() {
        let of =
            |stripe| said(&stripes(stripe, RainFlush::Capacitor), &device(), &Default::default());
        assert_eq!([of(0), of(2), of(6), of(12)], [""; 4]);
        assert!(of(8).starts_with("rain.stripe = 8 must divide the dies of the device, of which"));
        assert!(of(24).contains("of which there are 12 "), "planes are no dies");
    }

    #[test]
    fn without_stripes_nothing_else_is_said_of_them() {
        let usual = RainSettings::default;
        let without = |rain| said(&rain, &device(), &Default::default());
        assert_eq!(without(usual()), "");
        let set = [
            (RainSettings { rotate: false, ..usual() }, "rain.rotate = false"),
            (RainSettings { flush: RainFlush::Pad, ..usual() }, "rain.flush = pad"),
            (RainSettings { rebuild_pages: 9, ..usual() }, "rain.rebuild_pages = 9"),
        ];
        for (rain, what) in set {
            assert_eq!(without(RainSettings { stripe: 2, ..rain.clone() }), "");
            let words = without(rain);
            assert!(
                words.starts_with(&format!("{what} is of stripes, and rain.stripe = 0")),
                "{words}"
            );
        }
    }

    #[test]
    fn units_gather_under_capacitors_alone() {
        let mut units = device();
        units.mapping_unit = Optional(Some(Bytes(1024)));
        let of = |flush, device: &_| said(&stripes(2, flush), device, &Default::default());
        assert_eq!(of(RainFlush::Capacitor, &units), "");
        assert_eq!([RainFlush::Partial, RainFlush::Pad].map(|flush| of(flush, &device())), [""; 2]);
        let words = of(RainFlush::Partial, &units);
        assert!(words.starts_with("rain.flush = partial and device.mapping_unit = 1024 exclude"));
    }

    #[test]
    fn memory_that_outlives_the_power_keeps_parity_too() {
        let mut kept = device();
        kept.ram_nonvolatile = true;
        let of = |flush| said(&stripes(2, flush), &kept, &Default::default());
        assert_eq!(of(RainFlush::Capacitor), "");
        assert!(
            of(RainFlush::Pad).starts_with("rain.flush = pad and device.ram_nonvolatile = true")
        );
    }

    #[test]
    fn a_die_that_fails_is_one_of_the_device_and_has_a_name() {
        let of = |die, after| {
            let failing_die = Optional(die);
            let nand = NandSettings { failing_die, die_fails_after: after, ..Default::default() };
            said(&RainSettings::default(), &device(), &nand)
        };
        assert_eq!([of(None, 0), of(Some(0), 0), of(Some(11), 5)], [""; 3]);
        assert_eq!(of(Some(12), 0), "nand.failing_die = 12, the device has dies 0 to 11");
        assert!(of(None, 1).starts_with("nand.die_fails_after = 1 says when a die fails, and"));
    }
}
