"""How speed and memory grow with the device: rates from 1 GiB to 1 TiB, two runs side by side, bytes per page.

    tests/scaling.py FTLAB

Rates are of this machine; what tells is how they compare within one run of this script. Each is the best of three.
Memory is what a process holds at most, of a filled device of 4 GiB less that of one of 1 GiB, by physical page.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

DEVICE = ["--device", "dftl2014", "--set", "device.over_provisioning=0.25", "--timing", "asap"]
PAGE_BYTES = 2048
WRITES = 1_000_000
TIMES = 3
SIZES = ("1GiB", "4GiB", "32GiB")
RATED = ("ideal_page", "dftl")
# None of them takes more than a quarter of the time, and the longest come first, so that both cores are busy to the end.
SIDE_BY_SIDE = "fast,sftl,tpftl,treeftl,lazyftl,dftl,hat,ideal_page"


def run(ftlab, folder, scheme, *arguments):
    """The result of one run."""
    out = folder / "result.json"
    out.unlink(missing_ok=True)
    command = [ftlab, "run", "--scheme", scheme, *DEVICE, *arguments, "--quiet", "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(out.read_text())


def writes(count, span="100%"):
    return ["--workload", f"randwrite:bs=2k,span={span},count={count},seed=3"]


def rates(ftlab, folder):
    print(f"Million host pages a second, {WRITES:,} random writes of 2 KiB")
    print(f"{'':<14}" + "".join(f"{size:>10}" for size in SIZES) + f"{'1TiB *':>10}")
    for scheme in RATED:
        cells = []
        for size in SIZES:
            asked = ["--capacity", size, "--precondition", "fill", *writes(WRITES)]
            cells.append(max(rate(run(ftlab, folder, scheme, *asked)) for _ in range(TIMES)))
        sparse = ["--capacity", "1TiB", *writes(WRITES, "1GiB")]
        results = [run(ftlab, folder, scheme, *sparse) for _ in range(TIMES)]
        cells.append(max(map(rate, results)))
        peak = results[0]["wall"]["peak_rss_bytes"] / 2**20
        print(f"{scheme:<14}" + "".join(f"{cell:>10.2f}" for cell in cells) + f"   ({peak:,.0f} MiB at most on 1 TiB)")
    print("* sparse: 1 GiB of it is written, from empty; the others are filled before\n")


def rate(result):
    return WRITES / result["wall"]["seconds"] / 1e6


def side_by_side(ftlab, folder):
    """The same by two threads of a process, and twice by two processes, which share nothing but the machine."""

    def compared(jobs, out):
        command = [ftlab, "compare", "--schemes", SIDE_BY_SIDE, *DEVICE, "--capacity", "512MiB", "--precondition"]
        command += ["fill", *writes(2 * WRITES), "--jobs", jobs, "--quiet", "--out", str(folder / out)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def taken(*jobs):
        began = time.monotonic()
        processes = [compared(number, f"side-by-side-{began}-{place}") for place, number in enumerate(jobs)]
        for process in processes:
            if process.wait():
                sys.exit(f"{' '.join(process.args)} failed")
        return time.monotonic() - began

    turns = [(taken("1"), taken("2"), taken("1", "1")) for _ in range(TIMES)]
    one, two, apart = map(min, zip(*turns))
    print(f"{SIDE_BY_SIDE} compared with --jobs 2: {one / two:.2f} times as fast as with --jobs 1;")
    print(f"twice by two processes side by side: {2 * one / apart:.2f} times as fast as one after the other\n")


def memory(ftlab, folder):
    schemes = json.loads(subprocess.run([ftlab, "list", "schemes", "--json"], check=True, capture_output=True).stdout)
    print(f"{'':<20}{'bytes per physical page':>24}")
    for name in (scheme["name"] for scheme in schemes):
        peaks = {}
        for gib in (1, 4):
            result = run(ftlab, folder, name, "--capacity", f"{gib}GiB", "--precondition", "fill", *writes(10_000))
            peaks[gib] = result["wall"]["peak_rss_bytes"]
        pages = 3 * 2**30 * 1.25 / PAGE_BYTES
        print(f"{name:<20}{(peaks[4] - peaks[1]) / pages:>24.1f}")


def main():
    ftlab = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rates(ftlab, folder)
        side_by_side(ftlab, folder)
        memory(ftlab, folder)


if __name__ == "__main__":
    main()
