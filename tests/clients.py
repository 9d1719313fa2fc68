#!/usr/bin/env python3
"""Clients of block devices on a simulated drive, good ones and bad ones.

    tests/clients.py FTLAB [--file-systems|--crashes N]

fio writes to a drive of every scheme and verifies what it reads; nbdinfo, nbdcopy, qemu-io and
qemu-img see what the protocol promises; what was recorded gives the same counts when it is run; and a
server that is sent nonsense goes on serving others. With --file-systems (as root, with FUSE and loop
devices): ext4 on drives of six families, with fio, fstrim and e2fsck, and a SQLite database on it.
With --crashes the server of a drive in a folder is killed N times per family, at any moment, and what
was flushed must be there; without, three times.
Ends with 1 where something does not hold.
"""

import json
import random
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20
DEVICE = ["--device", "slc_small", "--set", "device.over_provisioning=50%", "--set",
          "device.oob_bytes=64"]
# Of the protocol's text.
MAGIC, OPTIONS, REPLY = b"NBDMAGIC", b"IHAVEOPT", 0x67446698
EXPORT_NAME, REQUEST = 1, 0x25609513
READ, WRITE, DISC, FLUSH, TRIM = 0, 1, 2, 3, 4


def run(*command, seconds=120, folder=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds,
                          cwd=folder)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Drive:
    """A server in a folder of its own."""

    def __init__(self, ftlab, folder, scheme, *options, mib=16):
        self.folder, self.socket = Path(folder), Path(folder) / "s"
        self.url = f"nbd+unix:///?socket={self.socket}"
        command = [ftlab, "serve", "--scheme", scheme, *DEVICE, "--capacity", f"{mib}MiB", "--listen",
                   f"unix:{self.socket}", "--json", self.folder / "results.json", "--quiet", *options]
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.first = self.process.stdout.readline()
        if "serves" not in self.first:
            sys.exit(f"{scheme}: {self.process.stderr.read()}")

    def end(self):
        """Its output and its result."""
        self.process.send_signal(signal.SIGINT)
        out, told = self.process.communicate(timeout=60)
        if self.process.returncode or told:
            sys.exit(f"the server ended with {self.process.returncode}: {told}")
        if self.socket.exists():
            sys.exit("the server left its socket behind")
        result = json.loads((self.folder / "results.json").read_text())
        return out, result[0] if isinstance(result, list) else result


@contextmanager
def drive(*arguments, **more):
    with tempfile.TemporaryDirectory() as folder:
        served = Drive(arguments[0], folder, *arguments[1:], **more)
        try:
            yield served
        finally:
            served.process.kill()
            served.process.wait()


def fio(url, folder, *options, mib=16, written=8):
    # Where fio is run it leaves a file of its own.
    run("fio", "--name=v", "--ioengine=nbd", f"--uri={url}", f"--size={mib}M", f"--io_size={written}M",
        "--iodepth=16", "--verify=crc32c", "--verify_fatal=1", "--minimal", *options, folder=folder)


def one_scheme(ftlab, name):
    with drive(ftlab, name, mib=8) as served:
        for job in ["--rw=randwrite", "--rw=write"]:
            fio(served.url, served.folder, job, "--bs=4k", "--do_verify=1", mib=8)
        fio(served.url, served.folder, "--rw=randrw", "--bsrange=512-128k", "--verify_backlog=64", mib=8,
            written=4)
        _, result = served.end()
    erases = sum(result["flash"]["erases"].values())
    if result["audit"] != "passed" or not result["waf"] >= 1 or not erases:
        sys.exit(f"{name}: audit {result['audit']}, WAF {result['waf']}, {erases} erases")


def every_scheme(ftlab):
    names = [row["name"] for row in json.loads(run(ftlab, "list", "schemes", "--json"))]
    assert len(names) > 20, names
    with ThreadPoolExecutor(max_workers=2) as pool:
        # What failed is told here.
        list(pool.map(lambda name: one_scheme(ftlab, name), names))
    print(f"fio verified {len(names)} schemes")


