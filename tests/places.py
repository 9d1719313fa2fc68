#!/usr/bin/env python3
"""Where results and drives cannot go: disks that are full, folders that take nothing, pipes that nobody
reads, names that are no UTF-8. Each is said in words, nothing is lost, and nothing is left half written.

    tests/places.py FTLAB

Full disks are file systems in memory, for which it has to be root or may become root in a name space of
its own; without that it says so, and tests the rest. Ends with 1 where something does not hold.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from served import DEVICE, EIO, ENOSPC, FLUSH, MIB, READ, WRITE, drive, negotiated, request, taken

SMALL = ["--device", "slc_small", "--capacity", "16MiB", "--workload", "randwrite:count=2000", "--quiet"]
RUN = ["run", "--scheme", "ideal_page", *SMALL]
BLOCK = 1 << 16


def done(ftlab, *arguments, **more):
    command = [os.fsencode(str(part)) if not isinstance(part, bytes) else part for part in
               [ftlab, *arguments]]
    ended = subprocess.run(command, capture_output="stdout" not in more, timeout=120, **more)
    told = (ended.stderr or b"").decode(errors="replace")
    assert "panicked" not in told and ended.returncode in (0, 1, 2), (ended.returncode, told)
    return ended.returncode, told


def said(ftlab, *arguments, words, **more):
    """A command that cannot do what it is asked for says these words, in one line."""
    code, told = done(ftlab, *arguments, **more)
    assert code != 0 and all(word in told for word in words), (arguments, code, told)


@contextmanager
def disk(size, *options):
    """A disk of so many bytes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "tmpfs", folder],
                       check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def filled(folder, left):
    """Fills a disk up but for so many bytes; what is to be deleted for room."""
    room = os.statvfs(folder)
    fill = folder / "fill"
    fill.write_bytes(bytes(room.f_bavail * room.f_frsize - left))
    return fill


def pipes_and_names(ftlab):
    with open("/dev/full", "w") as full:
        said(ftlab, *RUN, words=["standard output cannot be written", "No space left"], stdout=full,
             stderr=subprocess.PIPE)
    reads, writes = os.pipe()
    os.close(reads)
    for arguments in [["list", "keys"], RUN]:
        code, told = done(ftlab, *arguments, stdout=writes, stderr=subprocess.PIPE)
        assert (code, told) == (0, ""), f"nobody reads {arguments}: {code}, {told}"
    os.close(writes)
    with tempfile.TemporaryDirectory() as folder:
        strange = os.fsencode(folder) + b"/n\xff"
        os.mkdir(strange)
        assert done(ftlab, *RUN, "--json", strange + b"/o.json") == (0, "")
        assert os.listdir(strange) == [b"o.json"]
        code, told = done(ftlab, *RUN[:-3], "--workload", strange + b"/t.csv", "--quiet")
        assert code == 2 and "UTF-8" in told, told
    print("a pipe that nobody reads, one that takes nothing and names that are no UTF-8 do no harm")


def files_on_a_full_disk(ftlab):
    with disk("64k") as full:
        filled(full, 4 << 10)
        for name, command in {
            "r.json": [*RUN, "--json"],
            "r.csv": [*RUN, "--requests-out"],
            "t.ftb": ["trace", "convert", "oltp_demo"],
            "t.csv.gz": ["trace", "convert", "oltp_demo"],
            "w.html": ["trace", "inspect", "oltp_demo", "--html"],
        }.items():
            said(ftlab, *command, full / name, words=[str(full / name), "No space left"])
            left = [path.name for path in full.iterdir()]
            assert left == ["fill"], f"{name} leaves {left}"
    with disk("64k", "ro") as fixed:
        said(ftlab, *RUN, "--json", fixed / "r.json", words=[str(fixed / "r.json"), "Read-only"])
        said(ftlab, "compare", "--schemes", "ideal_page,dftl", *SMALL, "--out", fixed / "o",
             words=[str(fixed / "o"), "Read-only"])
    print("what a full disk does not take is named, and nothing of it stays")


def runs_on_a_full_disk(ftlab):
    """What was run before the disk was full is kept, and run no second time."""
    compare = ["compare", "--schemes", "ideal_page,dftl", *SMALL]
    with disk("4m") as full:
        fill = filled(full, 200 << 10)
        said(ftlab, *compare, "--out", full / "o", words=[str(full / "o"), "No space left", "--resume"])
        kept = list((full / "o.unfinished" / "runs").iterdir())
        assert kept and not (full / "o").exists(), kept
        began = {json.loads(path.read_text())["made"]["started"] for path in kept}
        fill.unlink()
        # Seconds are told.
        time.sleep(1.1)
        assert done(ftlab, *compare, "--out", full / "o", "--resume") == (0, "")
        results = json.loads((full / "o" / "results.json").read_text())
        again = {result["made"]["started"] for result in results}
        assert len(results) == 2 and began <= again, (began, again)
        assert len(again - began) <= 2 - len(kept), "what was kept was run again"
    print("a comparison goes on once its disk has room")


def a_drive_on_a_full_disk(ftlab):
    """Writes that its folder does not take fail; what was flushed before is there when it has room."""
    with disk("64m") as full:
        fill = filled(full, 2 * MIB)
        options = ["--store", full / "drive"]
        flushed = 0
        with drive(ftlab, "fast", *options) as served:
            client = negotiated(served)
            for block in range(16 * MIB // BLOCK):
                client.sendall(request(WRITE, block * BLOCK, BLOCK) + bytes([block + 1 & 255]) * BLOCK)
                client.sendall(request(FLUSH, 0, 0))
                answers = taken(client, 32)
                errors = [int.from_bytes(answers[at + 4:at + 8], "big") for at in (0, 16)]
                if len(answers) < 32 or any(errors):
                    assert all(error in (0, EIO, ENOSPC) for error in errors), errors
                    break
                flushed = block + 1
            assert 0 < flushed < 16 * MIB // BLOCK, f"{flushed} blocks went to a disk of 2 MiB"
            client.close()
        fill.unlink()
        with drive(ftlab, "fast", *options) as served:
            client = negotiated(served)
            for block in range(flushed):
                client.sendall(request(READ, block * BLOCK, BLOCK))
                read = taken(client, 16 + BLOCK)
                assert read[16:] == bytes([block + 1 & 255]) * BLOCK, f"block {block} of {flushed}"
            client.close()
    print(f"a drive whose disk is full keeps the {flushed} blocks that were flushed")


def mounts():
    """Whether file systems can be mounted here; else this begins again where they can."""
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, text=True)
        if tried.returncode == 0:
            subprocess.run(["umount", folder], check=True)
            return True
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if "FTLAB_UNSHARED" not in os.environ and subprocess.run([*own, "true"], capture_output=True).returncode == 0:
        os.environ["FTLAB_UNSHARED"] = "1"
        os.execvp(own[0], [*own, sys.executable, *sys.argv])
    print(f"skipped: full disks, since none can be mounted here ({tried.stderr.strip()})")
    return False


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ftlab = Path(sys.argv[1]).resolve()
    can_mount = mounts()
    pipes_and_names(ftlab)
    if can_mount:
        for test in [files_on_a_full_disk, runs_on_a_full_disk, a_drive_on_a_full_disk]:
            test(ftlab)


if __name__ == "__main__":
    main()
