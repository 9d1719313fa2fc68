#!/usr/bin/env python3
"""How fast a drive answers clients, as a ratio to nbdkit's memory, in one run.

    tests/ratio.py FTLAB [SCHEME...]

fio reads and writes 4 KiB at random with 16 requests under way, at one server and then at the other,
several times over; of each the median counts. The ratio is told, and a word of warning where it is under
a half: times are noise on a machine that does something else, so that nothing fails.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from served import drive

MIB, ROUNDS, SECONDS = 64, 5, 2
AIM = 0.5
DEVICE = ["--device", "tlc_nvme", "--set", "device.channels=1", "--set", "device.dies=1", "--set",
          "device.planes=1", "--set", "device.pages_per_block=32"]


@contextmanager
def nbdkit():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        process = subprocess.Popen(["nbdkit", "--foreground", "-U", path, "memory", f"{MIB}M"])
        try:
            while not path.exists():
                time.sleep(0.02)
                assert process.poll() is None, "nbdkit ended"
            yield f"nbd+unix:///?socket={path}"
        finally:
            process.kill()
            process.wait()


def rate(url, kind, *options):
    """Requests a second."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["fio", "--name=r", "--thread", "--ioengine=nbd", f"--uri={url}", f"--rw={kind}",
                               "--bs=4k", f"--size={MIB}M", "--iodepth=16", "--output-format=json",
                               *options], cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"fio ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    job = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]
    return job["read" if kind.endswith("read") else "write"]["iops"]


def compare(ftlab, scheme):
    with drive(ftlab, scheme, mib=MIB, device=DEVICE) as served, nbdkit() as memory:
        for url in [served.url, memory]:
            # There is something to read, and nothing is written for the first time.
            rate(url, "write")
        for kind in ["randread", "randwrite"]:
            rates = {"drive": [], "memory": []}
            for _ in range(ROUNDS):
                for name, url in [("drive", served.url), ("memory", memory)]:
                    rates[name].append(rate(url, kind, "--time_based", f"--runtime={SECONDS}"))
            own, other = (statistics.median(one) for one in rates.values())
            warning = f"  WARNING: the aim is {AIM}" if own / other < AIM else ""
            print(f"{scheme}, {kind} of 4 KiB, depth 16: {own:,.0f} a second, nbdkit's memory {other:,.0f}: "
                  f"ratio {own / other:.2f}{warning}", flush=True)


def main():
    ftlab, *schemes = sys.argv[1:] or sys.exit(__doc__)
    for scheme in schemes or ["ideal_page", "dftl"]:
        compare(str(Path(ftlab).resolve()), scheme)


if __name__ == "__main__":
    main()