def what_clients_see(ftlab):
    with drive(ftlab, "dftl") as served:
        info = json.loads(run("nbdinfo", "--json", served.url))["exports"][0]
        wanted = {"export-size": 16 * MIB, "can_trim": True, "can_flush": True, "can_fua": True,
                  "can_zero": True, "can_multi_conn": True, "is_read_only": False}
        seen = {key: info.get(key) for key in wanted}
        assert seen == wanted, seen
        shown = run("qemu-io", "-f", "raw", served.url,
                    "-c", "write -P 0xa5 1M 64k", "-c", "read -P 0xa5 1M 64k", "-c", "discard 1M 32k",
                    "-c", "read -P 0 1M 32k", "-c", "read -P 0xa5 1056k 32k", "-c", "write -z 2M 1M",
                    "-c", "write -P 7 5000 777", "-c", "read -P 7 5000 777", "-c", "read -P 0 5777 100",
                    "-c", "flush")
        assert "verification failed" not in shown and "error" not in shown.lower(), shown
        extents = json.loads(run("qemu-img", "map", "--output=json", served.url))
        data = [(one["start"], one["length"]) for one in extents if one["data"]]
        # Zeroes that may leave no hole are data.
        assert data == [(4608, 1536), (MIB + 32768, 32768), (2 * MIB, MIB)], data
        image, copy = served.folder / "in", served.folder / "out"
        image.write_bytes(random.Random(1).randbytes(16 * MIB))
        run("nbdcopy", image, served.url)
        run("nbdcopy", served.url, copy)
        assert image.read_bytes() == copy.read_bytes(), "nbdcopy brings other bytes back"
        served.process.send_signal(signal.SIGUSR1)
        time.sleep(0.5)
        out, _ = served.end()
        assert out.count("Write amplification") == 2, "a table on SIGUSR1, and one at the end"
    print("nbdinfo, qemu-io, qemu-img and nbdcopy see what was written")


def recorded_is_replayed(ftlab):
    for store in [False, True]:
        with tempfile.TemporaryDirectory() as folder:
            trace, replayed = Path(folder) / "t.ftb", Path(folder) / "r.json"
            options = ["--store", Path(folder) / "drive"] if store else []
            with drive(ftlab, "fast", "--record", trace, *options) as served:
                fio(served.url, served.folder, "--rw=randrw", "--bsrange=512-64k", "--fsync=32",
                    "--verify_backlog=64", written=4)
                _, result = served.end()
            run(ftlab, "run", "--scheme", "fast", *DEVICE, "--capacity", "16MiB", "--workload", trace,
                "--timing", "asap", "--quiet", "--json", replayed)
            again = json.loads(replayed.read_text())
            again = again[0] if isinstance(again, list) else again
            for part in ["host", "flash", "merges", "waf"]:
                assert result[part] == again[part], (part, result[part], again[part])
            assert result["workload"]["requests"] == again["workload"]["requests"]
    print("what was recorded gives the same counts again")


def connected(served):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(str(served.socket))
    return client


def taken(client, length):
    """So many bytes; fewer where the server is gone."""
    data = bytearray()
    while len(data) < length and (part := client.recv(length - len(data))):
        data += part
    return bytes(data)


def whole(client, length):
    """So many bytes, of a server that may be killed meanwhile."""
    data = taken(client, length)
    if len(data) < length:
        raise ConnectionError
    return data


def negotiated(served):
    """A client past the oldest of the handshakes."""
    client = connected(served)
    greeting = whole(client, 18)
    assert greeting[:16] == MAGIC + OPTIONS, greeting
    client.sendall(struct.pack(">I", 3) + OPTIONS + struct.pack(">II", EXPORT_NAME, 0))
    size, _ = struct.unpack(">QH", whole(client, 10))
    assert size == 16 * MIB, size
    return client


def request(kind, offset, length, handle=1):
    return struct.pack(">IHHQQI", REQUEST, 0, kind, handle, offset, length)


