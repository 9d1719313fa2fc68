"""Drives that serve while their page is looked at, and clients that write to them."""

import json
import subprocess
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20
SIZE_MIB = 32


class Address:
    """A page under a URL, in the place of a file."""

    def __init__(self, url):
        self.url = url

    def as_uri(self):
        return self.url


class Drive:
    """`ftlab serve --http` in a folder of its own."""

    def __init__(self, ftlab, folder, *options):
        self.folder = Path(folder)
        socket = self.folder / "s"
        self.url = f"nbd+unix:///?socket={socket}"
        command = [ftlab, "serve", "--scheme", "dftl", "--device", "slc_small", "--set",
                   "device.over_provisioning=15%", "--set", "device.oob_bytes=64", "--capacity",
                   f"{SIZE_MIB}MiB", "--precondition", "fill", "--quiet", "--listen", f"unix:{socket}",
                   "--http", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        assert "serves" in self.process.stdout.readline()
        shown = self.process.stdout.readline()
        assert shown.startswith("It is shown at http://127.0.0.1:"), shown
        self.page = Address(shown.split()[-1])
        self.writer = None

    def write(self, *options):
        """fio, until it is ended; one process, so that it can be stopped."""
        self.writer = subprocess.Popen(
            ["fio", "--name=w", "--thread", "--ioengine=nbd", f"--uri={self.url}", "--rw=randrw", "--rwmixread=30",
             "--bs=4k", f"--size={SIZE_MIB}M", "--iodepth=4", "--time_based", "--runtime=3600",
             "--random_distribution=zipf:1.1", *options],
            # When the drive is gone it says so.
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def told(self, path):
        """What it says under a path."""
        with urllib.request.urlopen(self.page.url + path, timeout=10) as answer:
            return json.load(answer)

    def end(self):
        for process in [self.writer, self.process]:
            if process:
                process.kill()
                process.wait()


@contextmanager
def written_to(ftlab, *options, rate=("--rate_iops=1500",)):
    with tempfile.TemporaryDirectory() as folder:
        drive = Drive(ftlab, folder, *options)
        try:
            drive.write(*rate)
            yield drive
        finally:
            drive.end()
