//! The requests of an inline spec, one after the other.

use ftlab_flash::request::Op;

use super::arrivals::Clock;
use super::distribution::{Distribution, Sampler};
use super::make::Make;
use super::random::{Purpose, Stream};
use super::reshuffle::Reshuffle;
use super::scatter::Scatter;
use super::spec::{Mode, SyntheticSpec};
use super::stack::Stack;
use super::values::Values;
use super::writers::Writers;
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
    /// What every request does; none where reads and writes are mixed.
    op: Option<Op>,
    /// The size of every request where each goes to a block of its own: random ones of one size
    /// that follow none before them. Nothing needs to be remembered of those.
    plain_size: Option<u64>,
    writers: Writers,
    previous_end: Option<u64>,
    stack: Option<Stack>,
    sampler: Sampler,
    scatter: Option<Scatter>,
    reshuffle: Option<Reshuffle>,
    /// The last block at which a request of the first size begins, and that size.
    last_block: (u64, u64),
    addresses: Stream,
    operations: Stream,
    sizes: Stream,
    clock: Clock,
    values: Option<Values>,
}

impl Generator {
    pub(crate) fn new(spec: SyntheticSpec) -> Self {
        let blocks = spec.span_bytes / spec.align_bytes;
        let scattered = spec.scatter_bytes.filter(|_| spec.distribution != Distribution::Uniform);
        let scatter = scattered
            .map(|extent| Scatter::new(blocks, (extent / spec.align_bytes).max(1), spec.seed));
        let size = spec.block_sizes.first().map_or(0, |&(bytes, _)| bytes);
        let last = spec.span_bytes.saturating_sub(size) / spec.align_bytes * spec.align_bytes;
        let op = match spec.mode {
            Mode::Read | Mode::RandomRead => Some(Op::Read),
            Mode::Write | Mode::RandomWrite => Some(Op::Write),
            Mode::Trim | Mode::RandomTrim => Some(Op::Trim),
            Mode::Mixed | Mode::RandomMixed => None,
        };
        let is_plain = spec.mode.is_random()
            && spec.block_sizes.len() == 1
            && spec.sequential_millionths == 0
            && spec.stack.is_none()
            && spec.reshuffle.is_none();
        Self {
            issued: 0,
            op,
            plain_size: is_plain.then_some(size),
            last_block: (last, size),
            writers: Writers::new(spec.sequence, spec.seed),
            previous_end: None,
            stack: spec
                .stack
                .clone()
                .map(|distances| Stack::new(distances, spec.stack_unit, spec.seed)),
            sampler: Sampler::new(spec.distribution, blocks),
            scatter,
            reshuffle: spec.reshuffle.map(|how| Reshuffle::new(how, blocks, spec.seed)),
            addresses: Stream::new(spec.seed, Purpose::Address),
            operations: Stream::new(spec.seed, Purpose::Operation),
            sizes: Stream::new(spec.seed, Purpose::Size),
            clock: Clock::new(spec.arrivals.clone(), spec.seed),
            values: spec.values.clone().map(|shares| Values::new(shares, spec.seed)),
            spec,
        }
    }

    #[inline]
    fn operation(&mut self) -> Op {
        self.op.unwrap_or_else(|| {
            let read = self.operations.below(1_000_000) < self.spec.read_millionths;
            if read { Op::Read } else { Op::Write }
        })
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
            return self.writers.position(usize::from(op != Op::Read), size);
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
        let Some(reshuffle) = &self.reshuffle else {
            let mut draw = || drawn(sampler, scatter, addresses);
            return match &self.stack {
                Some(stack) => stack.outside(draw),
                None => draw(),
            };
        };
        let rank = reshuffle.apply(sampler.rank(addresses));
        scatter.map_or(rank, |scatter| scatter.apply(rank))
    }

    /// Position and size of a request that may depend on those before it.
    #[inline(never)]
    fn remembered(&mut self, op: Op) -> (u64, u64) {
        let size = self.size();
        let position = self.position(op, size);
        if let Some(stack) = &mut self.stack {
            let align = self.spec.align_bytes;
            stack.touch_request(position / align, (position + size - 1) / align);
        }
        if let Some(reshuffle) = &mut self.reshuffle {
            reshuffle.requested(size);
        }
        self.previous_end = Some(position + size);
        (position, size)
    }
}

impl Make for Generator {
    fn issued(&self) -> u64 {
        self.issued
    }

    fn left(&self) -> u64 {
        self.spec.count - self.issued
    }

    #[inline(always)]
    fn make(&mut self) -> Record {
        assert!(self.issued < self.spec.count, "no request is left");
        let op = self.operation();
        let (position, size_bytes) = match self.plain_size {
            Some(size) => {
                let block = drawn(&self.sampler, self.scatter.as_ref(), &mut self.addresses);
                ((block * self.spec.align_bytes).min(self.last_block.0), size)
            }
            None => self.remembered(op),
        };
        let time_ns = self.clock.arrival();
        self.issued += 1;
        let offset_bytes = self.spec.offset_bytes + position;
        let content = match &mut self.values {
            Some(values) if op == Op::Write => values.draw(),
            _ => None,
        };
        let stream = self.spec.stream;
        Record { time_ns, op, offset_bytes, size_bytes, unit: 0, stream, content }
    }
}

/// A block by the distribution.
#[inline]
fn drawn(sampler: &Sampler, scatter: Option<&Scatter>, addresses: &mut Stream) -> u64 {
    let rank = sampler.rank(addresses);
    scatter.map_or(rank, |scatter| scatter.apply(rank))
}

impl Iterator for Generator {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        (self.issued < self.spec.count).then(|| self.make())
    }
}
