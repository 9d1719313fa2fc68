"""Device size is limited by memory for what is used, not for what there is: the most that a process held of it while
a gibibyte of a tebibyte was written, for every scheme.

    tests/memory.py FTLAB
"""

import json
import pathlib
import subprocess
import sys
import tempfile

MIB = 2**20
LOGICAL_PAGES = 2**29
# Pages of a block, writes, and the most MiB. Blocks as long as today's: what every block takes counts for little, and
# what every page takes shows; and eight million blocks.
CASES = ((512, 20_000, 64), (64, 60_000, 256))


def schemes(ftlab):
    listed = subprocess.run([ftlab, "list", "schemes", "--json"], check=True, capture_output=True, text=True)
    return [row["name"] for row in json.loads(listed.stdout)]


def peak(ftlab, folder, scheme, pages_per_block, writes):
    """Bytes that were resident at most."""
    out = folder / f"{scheme}-{pages_per_block}.json"
    command = [ftlab, "run", "--scheme", scheme, "--device", "dftl2014", "--capacity", "1TiB", "--quiet"]
    command += ["--set", "device.oob_bytes=128", "--set", f"device.pages_per_block={pages_per_block}"]
    command += ["--workload", f"randwrite:bs=2k,span=1GiB,count={writes}", "--json", out]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    result = json.loads(out.read_text())
    if result["config"]["device"]["logical_pages"] != LOGICAL_PAGES:
        sys.exit(f"{scheme}: that is no tebibyte: {result['config']['device']['logical_pages']} pages")
    return result["wall"]["peak_rss_bytes"]


def main(ftlab):
    if sys.platform != "linux":
        print("skipped: resident memory is read from Linux's /proc")
        return
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for pages_per_block, writes, most in CASES:
            peaks = {
                scheme: peak(ftlab, pathlib.Path(folder), scheme, pages_per_block, writes) / MIB
                for scheme in schemes(ftlab)
            }
            largest = max(peaks, key=peaks.get)
            print(f"a tebibyte in blocks of {pages_per_block} pages: at most {peaks[largest]:.1f} MiB ({largest})")
            faults += [
                f"{scheme}, blocks of {pages_per_block} pages: {found:.1f} MiB, 1 to {most} are legal"
                for scheme, found in peaks.items()
                if not 1 < found < most
            ]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
