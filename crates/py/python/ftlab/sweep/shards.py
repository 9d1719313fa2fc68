"""A sweep cut into shards: the command of each, and what became of it."""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass, replace

#: Words of `ftlab sweep` that the shards get from here.
OURS = ("--shard", "--resume", "--dry-run", "--quiet", "--jobs")

#: Most lines of a shard's error that are told.
LINES = 5


class Refused(Exception):
    """The words make no sense; nothing was started."""


@dataclass(frozen=True)
class Shards:
    """The words of ``ftlab sweep`` that all shards share."""

    words: tuple[str, ...]
    out: str
    #: Where paths in the words begin; it must be there on all machines.
    folder: str
    #: Shards, at least 1; none while it is open.
    number: int | None
    #: Runs at a time in each.
    jobs: int

    @classmethod
    def of(cls, words: list[str], number: int | None, jobs: int) -> Shards:
        """Reads `--out`, which must be absolute for machines that stand elsewhere."""
        if number is not None and number < 1:
            raise Refused(f"--shards {number}: legal: 1 and more")
        if jobs < 1:
            raise Refused(f"{jobs} cores for a shard: legal: 1 and more")
        own = [word for word in words if word.split("=")[0] in OURS]
        if own:
            raise Refused(f"{own[0]} is not for you to say: every shard gets its own ({', '.join(OURS)})")
        kept: list[str] = []
        out = None
        rest = iter(words)
        for word in rest:
            if word == "--out":
                out = next(rest, None)
            elif word.startswith("--out="):
                out = word.removeprefix("--out=")
            else:
                kept.append(word)
        if not out:
            raise Refused("--out DIR is missing: the folder of results, the same on all machines")
        return cls(tuple(kept), os.path.abspath(out), os.getcwd(), number, jobs)

    def with_number(self, number: int) -> Shards:
        """The same, cut into so many."""
        return replace(self, number=number)

    def key(self, shard: int) -> str:
        """A name that is the same for whoever asks for the same work."""
        named = "\0".join((*self.words, self.out, self.folder, f"{shard}/{self.number}"))
        return f"ftlab-sweep-{hashlib.sha256(named.encode()).hexdigest()[:16]}-{shard}"

    def command(self, shard: int) -> list[str]:
        """What runs the shard, counted from 1."""
        own = ["--out", self.out, "--shard", f"{shard}/{self.number}", "--resume", "--jobs", str(self.jobs)]
        return [sys.executable, "-m", "ftlab", "sweep", *self.words, *own, "--quiet"]

    def commands(self) -> list[str]:
        """Those of all, as a shell takes them."""
        there = shlex.join(["cd", self.folder])
        return [f"{there} && {shlex.join(self.command(shard))}" for shard in self.all()]

    def all(self) -> range:
        """The numbers of the shards."""
        assert self.number is not None
        return range(1, self.number + 1)

    def check(self) -> None:
        """Refuses what `ftlab sweep` refuses, and tells what will be done."""
        words = [*self.words, "--out", self.out, "--resume", "--dry-run", "--quiet"]
        done = subprocess.run([sys.executable, "-m", "ftlab", "sweep", *words], check=False)
        if done.returncode != 0:
            raise Refused("nothing was started")

    def merge(self) -> int:
        """One table of all that is there; the exit code."""
        sys.stdout.flush()
        merged = subprocess.run([sys.executable, "-m", "ftlab", "sweep", "merge", self.out], check=False)
        return merged.returncode


def run_shard(shards: Shards, shard: int) -> str | None:
    """Runs a shard here, to its end; why it failed, if it did. Who runs it takes it along when it dies."""
    done = subprocess.run(
        shards.command(shard),
        cwd=shards.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_dies_with_its_parent(),
    )
    if done.returncode == 0:
        return None
    told = " | ".join(done.stderr.strip().splitlines()[-LINES:])
    return f"shard {shard} of {shards.number} ended with {done.returncode}: {told or 'without a word'}"


def _dies_with_its_parent():
    """On Linux, where a worker that is killed would leave the runs that it began behind."""
    name = ctypes.util.find_library("c") if sys.platform == "linux" else None
    if name is None:
        return None
    library = ctypes.CDLL(name)
    set_death_signal = 1
    return lambda: library.prctl(set_death_signal, signal.SIGKILL)
