"""A sweep that takes a while, and the same made on one machine to hold others against."""

import pathlib
import subprocess
import sys

import pytest

#: 24 runs of some tenths of a second each.
SWEEP = [
    "--grid",
    "scheme=dftl,fast seed=1..12",
    "--device",
    "slc_small",
    "--capacity",
    "64MiB",
    "--precondition",
    "fill",
    "--workload",
    "randwrite:bs=4k,span=32MiB,count=60000,seed=5",
]
POINTS = 24


def program(*words, **options):
    """The command of the installed package."""
    return subprocess.run([sys.executable, "-m", "ftlab", *words], check=True, **options)


def tables(folder: pathlib.Path) -> dict[str, bytes]:
    """What a merge writes, and every result."""
    names = ["results.csv", "results.parquet", *(f"runs/{one.name}" for one in (folder / "runs").iterdir())]
    return {name: (folder / name).read_bytes() for name in names}


def made(folder: pathlib.Path) -> list[str]:
    """The run of every line in the lists of times: each run that was made, as often as it was."""
    keys = []
    for own in (folder / "times").iterdir():
        keys += [line.split(",")[0] for line in own.read_text().splitlines() if line]
    return sorted(keys)


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """The sweep of one process on one machine."""
    folder = tmp_path_factory.mktemp("reference") / "sweep"
    program("sweep", *SWEEP, "--out", str(folder), "--quiet", stdout=subprocess.DEVNULL)
    assert len(list((folder / "runs").iterdir())) == POINTS
    return folder
