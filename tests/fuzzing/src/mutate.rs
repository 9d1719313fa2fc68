//! Inputs from a corpus: an input is a function of corpus, seed and number.

/// SplitMix64: the same inputs on every platform.
pub struct Random(u64);

impl Random {
    /// That of one input.
    #[must_use]
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number);
        random.draw();
        random
    }

    /// 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`; 0 where that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound.max(1) as u64) as usize
    }
}

/// Of no corpus alone: numbers at the borders of their types, and what separates.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e9",
    "1e400",
    "0.0000000000000000001",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "NaN",
    "inf",
    "\0",
    "\u{fffd}",
    "\u{1f4be}",
    "\r\n",
    "\n",
    "\t",
    " ",
    ",",
    ":",
    "=",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "#",
    "%",
    "\\",
];

/// Longest word that is taken out of a corpus.
const WORD_MAX: usize = 32;
/// Bytes of an input at most.
const BYTES_MAX: usize = 1 << 14;

/// What inputs begin with.
pub struct Corpus {
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Corpus {
    /// Of these inputs, which are not empty as a whole.
    #[must_use]
    pub fn new(seeds: Vec<Vec<u8>>) -> Self {
        let part = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.');
        let mut words: Vec<Vec<u8>> = seeds
            .iter()
            .flat_map(|seed| seed.split(part))
            .filter(|word| (1..=WORD_MAX).contains(&word.len()))
            .map(<[u8]>::to_vec)
            .chain(WORDS.iter().map(|word| word.as_bytes().to_vec()))
            .collect();
        words.sort_unstable();
        words.dedup();
        Corpus { seeds, words }
    }

    /// The inputs that it was made of.
    #[must_use]
    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }

    /// Input `number` under a seed: the corpus itself first, then a member with up to seven
    /// changes.
    #[must_use]
    pub fn input(&self, seed: u64, number: u64) -> Vec<u8> {
        if let Some(plain) = self.seeds.get(number as usize) {
            return plain.clone();
        }
        let mut random = Random::new(seed, number);
        let mut data = self.seeds[random.below(self.seeds.len())].clone();
        for _ in 0..1 + random.below(7) {
            self.change(&mut data, &mut random);
        }
        data.truncate(BYTES_MAX);
        data
    }

    fn change(&self, data: &mut Vec<u8>, random: &mut Random) {
        let place = random.below(data.len() + 1);
        let end = (place + random.below(12)).min(data.len());
        match random.below(9) {
            0 if place < data.len() => data[place] ^= 1 << random.below(8),
            1 if place < data.len() => data[place] = random.draw() as u8,
            2 if random.below(4) == 0 => data.truncate(place),
            3 => drop(data.drain(place..end)),
            4 => drop(data.splice(place..place, data[place..end].to_vec())),
            5 => {
                let word = &self.words[random.below(self.words.len())];
                data.splice(place..place, word.iter().copied());
            }
            // A word in the place of another one.
            6 | 7 => {
                let is_of =
                    |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.';
                let first =
                    data[..place].iter().rposition(|byte| !is_of(byte)).map_or(0, |at| at + 1);
                let last = data[place..].iter().position(|byte| !is_of(byte));
                let last = last.map_or(data.len(), |at| place + at);
                let word = &self.words[random.below(self.words.len())];
                data.splice(first..last, word.iter().copied());
            }
            _ => {
                let other = &self.seeds[random.below(self.seeds.len())];
                let from = random.below(other.len());
                let to = (from + random.below(64)).min(other.len());
                data.splice(place..place, other[from..to].iter().copied());
            }
        }
    }
}