def works(served):
    begun = time.monotonic()
    client = negotiated(served)
    client.sendall(request(WRITE, 4096, 512) + b"x" * 512 + request(READ, 4096, 512))
    reply = taken(client, 16 + 16 + 512)
    assert struct.unpack(">II", reply[:8]) == (REPLY, 0) and reply[32:] == b"x" * 512
    client.sendall(request(DISC, 0, 0))
    assert time.monotonic() - begun < 10, "another client held it up"


def bad_clients(ftlab):
    with drive(ftlab, "ideal_page") as served:
        memory = lambda: int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1]) * 4096
        before, kept = memory(), []
        noise = random.Random(2)
        for _ in range(50):
            client = connected(served)
            client.sendall(noise.randbytes(200))
            kept.append(client)
        for part in [b"", struct.pack(">I", 3) + OPTIONS[:5], struct.pack(">I", 3) + b"WRONGOPT" + b"\0" * 8,
                     struct.pack(">I", 3) + OPTIONS + struct.pack(">II", 7, (1 << 32) - 1)]:
            client = connected(served)
            client.sendall(part)
            kept.append(client)
        works(served)
        for wrong in [request(READ, 0, (1 << 32) - 1), request(WRITE, 0, (1 << 32) - 1), request(77, 0, 1),
                      request(READ, 16 * MIB, 512), b"\1" * 28, request(WRITE, 0, 4096) + b"half"]:
            client = negotiated(served)
            client.sendall(wrong)
            kept.append(client)
            works(served)
        for client in kept:
            client.close()
        # Replies that nobody takes.
        client = negotiated(served)
        client.settimeout(1)
        try:
            for _ in range(200):
                client.sendall(request(READ, 0, MIB))
        except socket.timeout:
            pass
        works(served)
        client.close()
        many = []
        for _ in range(1000):
            try:
                many.append(connected(served))
            except OSError:
                break
        for client in many:
            client.close()
        time.sleep(0.5)
        works(served)
        grown = memory() - before
        assert grown < 512 * MIB, f"the server grew by {grown} bytes"
        served.end()
    print("bad clients hold nobody up")


def refusals(ftlab):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_text("kept")
        for listen, why in [([f"unix:{file}"], "is taken"), (["tcp:0.0.0.0:0"], "other machines"),
                            (["somewhere"], "no address"), (["tcp:127.0.0.1"], "no address"),
                            ([f"unix:{folder}/s", "--http", "0.0.0.0:0"], "other machines"),
                            ([f"unix:{folder}/s", "--http", "127.0.0.1"], "no address")]:
            done = subprocess.run([ftlab, "serve", "--scheme", "dftl", *DEVICE, "--capacity", "16MiB",
                                   "--listen", *listen], capture_output=True, text=True, timeout=20)
            assert done.returncode == 2 and why in done.stderr and "legal: " in done.stderr, done
        assert file.read_text() == "kept"
    print("what cannot be listened on is refused")


