"""Servers of drives in folders that are killed: what was flushed is there, whatever the moment."""

import random
import struct
import tempfile
import threading
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from oracle import Oracle
from served import DEVICE, FLUSH, READ, REPLY, WRITE, drive, negotiated, request, started, whole

# Pages of 512 bytes, of 2 KiB, and of 16 KiB (with four planes fewer than it has, so that it is small).
LARGE = ["--device", "dftl2014", "--set", "device.over_provisioning=50%"]
HUGE = ["--device", "tlc_nvme", "--set", "device.over_provisioning=100%", "--set", "device.channels=1",
        "--set", "device.dies=1", "--set", "device.planes=1", "--set", "device.pages_per_block=32",
        "--set", "device.mapping_unit=16KiB"]
# Checkpoints while it serves, not only at a start.
OFTEN = ["--store-log", "8KiB"]
# Device, sectors of a page, other options.
FAMILIES = {
    "dftl": (DEVICE, 1, OFTEN),
    "fast": (LARGE, 4, OFTEN),
    "adapt": (DEVICE, 1, []),
    "hat": (LARGE, 4, []),
    "treeftl": (DEVICE, 1, []),
    "lazyftl": (LARGE, 4, []),
    "superblock": (HUGE, 32, OFTEN),
    "ideal_page": (DEVICE, 1, ["--buffer", "lru", "--set", "buffer.bytes=64KiB"]),
}
# One of so many kills comes before the server serves.
AT_START = 4


class Client:
    """Asks, and is told that the server is gone."""

    def __init__(self, served):
        self.socket = negotiated(served)

    def ask(self, kind, flags, offset, length, sent):
        self.socket.sendall(request(kind, offset, length, flags=flags) + sent)
        reply = whole(self.socket, 16)
        assert struct.unpack(">II", reply[:8]) == (REPLY, 0), (kind, flags, offset, length, reply)
        return whole(self.socket, length) if kind == READ else b""


@contextmanager
def asking(served):
    client = Client(served)
    try:
        yield client.ask
    finally:
        client.socket.close()


def until_killed(served, oracle):
    """Requests of the oracle's; after some of them, however long they take, the server is killed."""
    killer = threading.Timer(oracle.random.uniform(0, 0.1), served.process.kill)
    try:
        with asking(served) as ask:
            oracle.work(ask, killer.start)
    except ConnectionError:
        pass
    finally:
        if killer.ident:
            killer.join()


def killed_at_start(ftlab, name, options, device, after):
    """Killed while it reads, recovers and writes its first checkpoint, or just then."""
    with tempfile.TemporaryDirectory() as folder:
        process = started(ftlab, Path(folder), name, *options, device=device)
        try:
            time.sleep(after)
        finally:
            process.kill()
            _, told = process.communicate()
        assert process.returncode == -9, (name, process.returncode, told)


def checkpoint(folder):
    return max(int(file.suffix[1:]) for file in folder.glob("flash.*") if file.suffix[1:].isdigit())


def family(ftlab, name, times):
    """A family's drive, killed so many times; how many checkpoints it made while it served."""
    device, page, more = FAMILIES[name]
    oracle, moments = Oracle(name, page=page), random.Random(name)
    in_service = at_start = 0
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept) / "drive"
        options = ["--store", folder, *more]
        # The folder is made: nothing may be left of that which is in the way of the next one.
        starts = 0.1
        for _ in range(min(times, 5)):
            killed_at_start(ftlab, name, options, device, moments.uniform(0, 2 * starts))
        for turn in range(times + 1):
            begun = time.monotonic()
            with drive(ftlab, name, *options, device=device) as served:
                starts = time.monotonic() - begun
                first = checkpoint(folder)
                with asking(served) as ask:
                    wrong = oracle.wrong(ask)
                assert not wrong, f"{name}: {wrong} sectors after crash {turn}, seed {name!r}"
                if turn == times:
                    _, result = served.end()
                    assert result["audit"] == "passed", result["audit"]
                    break
                until_killed(served, oracle)
                in_service += checkpoint(folder) - first
            if turn % AT_START == 1:
                killed_at_start(ftlab, name, options, device, moments.uniform(0, 1.2 * starts))
                at_start += 1
    assert oracle.flushed > times, f"{name}: only {oracle.flushed} flushes"
    assert times < 20 or all(oracle.asked.values()), f"{name} was not asked all: {oracle.asked}"
    print(f"{name}: killed {times} times, and {at_start + min(times, 5)} times at a start; {oracle.number} "
          f"requests, {oracle.flushed} flushes, {in_service} checkpoints between them", flush=True)
    return in_service if more == OFTEN else 0


