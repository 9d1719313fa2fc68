"""How near generated twins come to the traces that they were learned from (`ftlab trace fit`), under three schemes.

    tests/twins.py FTLAB [--traces DIR] [--seeds N] [TRACE ...]

Each trace is a prefix, read as its line in TRACES says. Trace and twin run on the same device: dftl2014 with 25 %
over-provisioning, as large as the larger of the two needs with dense addresses (+ 2 %), from the start `touch`; where
the trace then makes ideal_page reclaim nothing, from `random:1x`, so that write amplification says something. The
table gives, of WAF, hit ratio of the map cache and mean device time, the trace's, the twin's (mean over N seeds) and
the difference in per cent, with `!` where it is above 15. Nothing here is a target of the fit. Exit 0 whatever the
differences are: they are measured, not judged. Traces that are absent are skipped, and said to be.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SCHEMES = ("ideal_page", "dftl", "fast")
DISKSIM = ["--format", "disksim", "--size-unit", "pages4k"]
TRACES = {
    "msr-web_1": ("msr-web_1-first-100000.csv.gz", []),
    "financial1": ("financial1-first-50000.disksim", DISKSIM),
    "websearch1": ("websearch1-first-50000.disksim", DISKSIM),
    "tencent": ("tencent-cbs-sample.csv.bz2", []),
    "ycsb": ("ycsb-ext4.blkparse.txt", []),
}
DEVICE = ["--device", "dftl2014", "--set", "device.over_provisioning=0.25"]
LIMIT_PERCENT = 15
BLOCK = 128 * 1024


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return done.stdout


def run(ftlab, folder, scheme, workload, capacity, start):
    out = folder / "result.json"
    out.unlink(missing_ok=True)
    call(ftlab, "run", "--scheme", scheme, *DEVICE, "--capacity", str(capacity), "--address", "dense",
         "--precondition", start, *workload, "--quiet", "--json", str(out))
    return json.loads(out.read_text())


def needed(ftlab, workload):
    inspected = json.loads(call(ftlab, "trace", "inspect", *workload[1:], "--device", "dftl2014", "--json"))
    return inspected["dense_capacity_bytes"]


def numbers(result):
    return {
        "WAF": result["waf"],
        "hit ratio": result["map_cache"]["hit_ratio"],
        "device ms": result["latency_ns"]["all"]["device"]["mean"] / 1e6,
    }


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def measure(ftlab, folder, name, real, seeds):
    twin = folder / f"{name}.toml"
    call(ftlab, "trace", "fit", *real[1:], "--output", str(twin))
    twins = [["--workload", f"{twin}:seed={seed}"] for seed in range(1, seeds + 1)]
    bytes_needed = max(needed(ftlab, one) for one in [real, *twins])
    capacity = int(bytes_needed * 1.02) // BLOCK * BLOCK + BLOCK
    erases = run(ftlab, folder, "ideal_page", real, capacity, "touch")["flash"]["total_erases"]
    start = "touch" if erases else "random:1x"
    print(f"\n{name}: {capacity / 2**20:,.0f} MiB, from {start}")
    print(f"  {'scheme':<11} {'measure':<10} {'trace':>10} {'twin':>10} {'differs':>9}")
    for scheme in SCHEMES:
        of = numbers(run(ftlab, folder, scheme, real, capacity, start))
        made = [numbers(run(ftlab, folder, scheme, one, capacity, start)) for one in twins]
        for key, value in of.items():
            other = mean([one[key] for one in made])
            if value is None or other is None:
                continue
            off = 100 * (other / value - 1) if value else float("inf") if other else 0.0
            mark = " !" if abs(off) > LIMIT_PERCENT else ""
            print(f"  {scheme:<11} {key:<10} {value:>10.4f} {other:>10.4f} {off:>+8.1f}%{mark}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ftlab")
    parser.add_argument("--traces", type=pathlib.Path, default=pathlib.Path(__file__).parents[1] / "../shared/traces")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="TRACE")
    asked = parser.parse_intermixed_args()
    unknown = set(asked.names) - set(TRACES)
    if unknown:
        sys.exit(f"no such trace: {', '.join(sorted(unknown))}; legal: {', '.join(TRACES)}")
    for name, (file, options) in TRACES.items():
        path = asked.traces / file
        if asked.names and name not in asked.names:
            continue
        if not path.exists():
            print(f"\n{name}: skipped, {path} is absent")
            continue
        with tempfile.TemporaryDirectory() as folder:
            measure(asked.ftlab, pathlib.Path(folder), name, ["--workload", str(path), *options], asked.seeds)


if __name__ == "__main__":
    main()
