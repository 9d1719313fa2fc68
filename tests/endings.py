#!/usr/bin/env python3
"""How a drive begins and ends: nobody finds it before it is there, and what was answered is kept however
its server ends.

    tests/endings.py FTLAB

Ends with 1 where something does not hold.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from served import (DEVICE, FLUSH, MIB, READ, TRIM, WRITE, connected, drive, negotiated, request, run,
                    taken)


def asked(client, kind, offset=0, length=0, sent=b""):
    """A request that must be answered without an error, and what it brought."""
    client.sendall(request(kind, offset, length) + sent)
    reply = taken(client, 16 + (length if kind == READ else 0))
    assert len(reply) >= 16 and reply[4:8] == bytes(4), reply[:16]
    return reply[16:]


def no_answer_is_waited_for(ftlab):
    """Under this time a write takes minutes; whoever ends the server waits for none of it."""
    for number in [signal.SIGINT, signal.SIGTERM]:
        with tempfile.TemporaryDirectory() as kept:
            options = ["--store", Path(kept) / "drive"]
            with drive(ftlab, "ideal_page", *options, "--timing", "real:1000") as served:
                client = negotiated(served)
                client.sendall(request(WRITE, 0, 4 * MIB) + b"w" * 4 * MIB)
                client.settimeout(1)
                try:
                    assert not client.recv(1), "it is answered at its time"
                except TimeoutError:
                    pass
                begun = time.monotonic()
                served.process.send_signal(number)
                served.process.communicate(timeout=60)
                took = time.monotonic() - begun
                assert served.process.returncode == 0 and took < 20, (served.process.returncode, took)
                client.close()
            with drive(ftlab, "ideal_page", *options) as served:
                client = negotiated(served)
                assert asked(client, READ, 0, MIB) == b"w" * MIB, "what was written is kept"
                client.close()
    print("a drive that is ended waits for no simulated time")


def command(ftlab, folder, *options):
    listen = f"unix:{folder / 's'}"
    return list(map(str, [ftlab, "serve", "--scheme", "fast", *DEVICE, "--capacity", "16MiB", "--listen",
                          listen, "--json", folder / "results.json", "--quiet", *options]))


class Choked:
    """A server whose standard output takes its first line, and then nothing more until it is read."""

    def __init__(self, ftlab, folder, *options):
        self.socket = folder / "s"
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.writes, False)
        self.process = subprocess.Popen(command(ftlab, folder, *options), stdout=self.writes,
                                        stderr=subprocess.PIPE, text=True)
        first = os.read(self.reads, 4096)
        assert b" serves " in first, first
        try:
            while True:
                os.write(self.writes, b" " * 4096)
        except BlockingIOError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.reads)
        os.close(self.writes)


def nothing_that_cannot_be_told_loses_what_was_answered(ftlab):
    """Statistics that go nowhere, and a standard output that takes nothing: the drive goes on, says so,
    and keeps what it was asked for."""
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        trace, replayed, store = folder / "t.ftb", folder / "r.json", ["--store", folder / "drive"]
        with Choked(ftlab, folder, *store, "--record", trace, "--stats", folder / "no" / "now.json") as served:
            client = negotiated(served)
            for page in range(200):
                asked(client, WRITE, page * 8192, 4096, bytes([page + 1]) * 4096)
            asked(client, TRIM, 0, 4096)
            time.sleep(2.5)
            served.process.send_signal(signal.SIGUSR1)
            time.sleep(2)  # Nobody reads along, and much else may run beside.
            asked(client, WRITE, 4096, 512, b"x" * 512)
            client.close()
            served.process.send_signal(signal.SIGINT)
            _, told = served.process.communicate(timeout=60)
        # The last table could not be told either, and that is an error.
        assert served.process.returncode == 1, (served.process.returncode, told)
        assert told.count("--stats") == 1, "it is said once, and not every second: " + told
        assert told.count("standard output cannot be written") == 2, told
        result = json.loads((folder / "results.json").read_text())
        result = result[0] if isinstance(result, list) else result
        # 201 writes, a trim, and the flush at the end.
        assert result["workload"]["requests"] == 203, result["workload"]
        run(ftlab, "run", "--scheme", "fast", *DEVICE, "--capacity", "16MiB", "--workload", trace,
            "--timing", "asap", "--quiet", "--json", replayed)
        again = json.loads(replayed.read_text())
        again = again[0] if isinstance(again, list) else again
        assert again["workload"]["requests"] == 203 and again["host"] == result["host"], again["host"]
        with drive(ftlab, "fast", *store) as served:
            client = negotiated(served)
            assert asked(client, READ, 4096, 512) == b"x" * 512
            for page in range(1, 200):
                assert asked(client, READ, page * 8192, 4096) == bytes([page + 1]) * 4096, page
            client.close()
    print("what was answered is kept, whatever cannot be told")


def it_is_found_once_it_is_there(ftlab):
    """A socket that is there is answered at once; one that is taken is told before the drive is made."""
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        options = ["--precondition", "random:100x"]
        begun = time.monotonic()
        process = subprocess.Popen(command(ftlab, folder, *options), stdout=subprocess.PIPE)
        try:
            while not (folder / "s").exists():
                assert process.poll() is None and time.monotonic() < begun + 120
                time.sleep(0.001)
            prepared = time.monotonic() - begun
            time.sleep(0.001)
            connected_at = time.monotonic()
            served = type("Served", (), {"socket": folder / "s"})
            client = connected(served)
            assert taken(client, 18), "a greeting"
            waited = time.monotonic() - connected_at
            # Where it were there before it is prepared, the client would wait for that.
            assert waited < prepared / 2, (prepared, waited)
            client.close()
            other = folder / "other"
            done = subprocess.run(command(ftlab, folder, "--store", other), capture_output=True,
                                  text=True, timeout=60)
            assert done.returncode == 2 and "is taken" in done.stderr, done
            assert not other.exists()
        finally:
            process.kill()
            process.communicate()
    print("a drive is found once it is there")


def checkpoints(ftlab):
    """--store-log: the folder is written anew while the drive serves, and says so in what serves it again."""
    with tempfile.TemporaryDirectory() as kept:
        store = Path(kept) / "drive"
        with drive(ftlab, "dftl", "--store", store, "--store-log", "64KiB") as served:
            client = negotiated(served)
            for page in range(2000):
                asked(client, WRITE, page * 4096, 4096, page.to_bytes(4, "big") * 1024)
            number = int(next(store.glob("flash.*")).suffix[1:])
            assert number > 2, f"flash.{number} after 2000 writes"
            asked(client, FLUSH)
            client.close()
        with drive(ftlab, "dftl", "--store", store) as served:
            client = negotiated(served)
            for page in range(2000):
                assert asked(client, READ, page * 4096, 4096) == page.to_bytes(4, "big") * 1024, page
            client.close()
        wrong = subprocess.run(command(ftlab, Path(kept), "--store-log", "4KiB"), capture_output=True,
                               text=True, timeout=20)
        assert wrong.returncode == 2 and "--store" in wrong.stderr, wrong
        wrong = subprocess.run(command(ftlab, Path(kept), "--store", store, "--store-log", "0"),
                               capture_output=True, text=True, timeout=20)
        assert wrong.returncode == 2 and "legal: " in wrong.stderr, wrong
    print("a log is followed by a checkpoint at the length that was asked for")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ftlab = str(Path(sys.argv[1]).resolve())
    for test in [no_answer_is_waited_for, nothing_that_cannot_be_told_loses_what_was_answered,
                 it_is_found_once_it_is_there, checkpoints]:
        test(ftlab)


if __name__ == "__main__":
    main()