def crashes(ftlab, times):
    begun = time.monotonic()
    # Two at a time; what failed is told here.
    with ProcessPoolExecutor(max_workers=2) as pool:
        counts = list(pool.map(family, [ftlab] * len(FAMILIES), FAMILIES, [times] * len(FAMILIES)))
    assert sum(counts) > 0, "no checkpoint while they served"
    print(f"killed {times} times each, {len(FAMILIES)} families kept what was flushed "
          f"({time.monotonic() - begun:.0f} s)")


def the_canary_is_caught(ftlab):
    """A server that loses one page in a thousand: a client sees that before any crash."""
    with tempfile.TemporaryDirectory() as kept:
        options = ["--store", Path(kept) / "drive", "--canary", "1000"]
        oracle = Oracle(1)
        for _ in range(20):
            with drive(ftlab, "ideal_page", *options) as served:
                with asking(served) as ask:
                    assert not oracle.wrong(ask), "what it loses, it loses before a crash"
                try:
                    until_killed(served, oracle)
                except AssertionError as why:
                    assert "before any crash" in str(why), why
                    print("a server that loses one page in a thousand is caught")
                    return
    raise SystemExit("a server that loses one page in a thousand was not caught")


def groups(log):
    """Where the groups of a log end (crates/drive/src/store/log.rs)."""
    at = 0
    while at < len(log):
        at += 16 + struct.unpack_from("<I", log, at + 4)[0]
        yield at


def forget(folder, share):
    """What a server would leave that lost the last of its flushed groups at a restart, and says nothing:
    log and mark are as of an earlier flush, with checksums that are right."""
    mark, log = folder / "flushed", folder / f"log.{checkpoint(folder)}"
    number, length = struct.unpack("<QQ", mark.read_bytes()[:16])
    ends = list(groups(log.read_bytes()[:length]))
    cut = ends[int(len(ends) * share)]
    assert number == checkpoint(folder) and cut < length, (number, cut, length)
    with log.open("r+b") as file:
        file.truncate(cut)
    told = struct.pack("<QQ", number, cut)
    mark.write_bytes(told + struct.pack("<I", zlib.crc32(told)))


def the_forgetful_is_caught(ftlab):
    """A server that drops a flushed group when it starts again: before the crash nobody can see it, the
    server itself does not, and the oracle does."""
    for name in ["ideal_page", "fast"]:
        with tempfile.TemporaryDirectory() as kept:
            folder, oracle = Path(kept) / "drive", Oracle(2)
            with drive(ftlab, name, "--store", folder) as served, asking(served) as ask:
                for at in range(60):
                    oracle.request(ask, WRITE, first=at * 8, count=8)
                oracle.request(ask, FLUSH)
                served.process.kill()
                served.process.wait()
            forget(folder, 0.9)
            with drive(ftlab, name, "--store", folder) as served, asking(served) as ask:
                wrong = oracle.wrong(ask)
                assert 8 <= wrong < 30 * 8, f"{wrong} sectors of 6 of 60 writes"
                # It goes on as if nothing had been.
                oracle.request(ask, WRITE, first=0, count=8)
                oracle.request(ask, FLUSH)
                served.end()
    print("a server that drops a flushed group at a restart is caught")
