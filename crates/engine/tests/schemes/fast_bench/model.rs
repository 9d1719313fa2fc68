//! FAST on paper: the default decision table on plain vectors, nothing shared with the engine. It
//! knows no flash, only which copy of a page is the newest and what a merge costs.

use std::collections::VecDeque;

/// A page of a data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Erased,
    Valid,
    Superseded,
}

impl Slot {
    fn kept(valid: bool) -> Slot {
        if valid { Slot::Valid } else { Slot::Superseded }
    }
}

/// What FAST's papers count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// SM.
    pub switch: u64,
    /// P.
    pub partial: u64,
    /// F: victims of the random log.
    pub victims: u64,
    /// Sequential blocks merged in full.
    pub sequential_full: u64,
    /// k, summed: data blocks rebuilt by full merges of either kind.
    pub rebuilt: u64,
    /// Log blocks erased without a merge.
    pub dead: u64,
    /// Pages copied.
    pub copies: u64,
    /// Pages programmed for the host.
    pub host: u64,
    /// Data blocks erased.
    pub data_erases: u64,
    /// Log blocks erased.
    pub log_erases: u64,
    /// Pages written to the random log.
    pub random_writes: u64,
}

/// The open sequential block: its owner, and for each page written whether it is the newest copy.
#[derive(Clone, Debug)]
struct Sequential {
    owner: usize,
    newest: Vec<bool>,
}

/// FAST with default settings and without trims.
#[derive(Debug)]
pub struct Model {
    pages_per_block: usize,
    random_limit: usize,
    data: Vec<Option<Vec<Slot>>>,
    sequential: Option<Sequential>,
    /// Logical pages of each random block, and whether they are the newest copies.
    random: VecDeque<Vec<(usize, bool)>>,
    /// What happened so far.
    pub counts: Counts,
}

impl Model {
    /// An empty device.
    pub fn new(logical_blocks: usize, pages_per_block: usize, log_blocks: usize) -> Model {
        Model {
            pages_per_block,
            random_limit: log_blocks - 1,
            data: vec![None; logical_blocks],
            sequential: None,
            random: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// Random log blocks in use.
    pub fn random_blocks(&self) -> u64 {
        self.random.len() as u64
    }

    /// The decision table, row by row.
    pub fn write(&mut self, page: usize) {
        let (block, offset) = (page / self.pages_per_block, page % self.pages_per_block);
        let data = self.data[block].get_or_insert_with(|| vec![Slot::Erased; self.pages_per_block]);
        if data[offset] == Slot::Erased {
            data[offset] = Slot::Valid;
            self.counts.host += 1;
        } else if offset == 0 {
            self.merge_sequential(None);
            self.supersede(page);
            self.sequential = Some(Sequential { owner: block, newest: vec![true] });
            self.counts.host += 1;
        } else if let Some(next) = self.next_of(block) {
            if offset == next {
                self.supersede(page);
                self.sequential.as_mut().expect("it has a next page").newest.push(true);
                self.counts.host += 1;
            } else if offset < next {
                self.merge_sequential_in_full(page);
            } else {
                self.merge_sequential(Some(page));
            }
        } else {
            self.append_random(page);
        }
    }

    fn next_of(&self, block: usize) -> Option<usize> {
        self.sequential.as_ref().filter(|open| open.owner == block).map(|open| open.newest.len())
    }

    fn append_random(&mut self, page: usize) {
        if self.random.back().is_none_or(|pages| pages.len() == self.pages_per_block) {
            if self.random.len() == self.random_limit {
                self.reclaim();
            }
            self.random.push_back(Vec::new());
        }
        self.supersede(page);
        self.random.back_mut().expect("opened above").push((page, true));
        self.counts.random_writes += 1;
        self.counts.host += 1;
    }

    /// No copy of the page is the newest any more.
    fn supersede(&mut self, page: usize) {
        let (block, offset) = (page / self.pages_per_block, page % self.pages_per_block);
        if let Some(data) = &mut self.data[block]
            && data[offset] == Slot::Valid
        {
            data[offset] = Slot::Superseded;
        }
        if let Some(open) = self.sequential.as_mut().filter(|open| open.owner == block)
            && let Some(newest) = open.newest.get_mut(offset)
        {
            *newest = false;
        }
        for entry in self.random.iter_mut().flatten().filter(|entry| entry.0 == page) {
            entry.1 = false;
        }
    }

    fn is_written(&self, page: usize) -> bool {
        let (block, offset) = (page / self.pages_per_block, page % self.pages_per_block);
        let in_data = self.data[block].as_ref().is_some_and(|data| data[offset] == Slot::Valid);
        let mut sequential = self.sequential.iter().filter(|open| open.owner == block);
        let in_sequential = sequential.any(|open| open.newest.get(offset) == Some(&true));
        in_data || in_sequential || self.random.iter().flatten().any(|entry| *entry == (page, true))
    }

    /// Pages `from` and above of a logical block, each written by the host, copied or left out.
    fn gather(&mut self, block: usize, from: usize, insert: Option<usize>) -> Vec<Slot> {
        let first = block * self.pages_per_block;
        let mut gathered = Vec::new();
        for page in first + from..first + self.pages_per_block {
            let wanted = insert == Some(page) || self.is_written(page);
            self.supersede(page);
            gathered.push(if wanted { Slot::Valid } else { Slot::Erased });
            let host = insert == Some(page);
            self.counts.host += u64::from(host);
            self.counts.copies += u64::from(wanted && !host);
        }
        gathered
    }

    fn rebuild(&mut self, block: usize, insert: Option<usize>) {
        let rebuilt = self.gather(block, 0, insert);
        let old = self.data[block].replace(rebuilt);
        self.counts.data_erases += u64::from(old.is_some());
        self.counts.rebuilt += 1;
    }

    /// Switch or partial merge. By default no page of the sequential block has a newer copy.
    fn merge_sequential(&mut self, insert: Option<usize>) {
        let Some(Sequential { owner, newest }) = self.sequential.clone() else {
            return;
        };
        match newest.len() == self.pages_per_block {
            true => self.counts.switch += 1,
            false => self.counts.partial += 1,
        }
        let gathered = self.gather(owner, newest.len(), insert);
        let kept = newest.into_iter().map(Slot::kept);
        self.data[owner] = Some(kept.chain(gathered).collect());
        self.counts.data_erases += 1;
        self.sequential = None;
    }

    fn merge_sequential_in_full(&mut self, insert: usize) {
        self.rebuild(insert / self.pages_per_block, Some(insert));
        self.sequential = None;
        self.counts.sequential_full += 1;
        self.counts.log_erases += 1;
    }

    fn reclaim(&mut self) {
        self.counts.log_erases += 1;
        if self.random[0].iter().all(|entry| !entry.1) {
            self.counts.dead += 1;
            self.random.pop_front();
            return;
        }
        self.counts.victims += 1;
        for place in 0..self.pages_per_block {
            let (page, newest) = self.random[0][place];
            let block = page / self.pages_per_block;
            if !newest {
                continue;
            }
            match self.next_of(block) {
                Some(_) => self.merge_sequential(None),
                None => self.rebuild(block, None),
            }
        }
        self.random.pop_front();
    }
}