class Oracle:
    """What each sector may hold: what was flushed, or what was sent since. Where a trim was not flushed, a
    crash may bring any earlier version back that no flushed trim came behind (crates/ftl/src/parts/
    trim_records.rs): the protocol promises nothing of such bytes."""

    SECTORS = 16 * MIB // 512

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.may = [[bytes(512)] for _ in range(self.SECTORS)]
        # Numbers of the versions behind the last flushed trim, and whether a trim is not flushed.
        self.past = [set() for _ in range(self.SECTORS)]
        self.trimmed = [False] * self.SECTORS
        self.number, self.flushed = 0, 0

    def sector(self, at):
        return struct.pack(">QQ", self.number, at) * 32

    def work(self, served):
        """Writes, trims and flushes, one answered after the other; after some of them, however long they
        take, the server is killed at any moment."""
        client = None
        begun, doomed = self.number, self.random.randrange(80)
        killer = threading.Timer(self.random.uniform(0, 0.1), served.process.kill)
        try:
            client = negotiated(served)
            while True:
                if self.number - begun == doomed:
                    killer.start()
                self.number += 1
                first = self.random.randrange(self.SECTORS // 8 if self.number % 2 else self.SECTORS)
                count = min(self.random.choice([1, 7, 8, 16, 64]), self.SECTORS - first)
                kind = self.random.choices([WRITE, FLUSH, TRIM], [12, 2, 1])[0]
                sent = b""
                if kind == WRITE:
                    sectors = [self.sector(first + at) for at in range(count)]
                    sent = b"".join(sectors)
                    for at, data in enumerate(sectors):
                        self.may[first + at].append(data)
                        self.past[first + at].add(self.number)
                elif kind == TRIM:
                    for at in range(first, first + count):
                        self.may[at].append(bytes(512))
                        self.trimmed[at] = True
                offset, length = (0, 0) if kind == FLUSH else (first * 512, count * 512)
                client.sendall(request(kind, offset, length) + sent)
                reply = taken(client, 16)
                if len(reply) < 16:
                    return
                assert struct.unpack(">II", reply[:8]) == (REPLY, 0), reply
                if kind == FLUSH:
                    self.flushed += 1
                    # A trim of part of a page may be ignored: what was there is there still.
                    self.settle(served, client)
        except ConnectionError:
            return
        finally:
            if killer.ident:
                killer.join()
            if client:
                client.close()

    def settle(self, served, client):
        """Behind a flush each sector holds what it is read as; only those that changed are read."""
        for at, may in enumerate(self.may):
            if len(may) > 1:
                client.sendall(request(READ, at * 512, 512))
                reply = whole(client, 16 + 512)
                assert reply[16:] in (may if bytes(512) in may else may[-1:]), f"sector {at} before any crash"
                self.may[at] = [reply[16:]]
                if self.trimmed[at] and reply[16:] == bytes(512):
                    self.past[at].clear()
                self.trimmed[at] = False

    def is_earlier(self, at, found):
        """Whether a trim that was not flushed explains what is found."""
        number, _ = struct.unpack(">QQ", found[:16])
        own = struct.pack(">QQ", number, at) * 32
        return self.trimmed[at] and number in self.past[at] and found == own

    def wrong(self, served):
        """How many sectors hold what they may not."""
        client = negotiated(served)
        wrong = 0
        for first in range(0, self.SECTORS, 2048):
            client.sendall(request(READ, first * 512, 2048 * 512))
            data = taken(client, 16 + 2048 * 512)[16:]
            for at in range(2048):
                found = data[at * 512:(at + 1) * 512]
                wrong += found not in self.may[first + at] and not self.is_earlier(first + at, found)
                self.may[first + at] = [found]
                self.trimmed[first + at] = False
        client.close()
        return wrong


FAMILIES = ["dftl", "fast", "adapt", "hat", "treeftl", "lazyftl", "superblock", "ideal_page"]


def crashes(ftlab, times):
    for name in FAMILIES:
        with tempfile.TemporaryDirectory() as kept:
            oracle = Oracle(name)
            for turn in range(times + 1):
                with drive(ftlab, name, "--store", Path(kept) / "drive") as served:
                    wrong = oracle.wrong(served)
                    assert not wrong, f"{name}: {wrong} sectors after crash {turn}, seed {name!r}"
                    if turn == times:
                        _, result = served.end()
                        assert result["audit"] == "passed", result["audit"]
                        break
                    oracle.work(served)
            assert oracle.flushed > times, f"{name}: only {oracle.flushed} flushes"
            print(f"{name}: killed {times} times, {oracle.number} requests, {oracle.flushed} flushes",
                  flush=True)
    print(f"killed {times} times each, {len(FAMILIES)} families kept what was flushed")


def the_canary_is_caught(ftlab):
    with tempfile.TemporaryDirectory() as kept:
        options = ["--store", Path(kept) / "drive", "--canary", "1000"]
        oracle = Oracle(1)
        for _ in range(20):
            with drive(ftlab, "ideal_page", *options) as served:
                if oracle.wrong(served):
                    print("a server that loses one page in a thousand is caught")
                    return
                try:
                    oracle.work(served)
                except AssertionError:
                    print("a server that loses one page in a thousand is caught")
                    return
    sys.exit("a server that loses one page in a thousand was not caught")


@contextmanager
def mounted(served):
    """A new ext4 on a drive, through a file of nbdfuse and a loop device."""
    fuse, disk = served.folder / "fuse", served.folder / "ext4"
    fuse.mkdir()
    disk.mkdir()
    nbdfuse = subprocess.Popen(["nbdfuse", fuse, served.url])
    file = fuse / "nbd"
    while not file.exists():
        time.sleep(0.05)
        assert nbdfuse.poll() is None, "nbdfuse ended"
    loop = None
    try:
        run("mke2fs", "-q", "-t", "ext4", "-b", "4096", "-F", file)
        # Reads come from the drive, not from a cache.
        loop = run("losetup", "--direct-io=on", "-f", "--show", file).strip()
        run("mount", "-t", "ext4", "-o", "discard", loop, disk)
        try:
            yield disk
        finally:
            run("umount", disk)
        # Ends with 0 where nothing is wrong.
        run("e2fsck", "-fn", loop)
    finally:
        if loop:
            run("losetup", "-d", loop)
        run("umount", fuse)
        nbdfuse.wait(timeout=20)


def database(folder):
    """A SQLite database in WAL mode: what is committed is what is read."""
    known = {}
    base = sqlite3.connect(folder / "base", isolation_level=None)
    assert base.execute("pragma journal_mode=wal").fetchone() == ("wal",)
    base.execute("pragma synchronous=full")
    base.execute("create table words (number integer primary key, word text)")
    numbers = random.Random(3)
    for _ in range(300):
        rows = [(numbers.randrange(2000), "x" * numbers.randrange(400)) for _ in range(10)]
        base.execute("begin")
        base.executemany("insert or replace into words values (?, ?)", rows)
        base.execute("commit")
        known.update(rows)
    base.execute("pragma wal_checkpoint(truncate)")
    base.close()
    Path("/proc/sys/vm/drop_caches").write_text("3")
    base = sqlite3.connect(folder / "base")
    assert base.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert dict(base.execute("select number, word from words")) == known
    base.close()


def file_systems(ftlab):
    names = ["ideal_page", "dftl", "fast", "adapt", "superblock", "treeftl"]
    for name in names:
        with drive(ftlab, name, mib=64) as served:
            with mounted(served) as disk:
                # Three times the same file, so that something must be collected.
                for _ in range(3):
                    run("fio", "--name=fs", f"--directory={disk}", "--rw=randwrite", "--bs=4k",
                        "--size=32M", "--ioengine=libaio", "--direct=1", "--iodepth=8",
                        "--verify=crc32c", "--do_verify=1", "--end_fsync=1", "--verify_fatal=1",
                        f"--aux-path={served.folder}")
                database(disk)
                for file in disk.glob("fs.*"):
                    file.unlink()
                trimmed = run("fstrim", "-v", disk)
                assert "trimmed" in trimmed, trimmed
            _, result = served.end()
        erases = sum(result["flash"]["erases"].values())
        assert result["audit"] == "passed" and erases, (name, result["audit"], erases)
        print(f"ext4 and SQLite on {name}: WAF {result['waf']:.2f}")


def main():
    ftlab, *rest = sys.argv[1:] or sys.exit(__doc__)
    ftlab = str(Path(ftlab).resolve())
    match rest:
        case []:
            for test in [refusals, what_clients_see, recorded_is_replayed, bad_clients, every_scheme,
                         the_canary_is_caught]:
                test(ftlab)
            crashes(ftlab, 3)
        case ["--file-systems"]:
            file_systems(ftlab)
        case ["--crashes", times]:
            crashes(ftlab, int(times))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
