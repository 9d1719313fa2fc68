"""Sweeps through Dask: a worker and then the client are killed in the middle; nothing is lost, and nothing is
made twice."""

import os
import pathlib
import signal
import subprocess
import sys
import time

from conftest import POINTS, SWEEP, made, tables


def start(folder):
    words = ["--dask", "local:2", "--shards", "8", *SWEEP, "--out", str(folder)]
    return subprocess.Popen([sys.executable, "-m", "ftlab.sweep", *words], start_new_session=True)


def results(folder):
    runs = folder / "runs"
    return len([one for one in runs.iterdir() if one.suffix == ".json"]) if runs.exists() else 0


def until(what, seconds=120):
    """Waits for something; it must come."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"waited {seconds} s for nothing"
        time.sleep(0.05)
    return found


def status(pid):
    """Parent and words of a process; none where it is gone."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = stat.rsplit(")", 1)[1].split()[:2]
    return None if state == "Z" else (int(parent), words)


def shards_at_work(folder):
    """Shards of this sweep that run now, with their workers."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        known = status(entry.name) if entry.name.isdigit() else None
        if known and str(folder) in known[1] and "--shard" in known[1]:
            found[int(entry.name)] = known[0]
    return found


def test_a_killed_worker_and_a_killed_client_cost_nothing(tmp_path, reference):
    folder = tmp_path / "sweep"
    client = start(folder)
    until(lambda: results(folder) >= 3)
    shard, worker = until(lambda: list(shards_at_work(folder).items()))[0]
    os.kill(worker, signal.SIGKILL)
    # Its shard does not go on without it.
    until(lambda: status(shard) is None, 10)
    reached = results(folder)
    until(lambda: results(folder) >= min(reached + 4, POINTS - 4))
    os.killpg(client.pid, 0)
    client.kill()
    client.wait()
    # Workers leave when their scheduler is gone, and take their shards along.
    until(lambda: not shards_at_work(folder), 60)
    kept = results(folder)
    assert 0 < kept < POINTS, "killed in the middle"

    assert start(folder).wait(300) == 0
    assert results(folder) == POINTS
    assert tables(folder) == tables(reference)
    times = made(folder)
    assert len(times) == len(set(times)), "a run was made twice"
    # A kill between a result and its time may lose the time.
    assert POINTS - 3 <= len(times) <= POINTS


def test_what_is_refused_is_refused_before_anything_is_started(tmp_path):
    for words, reason in [
        (["--dask", "local", "--grid", "scheme=dftl,nosuch", "--device", "slc_small", "--out", "x"], "nosuch"),
        (["--dask", "local:0", *SWEEP, "--out", "x"], "local:N"),
        (["--dask", "local", *SWEEP], "--out DIR is missing"),
        (["--dask", "local", *SWEEP, "--out", "x", "--shard", "1/2"], "--shard is not for you to say"),
        (["--dask", "local", "--shards", "0", *SWEEP, "--out", "x"], "legal: 1 and more"),
    ]:
        done = subprocess.run(
            [sys.executable, "-m", "ftlab.sweep", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2 and reason in done.stderr, done.stderr
        assert not (tmp_path / "x").exists()


def test_the_commands_of_shards_are_what_a_shell_runs(tmp_path, reference):
    folder = tmp_path / "with blanks" / "sweep"
    folder.parent.mkdir()
    words = ["--shard-commands", "--shards", "3", *SWEEP, "--out", str(folder)]
    printed = subprocess.run([sys.executable, "-m", "ftlab.sweep", *words], capture_output=True, text=True, check=True)
    commands = printed.stdout.splitlines()
    assert len(commands) == 3
    for command in commands:
        subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "ftlab", "sweep", "merge", str(folder)], check=True, stdout=subprocess.DEVNULL)
    assert tables(folder) == tables(reference)
