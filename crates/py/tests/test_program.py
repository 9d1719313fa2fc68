"""The program that comes with the package is the program."""

import pathlib
import signal
import subprocess
import sys
import time

import pytest
from conftest import LONG, SMALL, words_of

OWN = str(pathlib.Path(sys.executable).parent / "ftlab")
WAYS = [[OWN], [sys.executable, "-m", "ftlab"]]


@pytest.mark.parametrize("way", WAYS, ids=["script", "module"])
@pytest.mark.parametrize("words", [
    ["--version"],
    ["--help"],
    [],
    ["run", "--help"],
    ["run"],
    ["list", "devices"],
    ["schema", "rows"],
    ["run", "--scheme", "nothing", *words_of(SMALL)],
    ["run", "--scheme", "dftl", *words_of({**SMALL, "workload": LONG["workload"]}),
     "--set=device.endurance_cycles=2", "--set=wear.blocks_die=true"],
], ids=lambda words: " ".join(words[:3]) or "nothing")
def test_output_and_exit_code_are_the_same(program, way, words):
    theirs = program(*words)
    ours = subprocess.run([*way, *words], capture_output=True, text=True, timeout=60)
    assert (ours.returncode, ours.stdout, ours.stderr) == (
        theirs.returncode, theirs.stdout, theirs.stderr
    )


@pytest.mark.parametrize("sent,code,words", [
    (signal.SIGINT, 130, "interrupted; nothing was written"),
    (signal.SIGTERM, 143, "ended by SIGTERM; nothing was written"),
])
def test_signals_end_it_as_the_program(sent, code, words):
    child = subprocess.Popen([OWN, "run", "--scheme", "dftl", *words_of(LONG)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    child.send_signal(sent)
    _, told = child.communicate(timeout=10)
    assert (child.returncode, told) == (code, f"ftlab: {words}\n")


def test_a_reader_that_goes_away_is_no_error():
    """`ftlab list keys | head -1`."""
    child = subprocess.Popen([OWN, "list", "keys"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()
    assert child.stderr.read() == b"" and child.wait(10) == 0
