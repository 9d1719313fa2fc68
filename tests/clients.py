#!/usr/bin/env python3
"""Clients of block devices on a simulated drive, good ones and bad ones.

    tests/clients.py FTLAB [--file-systems|--crashes N]

fio writes to a drive of every scheme and verifies what it reads; nbdinfo, nbdcopy, qemu-io and
qemu-img see what the protocol promises; what was recorded gives the same counts when it is run; and a
server that is sent nonsense goes on serving others. With --file-systems (as root, with FUSE and loop
devices): ext4 on drives of six families, with fio, fstrim and e2fsck, and a SQLite database on it.
With --crashes the server of a drive in a folder is killed N times per family, at any moment, and what
was flushed must be there (tests/crashes.py); without, three times, and canaries must be caught.
Ends with 1 where something does not hold.
"""

import json
import os
import random
import shlex
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import oracle
from crashes import crashes, the_canary_is_caught, the_forgetful_is_caught
from served import (DEVICE, DISC, EINVAL, ENOSPC, MAGIC, MIB, OPTIONS, READ, REPLY, TRIM, WRITE,
                    ZERO, connected, drive, negotiated, request, run, taken)

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
    # What is overwritten in a buffer of the scheme's own is programmed once.
    programs = result["flash"]["total_programs"] + (result["buffer"] or {}).get("hits", 0)
    if result["audit"] != "passed" or programs < result["host"]["write_pages"] or not erases:
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
        time.sleep(2)  # Nobody reads along, and much else may run beside.
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


def works(served):
    begun = time.monotonic()
    client = negotiated(served)
    client.sendall(request(WRITE, 4096, 512) + b"x" * 512 + request(READ, 4096, 512))
    reply = taken(client, 16 + 16 + 512)
    assert struct.unpack(">II", reply[:8]) == (REPLY, 0) and reply[32:] == b"x" * 512
    client.sendall(request(DISC, 0, 0))
    assert time.monotonic() - begun < 10, "another client held it up"


# What a wrong request is answered with, by the protocol's text; None: its connection is closed.
WRONG = [
    (request(READ, 0, (1 << 32) - 1), EINVAL),
    (request(WRITE, 0, (1 << 32) - 1), None),
    (request(WRITE, 16 * MIB - 512, 1024) + bytes(1024), ENOSPC),
    (request(ZERO, 16 * MIB, 512), ENOSPC),
    (request(READ, 16 * MIB, 512), EINVAL),
    (request(TRIM, (1 << 64) - 512, 1024), EINVAL),
    (request(READ, 0, 0), EINVAL),
    (request(READ, 0, 512, flags=1 << 15), EINVAL),
    (request(77, 0, 1), EINVAL),
    (b"\1" * 28, None),
]
# Clients at a time (INTERFACE.md).
CONNECTIONS = 64


def wrong_requests(served, kept):
    for sent, error in WRONG:
        client = negotiated(served)
        client.sendall(sent)
        reply = taken(client, 16)
        assert reply == (b"" if error is None else struct.pack(">IIQ", REPLY, error, 1)), (sent[:28], reply)
        if error is not None:
            # The stream is in step.
            client.sendall(request(READ, 0, 512, 2))
            assert taken(client, 16 + 512)[:16] == struct.pack(">IIQ", REPLY, 0, 2), sent[:28]
        kept.append(client)
        works(served)


def wrong_handshakes(served, kept):
    noise = random.Random(2)
    flags = struct.pack(">I", 3)
    parts = [noise.randbytes(200) for _ in range(30)] + [
        b"", flags + OPTIONS[:5], flags + b"WRONGOPT" + b"\0" * 8,
        flags + OPTIONS + struct.pack(">II", 7, (1 << 32) - 1)]
    for part in parts:
        client = connected(served)
        client.sendall(part)
        kept.append(client)
    works(served)


def replies_that_nobody_takes(served):
    client = negotiated(served)
    client.settimeout(1)
    try:
        for _ in range(200):
            client.sendall(request(READ, 0, MIB))
    except socket.timeout:
        pass
    works(served)
    client.close()


