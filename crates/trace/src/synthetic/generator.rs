//! The requests of an inline spec, one after the other.

use ftlab_flash::request::Op;

use super::arrivals::Clock;
use super::distribution::{Distribution, Sampler};
use super::permutation::Permutation;
use super::random::{Purpose, Stream};
use super::spec::{Mode, SyntheticSpec};
use super::stack::Stack;
use crate::record::Record;

// Here, because a spec is read and written without knowing how its requests are made.
impl SyntheticSpec {
    /// The requests.
    pub fn records(&self) -> Generator {
        Generator::new(self.clone())
    }
}

/// Iterator over the records of a spec.
pub struct Generator {
    spec: SyntheticSpec,
    issued: u64,
    /// fio keeps one position per direction; 0 = reads, 1 = everything else.
    sequential: [u64; 2],
    previous_end: Option<u64>,
    stack: Option<Stack>,
    sampler: Sampler,
    scatter: Option<Permutation>,
    /// The last block at which a request of the first size begins, and that size.
    last_block: (u64, u64),
    addresses: Stream,
    operations: Stream,
    sizes: Stream,
    clock: Clock,
}

impl Generator {
    pub(crate) fn new(spec: SyntheticSpec) -> Self {
        let blocks = spec.span_bytes / spec.align_bytes;
        let scattered = spec.scatter && spec.distribution != Distribution::Uniform;
        let size = spec.block_sizes.first().map_or(0, |&(bytes, _)| bytes);
        let last = spec.span_bytes.saturating_sub(size) / spec.align_bytes * spec.align_bytes;
        Self {
            issued: 0,
            last_block: (last, size),
            sequential: [0; 2],
            previous_end: None,
            stack: spec.stack.clone().map(|distances| Stack::new(distances, spec.seed)),
            sampler: Sampler::new(spec.distribution, blocks),
            scatter: scattered.then(|| Permutation::new(blocks, spec.seed)),
            addresses: Stream::new(spec.seed, Purpose::Address),
            operations: Stream::new(spec.seed, Purpose::Operation),
            sizes: Stream::new(spec.seed, Purpose::Size),
            clock: Clock::new(spec.arrivals.clone(), spec.seed),
            spec,
        }
    }

    /// Requests issued so far.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    #[inline]
    fn operation(&mut self) -> Op {
        match self.spec.mode {
            Mode::Read | Mode::RandomRead => Op::Read,
            Mode::Write | Mode::RandomWrite => Op::Write,
            Mode::Trim | Mode::RandomTrim => Op::Trim,
            Mode::Mixed | Mode::RandomMixed => {
                let read = self.operations.below(1_000_000) < self.spec.read_millionths;
                if read { Op::Read } else { Op::Write }
            }
        }
    }

    #[inline]
    fn size(&mut self) -> u64 {
        if let [(bytes, _)] = self.spec.block_sizes[..] {
            return bytes;
        }
        let mut draw = self.sizes.below(1_000_000);
        for &(bytes, share) in &self.spec.block_sizes {
            if draw < share {
                return bytes;
            }
            draw -= share;
        }
        self.spec.block_sizes.last().map_or(0, |&(bytes, _)| bytes)
    }

    /// Offset within the span; the request never reaches beyond it.
    #[inline]
    fn position(&mut self, op: Op, size: u64) -> u64 {
        let span = self.spec.span_bytes;
        if !self.spec.mode.is_random() {
            let cursor = &mut self.sequential[usize::from(op != Op::Read)];
            if *cursor + size > span {
                *cursor = 0;
            }
            let offset = *cursor;
            *cursor += size;
            return offset;
        }
        let follow = self.spec.sequential_millionths > 0
            && self.addresses.below(1_000_000) < self.spec.sequential_millionths;
        if let Some(end) = self.previous_end
            && follow
            && end + size <= span
        {
            return end;
        }
        let recent = self.stack.as_mut().and_then(Stack::draw);
        let block = recent.unwrap_or_else(|| self.fresh_block());
        let align = self.spec.align_bytes;
        let last = match self.last_block {
            (last, known) if known == size => last,
            _ => (span - size) / align * align,
        };
        (block * align).min(last)
    }

    /// A block by the distribution; not one of the recent ones, where those have a share of
    /// their own.
    #[inline]
    fn fresh_block(&mut self) -> u64 {
        let (sampler, scatter) = (&self.sampler, self.scatter.as_ref());
        let addresses = &mut self.addresses;
        let mut draw = || {
            let rank = sampler.rank(addresses);
            scatter.map_or(rank, |scatter| scatter.apply(rank))
        };
        match &self.stack {
            Some(stack) => stack.outside(draw),
            None => draw(),
        }
    }
}

impl Iterator for Generator {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        if self.issued == self.spec.count {
            return None;
        }
        let op = self.operation();
        let size_bytes = self.size();
        let position = self.position(op, size_bytes);
        let time_ns = self.clock.arrival(self.issued);
        if let Some(stack) = &mut self.stack {
            stack.touch(position / self.spec.align_bytes);
        }
        self.previous_end = Some(position + size_bytes);
        self.issued += 1;
        let offset_bytes = self.spec.offset_bytes + position;
        Some(Record { time_ns, op, offset_bytes, size_bytes, unit: 0 })
    }
}
