//! What memory costs: a bundled file of prices, or one of the user's own.

use ftlab_engine::schemes::Memory;
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::settings_file::SettingsFile;

const BUNDLED: &str = include_str!("../config/prices.toml");
const SECTION: &str = "dollars_per_megabit";
const MEGABIT_BYTES: f64 = (1 << 20) as f64 / 8.0;

/// What can have a price, the memories of schemes first.
const PRICED: [&str; 5] = ["sram", "dram", "pcm", "host", FLASH];
const FLASH: &str = "flash";

/// Dollars, from lowest to highest price; they are one where the price is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dollars {
    /// At the lowest price.
    pub low: f64,
    /// At the highest.
    pub high: f64,
}

impl Dollars {
    fn parse(text: &str) -> Option<Self> {
        let (low, high) = text.split_once(" to ").unwrap_or((text, text));
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let price = Dollars { low: number(low)?, high: number(high)? };
        let legal = price.low >= 0.0 && price.low <= price.high && price.high.is_finite();
        legal.then_some(price)
    }

    fn plus(self, other: Dollars) -> Dollars {
        Dollars { low: self.low + other.low, high: self.high + other.high }
    }

    /// As text, to a hundredth of a cent.
    pub fn text(self) -> String {
        match self.low == self.high {
            true => format!("${:.4}", self.low),
            false => format!("${:.4} to ${:.4}", self.low, self.high),
        }
    }

    /// As JSON.
    pub fn json(self) -> Value {
        json!({ "low": self.low, "high": self.high })
    }
}

/// What some memories cost together.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// Memories that have a price.
    pub priced: Vec<(Memory, Dollars)>,
    /// Memories in use that have none.
    pub unpriced: Vec<Memory>,
}

impl Cost {
    /// All that has a price.
    pub fn total(&self) -> Dollars {
        self.priced.iter().fold(Dollars::default(), |sum, (_, dollars)| sum.plus(*dollars))
    }

    /// By memory and together.
    pub fn json(&self) -> Value {
        let mut all = Map::new();
        for (memory, dollars) in &self.priced {
            all.insert(memory.name().to_owned(), dollars.json());
        }
        all.insert("total".to_owned(), self.total().json());
        let unpriced: Vec<&str> = self.unpriced.iter().map(|memory| memory.name()).collect();
        all.insert("unpriced".to_owned(), unpriced.into());
        Value::Object(all)
    }
}

/// Prices per megabit.
#[derive(Debug)]
pub struct Prices {
    /// Where they come from.
    pub source: String,
    /// In the order of `PRICED`.
    prices: [Option<Dollars>; PRICED.len()],
}

impl Prices {
    /// The prices of a file, or those that are part of the library.
    ///
    /// # Errors
    /// Files that cannot be read; keys and prices that are not legal, with their line.
    pub fn find(file: Option<&str>) -> Result<Self> {
        let Some(file) = file else {
            return Prices::parse("config/prices.toml", BUNDLED);
        };
        let text = std::fs::read_to_string(file)
            .map_err(|error| Error::usage(format!("{file}: cannot be read ({error})")))?;
        Prices::parse(file, &text)
    }

    fn parse(file: &str, text: &str) -> Result<Self> {
        let parsed = SettingsFile::parse(file, text, &["about", "source"])?;
        let source = parsed.head("source").unwrap_or(file).to_owned();
        let mut prices = [None; PRICED.len()];
        for setting in &parsed.settings {
            let error = |text: &str| Error::usage(format!("{file}:{}: {text}", setting.line));
            let known = PRICED.map(|name| format!("{SECTION}.{name}"));
            let Some(place) = known.iter().position(|key| *key == setting.key) else {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let unknown = Error::unknown("key", &setting.key, &known);
                return Err(error(&unknown.to_string()));
            };
            let price = Dollars::parse(&setting.text).ok_or_else(|| {
                error(&format!(
                    "`{} = {}` is not legal; legal: a price of 0 or more, or LOW to HIGH",
                    setting.key, setting.text
                ))
            })?;
            prices[place] = Some(price);
        }
        Ok(Prices { source, prices })
    }

    fn of(&self, name: &str, bytes: u64) -> Option<Dollars> {
        let place = PRICED.iter().position(|priced| *priced == name)?;
        let megabits = bytes as f64 / MEGABIT_BYTES;
        let Dollars { low, high } = self.prices[place]?;
        Some(Dollars { low: low * megabits, high: high * megabits })
    }

    /// What so much flash costs.
    pub fn flash(&self, bytes: u64) -> Option<Dollars> {
        self.of(FLASH, bytes)
    }

    /// What memories cost of which bytes are in use.
    pub fn cost(&self, used: &[(Memory, u64)]) -> Cost {
        let mut cost = Cost::default();
        for &(memory, bytes) in used.iter().filter(|(_, bytes)| *bytes > 0) {
            match self.of(memory.name(), bytes) {
                Some(dollars) => cost.priced.push((memory, dollars)),
                None => cost.unpriced.push(memory),
            }
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HAT 2010, Table 2: 512 MB of DRAM for the page map of 256 GB are 4096 Mb at $ 0.001.
    #[test]
    fn bundled_prices_are_those_of_table_2() {
        let prices = Prices::find(None).unwrap();
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        let cost = prices.cost(&[(Memory::Dram, 512 << 20), (Memory::Sram, 0)]);
        close(cost.total().low, 4.096);
        close(cost.total().high, 4.096);
        assert!(cost.unpriced.is_empty(), "no SRAM is used");
        let cost = prices.cost(&[(Memory::Pcm, 512 << 20), (Memory::Dram, 1 << 17)]);
        close(cost.total().low, 4.097);
        close(cost.total().high, 40.961);
        close(prices.flash(16 << 30).unwrap().low, 13.1072);
        assert_eq!(prices.cost(&[(Memory::Sram, 1)]).unpriced, [Memory::Sram]);
        assert!(prices.source.contains("Table 2"));
    }

    #[test]
    fn a_file_of_prices_is_strict() {
        let refusal = |text: &str| Prices::parse("p.toml", text).unwrap_err().to_string();
        let unknown = refusal("[dollars_per_megabit]\ndrma = 1\n");
        assert!(unknown.starts_with("p.toml:2: ") && unknown.contains("dollars_per_megabit.dram"));
        for bad in ["-1", "x", "2 to 1", "1 to", "nan", "0 to inf"] {
            let text = format!("[dollars_per_megabit]\n\ndram = \"{bad}\"\n");
            assert!(refusal(&text).starts_with("p.toml:3: "), "{bad}");
        }
        assert!(refusal("[dollars]\ndram = 1\n").contains("unknown key"));
        let own = Prices::parse("p.toml", "[dollars_per_megabit]\nsram = \"1 to 2\"\n").unwrap();
        let cost = own.cost(&[(Memory::Sram, 3 << 17), (Memory::Dram, 5)]);
        assert_eq!(cost.total(), Dollars { low: 3.0, high: 6.0 });
        assert_eq!((cost.unpriced, own.source.as_str()), (vec![Memory::Dram], "p.toml"));
    }
}
