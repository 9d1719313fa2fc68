//! The times that are fitted.

use ftlab_engine::config::{Config, Duration, Durations};

/// Time of a command where the base says that it takes none: what a fit begins with.
const OVERHEAD_START_NS: f64 = 1_000.0;
/// Bytes of a page a nanosecond over the channel, where the base says that it takes no time.
const CHANNEL_START: f64 = 0.4;
/// Bytes a second over the link, where the base has no limit.
const LINK_START: f64 = 2e9;
/// Times of cells are looked for up to so many times above and below the base's: between a fast
/// part of one bit a cell and a slow one of four lies about a factor of ten (`ftlab list devices`).
/// A drive that answers from memory would else make cells that there are none of.
const CELLS_RANGE: f64 = 10.0;
/// What is not of the cells is looked for in a wider range.
const RANGE: f64 = 200.0;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    /// `timing.read`, and `timing.read_pages` in the base's ratios.
    Read,
    /// `timing.program`, and `timing.program_pages` in the base's ratios.
    Program,
    /// `timing.erase`.
    Erase,
    /// `timing.page_transfer`.
    Transfer,
    /// `host.command_overhead`.
    Overhead,
    /// `host.link_bandwidth`.
    Link,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Parameter; 6] = [
        Parameter::Read,
        Parameter::Program,
        Parameter::Erase,
        Parameter::Transfer,
        Parameter::Overhead,
        Parameter::Link,
    ];

    /// The setting.
    pub fn key(self) -> &'static str {
        match self {
            Parameter::Read => "timing.read",
            Parameter::Program => "timing.program",
            Parameter::Erase => "timing.erase",
            Parameter::Transfer => "timing.page_transfer",
            Parameter::Overhead => "host.command_overhead",
            Parameter::Link => "host.link_bandwidth",
        }
    }

    /// Pairs that requests pay together, one behind the other, and how much of the second for each
    /// of the first: a read of cells and a command; a page's program and its part of a block's
    /// erase.
    pub fn pairs(config: &Config) -> [([Parameter; 2], u32); 2] {
        let pages = config.device.pages_per_block;
        [
            ([Parameter::Read, Parameter::Overhead], 1),
            ([Parameter::Program, Parameter::Erase], pages),
        ]
    }

    /// In words.
    pub fn about(self) -> &'static str {
        match self {
            Parameter::Read => "page read, cells to register",
            Parameter::Program => "page program, register to cells",
            Parameter::Erase => "block erase",
            Parameter::Transfer => "page over the channel",
            Parameter::Overhead => "controller, per request",
            Parameter::Link => "link to the host",
        }
    }

    /// The unit of its value.
    pub fn unit(self) -> &'static str {
        if self == Parameter::Link { "B/s" } else { "ns" }
    }

    /// The base's value; 0 where it says that this costs nothing.
    pub fn base(self, config: &Config) -> f64 {
        let (timing, host) = (&config.timing, &config.host);
        let value = match self {
            Parameter::Read => timing.read.0,
            Parameter::Program => timing.program.0,
            Parameter::Erase => timing.erase.0,
            Parameter::Transfer => timing.page_transfer.0,
            Parameter::Overhead => host.command_overhead.0,
            Parameter::Link => host.link_bandwidth.0,
        };
        value as f64
    }

    /// What a fit begins with, above 0.
    pub fn start(self, config: &Config) -> f64 {
        let base = self.base(config);
        match self {
            _ if base > 0.0 => base,
            Parameter::Transfer => config.device.page_bytes.0 as f64 / CHANNEL_START,
            Parameter::Overhead => OVERHEAD_START_NS,
            Parameter::Link => LINK_START,
            // A part whose cells take no time is no part; it gets the time of a fast one.
            Parameter::Read | Parameter::Program | Parameter::Erase => 25_000.0,
        }
    }

    /// Whether it is a time of cells.
    pub fn is_of_cells(self) -> bool {
        matches!(self, Parameter::Read | Parameter::Program | Parameter::Erase)
    }

    /// How far from its start it is looked for: a factor to either side.
    pub fn range(self) -> f64 {
        if self.is_of_cells() { CELLS_RANGE } else { RANGE }
    }

    /// Whether it can have any influence on requests that read, or write.
    pub fn concerns(self, writes: bool) -> bool {
        writes || !matches!(self, Parameter::Program | Parameter::Erase)
    }

    /// The settings under which it has that value, in the order of a device file.
    pub fn settings(self, value: f64, config: &Config) -> Vec<(&'static str, String)> {
        let by_type = |list: &Durations| {
            let mean =
                list.0.iter().map(|one| one.0 as f64).sum::<f64>() / list.0.len().max(1) as f64;
            let base = self.base(config);
            let factor = value / if base > 0.0 { base } else { mean.max(1.0) };
            let scaled = |one: &Duration| written(one.0 as f64 * factor);
            list.0.iter().map(scaled).collect::<Vec<_>>().join(",")
        };
        let list = match self {
            Parameter::Read => Some(("timing.read_pages", &config.timing.read_pages)),
            Parameter::Program => Some(("timing.program_pages", &config.timing.program_pages)),
            _ => None,
        };
        let own = match self {
            Parameter::Link => format!("{}B", value.round()),
            _ => written(value),
        };
        let list = list.filter(|(_, list)| !list.0.is_empty());
        std::iter::once((self.key(), own))
            .chain(list.map(|(key, list)| (key, by_type(list))))
            .collect()
    }
}

/// A duration as a device file has it.
fn written(nanos: f64) -> String {
    format!("{}us", nanos.round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_types_keep_their_ratios_and_settings_give_the_value_back() {
        let mut config = Config::default();
        config.set("timing.read", "80us").unwrap();
        config.set("timing.read_pages", "40us,80us,120us").unwrap();
        for parameter in Parameter::ALL {
            let value = 1.1 * parameter.start(&config).max(1_000.0);
            let mut other = config.clone();
            for (key, text) in parameter.settings(value, &config) {
                other.set(key, &text).unwrap();
            }
            assert_eq!(parameter.base(&other), value.round(), "{parameter:?}");
        }
        let lists = Parameter::Read.settings(88_000.0, &config);
        assert_eq!(lists[1], ("timing.read_pages", "44us,88us,132us".to_owned()));
        config.set("timing.read", "0us").unwrap();
        let lists = Parameter::Read.settings(88_000.0, &config);
        assert_eq!(lists[1], ("timing.read_pages", "44us,88us,132us".to_owned()), "by their mean");
    }
}
