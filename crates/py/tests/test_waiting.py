"""While a run goes on: other threads, Ctrl-C, progress."""

import signal
import subprocess
import sys
import threading
import time

import ftlab
import pytest
from conftest import LONG, SMALL

CHILD = """
import sys, time
import ftlab
print("ready", flush=True)
try:
    ftlab.{what}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_other_threads_go_on():
    """With the lock held there would be a heartbeat before the run and one behind it."""
    beats, over = [], threading.Event()

    def beat():
        while not over.wait(0.01):
            beats.append(time.monotonic())

    thread = threading.Thread(target=beat)
    thread.start()
    began = time.monotonic()
    ftlab.run("dftl", **{**SMALL, "workload": SMALL["workload"].replace("20000", "400000")})
    ended = time.monotonic()
    over.set()
    thread.join()
    within = [at for at in beats if began < at < ended]
    assert ended - began > 0.2, "the run is too short to tell"
    assert len(within) > (ended - began) / 0.01 / 4


@pytest.mark.parametrize("what", [
    f"run('dftl', **{LONG!r})",
    f"compare(['dftl', 'fast'], **{LONG!r})",
    f"sweep('scheme=dftl,fast', OUT, **{LONG!r})",
    f"inspect({LONG['workload']!r}, page_size='4k')",
])
def test_ctrl_c_ends_it_within_a_second(what, tmp_path):
    """The fastest of up to three: a busy machine may not wake who waits."""
    took = []
    while len(took) < 3 and not any(one < 1 for one in took):
        folder = str(tmp_path / f"out{len(took)}")
        text = CHILD.format(what=what.replace("OUT", repr(folder)))
        child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert child.poll() is None, "it was over before it could be interrupted"
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        took.append(time.monotonic() - sent)
        assert child.wait(10) == 0
    assert min(took) < 1, f"{took} s"


def test_progress_is_told_and_what_it_raises_ends_the_run():
    told = []
    ftlab.run("dftl", **{**SMALL, "workload": SMALL["workload"].replace("20000", "100000")},
              progress=told.extend)
    mine = [piece for piece in told if piece[1] == "dftl"]
    assert mine[-1][2:] == ("requests", 100_000, 100_000, True), mine[-1]
    assert [piece[3] for piece in mine] == sorted(piece[3] for piece in mine)

    def fails(_):
        raise LookupError("enough")

    began = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        ftlab.run("dftl", **LONG, progress=fails)
    assert time.monotonic() - began < 2


def test_bars_are_tqdms(capsys, monkeypatch):
    ftlab.run("dftl", **{**SMALL, "workload": SMALL["workload"].replace("20000", "100000")},
              progress=True)
    assert "dftl" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="progress=True needs tqdm.*pip install tqdm"):
        ftlab.run("dftl", **SMALL, progress=True)


def test_runs_side_by_side_in_threads_are_the_same_as_one_after_another():
    made = {}

    def one(scheme):
        made[scheme] = ftlab.run(scheme, **SMALL, reproducible=True)

    threads = [threading.Thread(target=one, args=(scheme,)) for scheme in ("dftl", "fast")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for scheme, result in made.items():
        assert result == ftlab.run(scheme, **SMALL, reproducible=True)
    assert len(made) == 2