def sockets(served):
    """How many it has open."""
    count = 0
    for file in Path(f"/proc/{served.process.pid}/fd").iterdir():
        try:
            count += str(file.readlink()).startswith("socket:")
        except FileNotFoundError:
            # It was closed meanwhile.
            pass
    return count


def nobody_is_connected(served, idle):
    """`idle`: sockets without any client."""
    until = time.monotonic() + 10
    while sockets(served) > idle:
        assert time.monotonic() < until, f"{sockets(served) - idle} connections are in use still"
        time.sleep(0.05)


def a_thousand_connections(served, idle):
    """So many are served as there is room for; the others are closed, and their places are free again."""
    many = []
    while len(many) < 1000:
        try:
            many.append(connected(served))
        except BlockingIOError:
            # More wait than the system lets wait.
            time.sleep(0.01)
    greeted = sum(taken(client, 18)[:8] == MAGIC for client in many)
    assert greeted == CONNECTIONS and sockets(served) <= idle + CONNECTIONS, (greeted, sockets(served))
    for client in many:
        client.close()
    nobody_is_connected(served, idle)
    again = [negotiated(served) for _ in range(CONNECTIONS)]
    refused = connected(served)
    assert taken(refused, 18) == b"", "there is no room for one more"
    for client in [refused, *again]:
        client.close()
    nobody_is_connected(served, idle)


def bad_clients(ftlab):
    with drive(ftlab, "ideal_page") as served:
        memory = lambda: int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1]) * 4096
        # What grows from here on is not the data of the drive.
        client = negotiated(served)
        client.sendall(request(WRITE, 0, 16 * MIB) + bytes(16 * MIB))
        assert taken(client, 16)[:8] == struct.pack(">II", REPLY, 0)
        client.close()
        before, kept = memory(), []
        works(served)
        time.sleep(0.5)
        idle = sockets(served)
        wrong_handshakes(served, kept)
        for client in kept:
            client.close()
        kept.clear()
        nobody_is_connected(served, idle)
        wrong_requests(served, kept)
        # Who says that much will come gets room for what comes.
        for _ in range(CONNECTIONS - len(kept) - 2):
            client = negotiated(served)
            client.sendall(request(WRITE, 0, 16 * MIB) + b"half")
            kept.append(client)
        works(served)
        grown = memory() - before
        assert grown < 192 * MIB, f"the server grew by {grown} bytes for writes that did not come"
        for client in kept:
            client.close()
        nobody_is_connected(served, idle)
        replies_that_nobody_takes(served)
        nobody_is_connected(served, idle)
        a_thousand_connections(served, idle)
        works(served)
        nobody_is_connected(served, idle)
        grown = memory() - before
        assert grown < 256 * MIB, f"the server grew by {grown} bytes"
        served.end()
    print("bad clients get the errors of the protocol, and hold nobody up")


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


def trims(statistics):
    """Requests of that kind so far, told anew every second."""
    told = statistics.stat().st_mtime_ns
    while statistics.stat().st_mtime_ns == told:
        time.sleep(0.05)
    result = json.loads(statistics.read_text())
    return (result[0] if isinstance(result, list) else result)["host"]["trim_requests"]


def file_systems(ftlab):
    for name in ["ideal_page", "dftl", "fast", "adapt", "superblock", "treeftl"]:
        with tempfile.TemporaryDirectory() as kept:
            file_system(ftlab, name, Path(kept) / "so-far.json")


