#!/usr/bin/env python3
"""Clocks that stand still: what `ftlab` does where no time passes on any clock that it can read, and where
the clock on the wall says 1970. Nothing is divided by zero, nothing waits for ever, and results are those
of any other clock but for `wall` and the time at which they began.

    tests/clocks.py FTLAB

The clocks are those of a library that is loaded before the C library; a compiler for it is `cc`. Ends with 1
where something does not hold.
"""

import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from served import MIB, READ, WRITE, drive, negotiated, request, taken

# All clocks but those of processor time. FTLAB_WALL is the time of the wall, in seconds.
STANDING = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t wall(void) { const char *text = getenv("FTLAB_WALL"); return text ? atoll(text) : 1700000000; }

int clock_gettime(clockid_t clock, struct timespec *now) {
    now->tv_nsec = 0;
    now->tv_sec = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? wall() : 5;
    return 0;
}

int gettimeofday(struct timeval *now, void *zone) { (void)zone; now->tv_sec = wall(); now->tv_usec = 0; return 0; }

time_t time(time_t *now) { if (now) *now = wall(); return wall(); }
"""
SMALL = ["--device", "slc_small", "--capacity", "16MiB"]
RUN = ["run", "--scheme", "dftl", *SMALL, "--workload", "randwrite:count=20000", "--precondition", "fill"]
SECONDS = 60


def compiled(folder):
    source, library = folder / "standing.c", folder / "standing.so"
    source.write_text(STANDING)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


def done(environment, *command):
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS,
                           env=environment)
    assert ended.returncode == 0 and "panicked" not in ended.stderr, (command, ended)
    return ended.stdout


def numbers(value):
    if isinstance(value, dict):
        return [number for part in value.values() for number in numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [value] if isinstance(value, (int, float)) else []


def result(path):
    def refused(text):
        raise AssertionError(f"{path} holds {text}")
    read = json.loads(path.read_text(), parse_constant=refused)
    return read[0] if isinstance(read, list) else read


def runs_are_the_same(ftlab, standing, folder):
    """But for what the clocks say themselves."""
    own, other = folder / "own.json", folder / "other.json"
    text = done(standing, ftlab, *RUN, "--quiet", "--json", own)
    assert "NaN" not in text and "inf" not in text, text
    done(os.environ, ftlab, *RUN, "--quiet", "--json", other)
    first, second = result(own), result(other)
    wall = first["wall"]
    assert wall["seconds"] == 0 and wall["host_pages_per_second"] == 0, wall
    assert wall["flash_operations_per_second"] == 0 and second["wall"]["seconds"] > 0, wall
    assert first["made"]["started"].startswith("2023-11-14"), first["made"]
    for each in (first, second):
        del each["wall"], each["made"]
    assert first == second, "a clock that stands still changes a result"
    print("a run on a clock that stands still is the same, and says that it took no time")


def watched(environment, *command):
    """What a command tells a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(command[0], list(map(str, command)), environment)
    told, until = b"", time.monotonic() + SECONDS
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            part = b""
        told += part
        if not part:
            break
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            raise AssertionError(f"{command} does not end: {told[-400:]}")
    _, status = os.waitpid(child, 0)
    told = told.decode(errors="replace")
    assert os.waitstatus_to_exitcode(status) == 0 and "panicked" not in told, (command, told)
    assert "NaN" not in told, told


def progress_ends(ftlab, standing, folder):
    """Bars, rates and times left, which are told to a terminal only."""
    watched(standing, ftlab, "compare", "--schemes", "ideal_page,dftl", *SMALL, "--workload",
            "randwrite:count=300000", "--out", folder / "compared")
    watched(standing, ftlab, "sweep", *SMALL, "--precondition", "fill", "--workload",
            "randwrite:bs=4k,span=4MiB,count=4000,seed=5", "--out", folder / "swept", "--grid",
            "scheme=dftl,fast op=20%,30%")
    print("comparisons and sweeps end, whatever their bars say")


def estimates_end(ftlab, standing, folder):
    """How long a sweep takes is found out by beginning it: for a while, on a clock."""
    told = done(standing, ftlab, "sweep", "--dry-run", *SMALL, "--workload",
                "randwrite:bs=4k,span=4MiB,count=4000000000,seed=5", "--out", folder / "long", "--grid",
                "scheme=ideal_page op=20%,30%")
    assert "NaN" not in told and "more than" in told, told
    print("a sweep that is far too long is told to be no shorter than what was tried of it")


def drives_end(ftlab, standing):
    """A client that stays holds up no end, though the time that it is given never passes."""
    os.environ.update({key: standing[key] for key in ("LD_PRELOAD", "FTLAB_WALL")})
    try:
        with drive(ftlab, "dftl") as served:
            client = negotiated(served)
            client.sendall(request(WRITE, MIB, 4096) + bytes(range(256)) * 16 + request(READ, MIB, 4096))
            answers = taken(client, 16 + 16 + 4096)
            assert answers[32:] == bytes(range(256)) * 16
            # Silent, and connected still; another one is within a request, a third does not take answers.
            halfway, deaf = negotiated(served), negotiated(served)
            halfway.sendall(request(WRITE, 0, 1 << 20) + bytes(1000))
            deaf.sendall(request(READ, 0, 1 << 22) * 4)
            _, ended = served.end()
            assert ended["wall"]["seconds"] == 0, ended["wall"]
            for one in (client, halfway, deaf):
                one.close()
    finally:
        del os.environ["LD_PRELOAD"], os.environ["FTLAB_WALL"]
    print("a drive ends while a client is connected")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ftlab = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        standing = {**os.environ, "LD_PRELOAD": str(compiled(folder)), "FTLAB_WALL": "1700000000"}
        runs_are_the_same(ftlab, standing, folder)
        progress_ends(ftlab, standing, folder)
        estimates_end(ftlab, standing, folder)
        drives_end(ftlab, {**standing, "FTLAB_WALL": "0"})


if __name__ == "__main__":
    main()
