#!/usr/bin/env python3
"""The NVMe driver of the real Linux, in a virtual machine, on simulated drives.

    tests/nvme.py FTLAB KERNEL

KERNEL is what tests/kernel.sh unpacked; it has NVMe and ext4 built in. The machine (qemu, without KVM)
has a drive of ours behind an NVMe controller. Its only program writes a pattern to the device and reads it back, discards it, makes an
ext4, writes files, trims it, and compares after mounting it again. Ends with 1 where something does not
hold.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from served import drive

SCHEMES = ["dftl", "fast"]
PROGRAMS = ["/sbin/mke2fs"]
# `fail` ends the machine with the name of what failed.
INIT = """#!/bin/sh
export PATH=/bin:/sbin
say() { echo "NVME: $*"; }
fail() { say "FAILED $*"; poweroff -f; sleep 60; }
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for turn in $(seq 100); do [ -b /dev/nvme0n1 ] && break; sleep 0.1; done
[ -b /dev/nvme0n1 ] || fail no device
say "$(cat /sys/block/nvme0n1/device/model) $(cat /sys/block/nvme0n1/size) sectors"
disk=/dev/nvme0n1
forget() { sync; echo 3 > /proc/sys/vm/drop_caches; }
dd if=/dev/urandom of=/pattern bs=64k count=128 2>/dev/null
for turn in 1 2 3; do
    dd if=/pattern of=$disk bs=16k seek=16 oflag=direct conv=fsync 2>/dev/null || fail writing
done
forget
dd if=$disk of=/back bs=16k skip=16 count=512 iflag=direct 2>/dev/null || fail reading
cmp /pattern /back || fail comparing
say pattern
blkdiscard -o 262144 -l 8388608 $disk || fail discarding
forget
dd if=$disk of=/back bs=16k skip=16 count=512 iflag=direct 2>/dev/null
dd if=/dev/zero of=/zeroes bs=64k count=128 2>/dev/null
cmp /zeroes /back || fail discarded data
say discarded
rm /back /zeroes
/sbin/mke2fs -q -t ext4 -b 4096 $disk || fail mke2fs
mkdir /disk
mount -t ext4 -o discard $disk /disk || fail mounting
for turn in 1 2 3 4; do
    cp /pattern /disk/file$turn || fail copying
    sync
done
rm /disk/file1 /disk/file2
fstrim /disk || fail fstrim
cp /pattern /disk/file5
umount /disk || fail unmounting
forget
mount -t ext4 $disk /disk || fail mounting again
for file in 3 4 5; do cmp /pattern /disk/file$file || fail file$file; done
umount /disk || fail unmounting again
say ext4
say COMPLETE
poweroff -f
sleep 60
"""


def initrd(root):
    """A root folder with one program, and what that calls."""
    for folder in ["bin", "sbin", "proc", "sys", "dev"]:
        (root / folder).mkdir()
    shutil.copy("/bin/busybox", root / "bin/busybox")
    subprocess.run(["/bin/busybox", "--install", "-s", root / "bin"], check=True)
    for link in (root / "bin").iterdir():
        if link.is_symlink():
            link.unlink()
            link.symlink_to("busybox")
    for program in PROGRAMS:
        told = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        for word in told.split():
            if word.startswith("/"):
                (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, root / word[1:])
        shutil.copy(program, root / program[1:])
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    files = subprocess.run(["find", "."], cwd=root, check=True, capture_output=True).stdout
    packed = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=files, check=True,
                            capture_output=True).stdout
    return packed


def boot(served, kernel, packed):
    """What the machine said on its console."""
    image = served.folder / "initrd"
    image.write_bytes(packed)
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "512",
               "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot", "-kernel",
               next((kernel / "boot").glob("vmlinuz-*")), "-initrd", image,
               # On a busy machine its timer is late, which the kernel takes for broken.
               "-append", "console=ttyS0 panic=-1 quiet no_timer_check",
               "-drive", f"file={served.url},format=raw,if=none,id=d,cache=none,discard=unmap",
               "-device", "nvme,drive=d,serial=ftlab"]
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=600)
    return done.stdout + done.stderr


def main():
    ftlab, kernel = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
    ftlab, kernel = str(Path(ftlab).resolve()), Path(kernel).resolve()
    version = next((kernel / "boot").glob("vmlinuz-*")).name.removeprefix("vmlinuz-")
    with tempfile.TemporaryDirectory() as root:
        packed = initrd(Path(root))
    for scheme in SCHEMES:
        begun = time.monotonic()
        with drive(ftlab, scheme, mib=64) as served:
            said = boot(served, kernel, packed)
            if "NVME: COMPLETE" not in said:
                sys.exit(f"{scheme}: the machine said\n{said}")
            _, result = served.end()
        host = result["host"]
        assert result["audit"] == "passed", result["audit"]
        assert host["trim_requests"] > 0 and host["write_pages"] > 8192, host
        print(f"Linux {version} on {scheme} through its NVMe driver: pattern, discard and ext4, "
              f"{host['write_pages']} pages written, WAF {result['waf']:.2f}, "
              f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
