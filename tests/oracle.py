"""What the sectors of a drive may hold: a client that remembers, and finds out a drive that lies.

    tests/oracle.py

tests the oracle itself: on a model of a drive that keeps its promises it must say nothing, and every
way in which one may break them it must find.
"""

import random
import struct

from served import FLUSH, FUA, MIB, NO_HOLE, READ, TRIM, WRITE, ZERO

SECTOR = 512
ZEROES = bytes(SECTOR)
# Bytes of the largest read of `Oracle.wrong` and `Oracle.settle`.
LOOK = MIB


class Oracle:
    """Of each sector the oracle knows what it holds while nothing crashes, and what a crash may leave.

    Behind an answer a sector holds what was written; zeroes behind WRITE_ZEROES; behind a trim zeroes or
    what stood before, as parts of pages may be ignored. A crash may leave that of any moment since the
    last flush, or since a request with FUA that wrote the sector, and nothing torn. Where the trim of a
    whole page was not flushed, it may bring any earlier version back that no flushed trim came behind
    (crates/ftl/src/parts/trim_records.rs): the protocol promises nothing of such bytes."""

    def __init__(self, seed, sectors=16 * MIB // SECTOR, page=1):
        """`page`: sectors of a page, the least that a trim takes."""
        self.random, self.sectors, self.page = random.Random(seed), sectors, page
        # What it holds while nothing crashes: one thing, or two behind a trim.
        self.now = [(ZEROES,)] * sectors
        # What it may hold after a crash, from the last moment on at which it was stable.
        self.may = [[ZEROES] for _ in range(sectors)]
        # Sectors that were asked for since they were stable.
        self.changed = set()
        # Numbers of the versions behind the last trim that was flushed.
        self.past = [set() for _ in range(sectors)]
        # 0: no trim that is not flushed; 2: one that is seen when it is obeyed, as zeroes; 1: another.
        self.trimmed = [0] * sectors
        self.number, self.flushed = 0, 0
        self.asked = dict.fromkeys([(WRITE, 0), (WRITE, FUA), (FLUSH, 0), (TRIM, 0), (ZERO, 0),
                                    (ZERO, FUA), (ZERO, NO_HOLE), (ZERO, FUA | NO_HOLE)], 0)

    def sector(self, at):
        return struct.pack(">QQ", self.number, at) * (SECTOR // 16)

    def work(self, ask, doom):
        """Sends requests, one after the other, until the drive is gone. `ask(kind, flags, offset, length,
        sent)` brings what is read; from `doom()` on, which is called somewhere, it may be gone."""
        begun, doomed = self.number, self.random.randrange(80)
        try:
            while True:
                if self.number - begun == doomed:
                    doom()
                kind = self.random.choices([WRITE, FLUSH, TRIM, ZERO], [12, 2, 1, 1])[0]
                flags = {WRITE: [0] * 7 + [FUA], ZERO: [0, FUA, NO_HOLE, FUA | NO_HOLE]}.get(kind, [0])
                # Half of them to an eighth of the drive, so that something is collected there.
                first = self.random.randrange(self.sectors // 8 if self.number % 2 else self.sectors)
                count = min(self.random.choice([1, 7, 8, 16, 64]), self.sectors - first)
                self.request(ask, kind, self.random.choice(flags), first, count)
        except ConnectionError:
            return

    def request(self, ask, kind, flags=0, first=0, count=0):
        """One request and its answer."""
        self.number += 1
        sent = self.begin(kind, flags, range(first, first + count))
        offset, length = (0, 0) if kind == FLUSH else (first * SECTOR, count * SECTOR)
        ask(kind, flags, offset, length, sent)
        self.asked[kind, flags] += 1
        if kind == FLUSH:
            self.flushed += 1
            self.settle(ask, sorted(self.changed))
        elif flags & FUA:
            self.settle(ask, list(range(first, first + count)))

    def begin(self, kind, flags, sectors):
        """From here on a crash may find it done."""
        if kind == FLUSH:
            return b""
        whole = range(-(-sectors.start // self.page) * self.page, sectors.stop // self.page * self.page)
        for at in sectors:
            before = self.now[at]
            if kind == WRITE:
                self.now[at] = (self.sector(at),)
                self.past[at].add(self.number)
            elif kind == ZERO:
                self.now[at] = (ZEROES,)
            else:
                self.now[at] = tuple({*before, ZEROES})
            may_trim = kind == TRIM or (kind == ZERO and not flags & NO_HOLE)
            if kind == TRIM and at in whole and ZEROES not in before:
                self.trimmed[at] = 2
            elif (may_trim and at in whole) or self.trimmed[at]:
                # Of zeroes that were found nobody could tell where they are from.
                self.trimmed[at] = 2 if kind == TRIM and self.trimmed[at] == 2 else 1
            self.may[at].extend(self.now[at])
            self.changed.add(at)
        return b"".join(self.now[at][0] for at in sectors) if kind == WRITE else b""

    def stands(self, at, found):
        """A sector holds this, and no crash changes it."""
        self.now[at], self.may[at], self.trimmed[at] = (found,), [found], 0
        self.changed.discard(at)

    def settle(self, ask, sectors):
        """These were flushed: each holds what it is read as."""
        for first, data in self.looked_at(ask, sectors):
            for at in range(first, first + len(data) // SECTOR):
                found = data[(at - first) * SECTOR:][:SECTOR]
                assert found in self.now[at], f"sector {at} before any crash, request {self.number}"
                if self.trimmed[at] == 2 and found == ZEROES:
                    self.past[at].clear()
                self.stands(at, found)

    @staticmethod
    def looked_at(ask, sectors):
        """Stretches of these sectors: first, data."""
        while sectors:
            count = 1
            while count < len(sectors) and sectors[count] == sectors[0] + count < sectors[0] + LOOK // SECTOR:
                count += 1
            yield sectors[0], ask(READ, 0, sectors[0] * SECTOR, count * SECTOR, b"")
            sectors = sectors[count:]

    def is_earlier(self, at, found):
        """Whether a trim that was not flushed explains what is found."""
        number, _ = struct.unpack(">QQ", found[:16])
        own = struct.pack(">QQ", number, at) * (SECTOR // 16)
        return self.trimmed[at] and number in self.past[at] and found == own

    def wrong(self, ask):
        """After a crash: how many sectors hold what they may not."""
        wrong = 0
        for first, data in self.looked_at(ask, list(range(self.sectors))):
            for at in range(first, first + len(data) // SECTOR):
                found = data[(at - first) * SECTOR:][:SECTOR]
                wrong += found not in self.may[at] and not self.is_earlier(at, found)
                self.stands(at, found)
        return wrong


class Model:
    """A drive in memory, whose crash leaves what was flushed and, of the rest, the first requests.
    `fault`: which promise it breaks."""

    def __init__(self, seed, sectors, page, fault):
        self.random, self.page, self.fault = random.Random(seed), page, fault
        self.held, self.stable, self.left = [ZEROES] * sectors, [ZEROES] * sectors, None
        # What each request since the last flush made of which sectors.
        self.cached = []
        # Versions that were there, of each sector, behind its last trim that was flushed.
        self.earlier = [[] for _ in range(sectors)]

    def doom(self):
        self.left = self.random.randrange(40)

    def ask(self, kind, flags, offset, length, sent):
        first, count = offset // SECTOR, length // SECTOR
        if kind == READ:
            return b"".join(self.held[first:first + count])
        ends = self.left == 0
        if self.left is not None:
            self.left -= 1
        changes = {at: ZEROES if kind != WRITE else sent[(at - first) * SECTOR:][:SECTOR]
                   for at in range(first, first + count)}
        if kind == TRIM:
            begins, end = -(-first // self.page) * self.page, (first + count) // self.page * self.page
            changes = {at: ZEROES for at in range(begins, end)}
        if kind == WRITE and self.fault == "a write is lost" and self.random.randrange(20) == 0:
            changes = {}
        if kind == ZERO and self.fault == "zeroes are ignored":
            changes = {}
        if kind == TRIM and self.fault == "a trim takes its neighbour" and changes:
            changes[(first + count) % len(self.held)] = ZEROES
        self.cached.append((kind, changes))
        for at, data in changes.items():
            self.held[at] = data
        if ends:
            self.crash()
            raise ConnectionError
        if kind == FLUSH or flags & FUA and self.fault != "FUA is ignored":
            self.flush()
        return b""

    def flush(self):
        for kind, changes in self.cached:
            if kind == WRITE and self.fault == "a flush forgets" and self.random.randrange(20) == 0:
                continue
            for at, data in changes.items():
                self.earlier[at].append(self.stable[at])
                self.stable[at] = data
                if kind == TRIM and self.fault != "trims come back":
                    self.earlier[at].clear()
        self.cached = []

    def crash(self):
        kept = self.random.randrange(len(self.cached) + 1)
        # As if they had been trimmed, and not flushed.
        trimmed = [at for kind, changes in self.cached if kind == TRIM for at in changes]
        torn = [at for kind, changes in self.cached[kept:] if kind == WRITE for at in changes]
        self.cached, left = self.cached[:kept], self.cached[kept:]
        self.flush()
        self.held = list(self.stable)
        if self.fault == "a sector is torn" and torn:
            at = self.random.choice(torn)
            written = next(changes[at] for kind, changes in reversed(left) if at in changes)
            self.held[at] = written[:256] + self.held[at][256:]
        for at in trimmed if self.fault != "trims come back" else range(len(self.held)):
            if self.earlier[at] and self.random.randrange(4) == 0:
                self.held[at] = self.random.choice(self.earlier[at])
        self.stable, self.left = list(self.held), None


# Those that are seen before any crash, and those that only who looks after one can see.
SEEN, AFTER = "before any crash", "after a crash"
FAULTS = {"a write is lost": [SEEN], "zeroes are ignored": [SEEN], "FUA is ignored": [AFTER],
          "a flush forgets": [AFTER], "a sector is torn": [AFTER], "trims come back": [AFTER],
          # Of a sector that is asked for again soon, or not.
          "a trim takes its neighbour": [SEEN, AFTER]}


def found(fault, seed, page, crashes=40):
    """When the oracle saw something wrong, if it did."""
    oracle = Oracle(seed, sectors=256, page=page)
    model = Model(seed, 256, page, fault)
    for _ in range(crashes):
        try:
            oracle.work(model.ask, model.doom)
        except AssertionError:
            return SEEN
        if oracle.wrong(model.ask):
            return AFTER
    return None


def main():
    for page in [1, 4, 32]:
        for seed in range(4):
            assert found(None, seed, page) is None, f"a good drive is suspected, seed {seed}, {page}"
            for fault, when in FAULTS.items():
                seen = found(fault, seed, page)
                assert seen in when, (fault, seed, page, seen)
    first_write_behind_a_trim()
    print(f"the oracle suspects no good drive, and finds {len(FAULTS)} faults")


def first_write_behind_a_trim():
    """The first write to a sector that nobody wrote before is lost: zeroes are no excuse for it."""
    model, oracle = Model(1, 8, 1, None), Oracle(1, sectors=8)
    oracle.request(model.ask, WRITE, first=3, count=1)
    model.held[3] = ZEROES
    try:
        oracle.request(model.ask, FLUSH)
    except AssertionError:
        return
    raise SystemExit("a write that is lost is excused")


if __name__ == "__main__":
    main()
