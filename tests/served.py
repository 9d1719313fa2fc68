"""Drives that serve clients in tests, and the little of the protocol that a client needs."""

import json
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20
DEVICE = ["--device", "slc_small", "--set", "device.over_provisioning=50%", "--set",
          "device.oob_bytes=64"]
# Of the protocol's text.
MAGIC, OPTIONS, REPLY = b"NBDMAGIC", b"IHAVEOPT", 0x67446698
EXPORT_NAME, REQUEST = 1, 0x25609513
READ, WRITE, DISC, FLUSH, TRIM, ZERO = 0, 1, 2, 3, 4, 6
FUA, NO_HOLE = 1, 2
EIO, EINVAL, ENOSPC = 5, 22, 28


def run(*command, seconds=120, folder=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds,
                          cwd=folder)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def started(ftlab, folder, scheme, *options, mib=16, device=DEVICE):
    """A server that was begun, and may not serve yet."""
    command = [ftlab, "serve", "--scheme", scheme, *device, "--capacity", f"{mib}MiB", "--listen",
               f"unix:{folder / 's'}", "--json", folder / "results.json", "--quiet", *options]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


class Drive:
    """A server in a folder of its own."""

    def __init__(self, ftlab, folder, scheme, *options, mib=16, device=DEVICE):
        self.folder, self.socket = Path(folder), Path(folder) / "s"
        self.url = f"nbd+unix:///?socket={self.socket}"
        self.process = started(ftlab, self.folder, scheme, *options, mib=mib, device=device)
        self.first = self.process.stdout.readline()
        if "serves" not in self.first:
            sys.exit(f"{scheme}: {self.process.stderr.read()}")

    def end(self):
        """Its output and its result."""
        self.process.send_signal(signal.SIGINT)
        out, told = self.process.communicate(timeout=60)
        if self.process.returncode or told:
            sys.exit(f"the server ended with {self.process.returncode}: {told}")
        if self.socket.exists():
            sys.exit("the server left its socket behind")
        result = json.loads((self.folder / "results.json").read_text())
        return out, result[0] if isinstance(result, list) else result


@contextmanager
def drive(*arguments, **more):
    with tempfile.TemporaryDirectory() as folder:
        served = Drive(arguments[0], folder, *arguments[1:], **more)
        try:
            yield served
        finally:
            served.process.kill()
            served.process.wait()


def connected(served):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(str(served.socket))
    return client


def taken(client, length):
    """So many bytes; fewer where the server is gone."""
    data = bytearray()
    while len(data) < length and (part := client.recv(length - len(data))):
        data += part
    return bytes(data)


def whole(client, length):
    """So many bytes, of a server that may be killed meanwhile."""
    data = taken(client, length)
    if len(data) < length:
        raise ConnectionError
    return data


def negotiated(served):
    """A client past the oldest of the handshakes."""
    client = connected(served)
    greeting = whole(client, 18)
    assert greeting[:16] == MAGIC + OPTIONS, greeting
    client.sendall(struct.pack(">I", 3) + OPTIONS + struct.pack(">II", EXPORT_NAME, 0))
    size, _ = struct.unpack(">QH", whole(client, 10))
    assert size == 16 * MIB, size
    return client


def request(kind, offset, length, handle=1, flags=0):
    return struct.pack(">IHHQQI", REQUEST, flags, kind, handle, offset, length)