def file_system(ftlab, name, statistics):
    with drive(ftlab, name, "--stats", statistics, mib=64) as served:
        with mounted(served) as disk:
            # Three times the same file, so that something must be collected.
            for _ in range(3):
                run("fio", "--name=fs", f"--directory={disk}", "--rw=randwrite", "--bs=4k", "--size=32M",
                    "--ioengine=libaio", "--direct=1", "--iodepth=8", "--verify=crc32c", "--do_verify=1",
                    "--end_fsync=1", "--verify_fatal=1", f"--aux-path={served.folder}")
            database(disk)
            for file in disk.glob("fs.*"):
                file.unlink()
            run("sync", "-f", disk)
            before = trims(statistics)
            trimmed = run("fstrim", "-v", disk)
            assert "trimmed" in trimmed, trimmed
            after = trims(statistics)
            assert after > before, f"{name}: {after} trims behind fstrim, {before} before"
        _, result = served.end()
    erases = sum(result["flash"]["erases"].values())
    assert result["audit"] == "passed" and erases, (name, result["audit"], erases)
    print(f"ext4 and SQLite on {name}: WAF {result['waf']:.2f}, {after - before} trims of fstrim's")


ODD = "a b'c\"d&e#f%g;h=i\u00fc"


def names_are_quoted(ftlab):
    """What is printed is what clients and shells take, whatever a folder is called."""
    with tempfile.TemporaryDirectory() as folder:
        odd = Path(folder) / ODD
        odd.mkdir()
        path, store, out = odd / "s", odd / "drive", odd / "out"
        command = [ftlab, "serve", "--scheme", "dftl", *DEVICE, "--capacity", "16MiB", "--listen",
                   f"unix:{path}", "--store", store, "--json", out, "--quiet"]

        def served(command, **more):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, **more)
            try:
                first = process.stdout.readline()
                url = first.split(" serves ")[1].split("; Ctrl-C")[0]
                assert run("nbdinfo", "--size", url).strip() == str(16 * MIB), url
                os.killpg(process.pid, signal.SIGINT)
                told, _ = process.communicate(timeout=60)
                return first + told
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

        served(list(map(str, command)))
        again = json.loads(out.read_text())
        again = (again[0] if isinstance(again, list) else again)["made"]["command"]
        words = shlex.split(again)
        assert f"unix:{path}" in words and str(store) in words, again
        # A shell serves the same folder again.
        path = f"{Path(ftlab).parent}:{os.environ['PATH']}"
        told = served(again, shell=True, env=os.environ | {"PATH": path})
        assert "found again" in told, told
    print("names with any characters are quoted for clients and shells")


def others_are_let_in_when_told_so(ftlab):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        process = subprocess.Popen(
            [ftlab, "serve", "--scheme", "dftl", *DEVICE, "--capacity", "16MiB", "--listen", "tcp:0.0.0.0:0",
             "--http", "0.0.0.0:0", "--listen-anyone", "--json", out, "--quiet"],
            stdout=subprocess.PIPE, text=True)
        try:
            url = process.stdout.readline().split(" serves ")[1].split(";")[0]
            page = process.stdout.readline().split()[-1]
            assert url.startswith("nbd://0.0.0.0:") and page.startswith("http://0.0.0.0:"), (url, page)
            # Any address of this machine reaches it, and the page goes by any name.
            port = url.rsplit(":", 1)[1]
            assert run("nbdinfo", "--size", f"nbd://127.0.0.2:{port}").strip() == str(16 * MIB)
            asked = Request(page.replace("0.0.0.0", "127.0.0.2") + "live.json", headers={"Host": "drive.example"})
            assert json.load(urlopen(asked, timeout=20))["failure"] is None
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        result = json.loads(out.read_text())
        command = (result[0] if isinstance(result, list) else result)["made"]["command"]
        assert "--listen-anyone" in shlex.split(command), command
    print("other machines are let in with --listen-anyone alone")


def main():
    ftlab, *rest = sys.argv[1:] or sys.exit(__doc__)
    ftlab = str(Path(ftlab).resolve())
    match rest:
        case []:
            for test in [refusals, names_are_quoted, others_are_let_in_when_told_so, what_clients_see,
                         recorded_is_replayed, bad_clients, every_scheme, the_canary_is_caught,
                         the_forgetful_is_caught]:
                test(ftlab)
            oracle.main()
            crashes(ftlab, 3)
        case ["--file-systems"]:
            file_systems(ftlab)
        case ["--crashes", times]:
            crashes(ftlab, int(times))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
