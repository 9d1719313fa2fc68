#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets that are no files of their own kind: lines and records of every
trace format, specs, conversations of block devices, streams of operations.

    fuzz/seeds.py          from the folder of the project

Devices, experiments, results and snapshots are files by themselves in fuzz/corpus: the first two by hand,
`results` from runs (shortened), `snapshot` by `FTLAB_FUZZ_WRITE=1 cargo test -p ftlab-fuzzing`.
"""

import bz2
import gzip
import lzma
import random
import shutil
import struct
import subprocess
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"

LINES = {
    "spc": "0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214,extra\n0,20941264,8192,W,0.035321\n",
    "spc_bad": "0,100,0,w,0.5\n0,-1,512,r,1\n4294967296,1,1,w,0\n0,36028797018963967,4096,w,0.5\n",
    "msr": "128166385295514663,hm,0,Write,9056014336,2048,2833\n128166385295514878,hm,0,Read,1,512,1\n",
    "msr_bad": "18446744073709551615,h,0,Read,18446744073709551615,1,1\n1,h,0,Write,0,0,0\n",
    "disksim": "26.214000\t0\t303574\t1\t0\n78.643000\t0\t55596\t1\t1\n117.964000 0 303581 1 11\n",
    "ssdsim": "26214000 0 303574 7 0\n78643005 1 55596 6 1\n938513000 4 264719034 16 0\n",
    "csv": "time_us,op,offset_bytes,size_bytes\n0,read,0,512\n1.5,w,4096,4096\n2,trim,0,512\n3,flush,0,0\n",
    "csv_bad": "# comment\n\n5,F,,\n6,T,0,99999999999999999999\n0.000000001,r,1,1\r\n4,flush,0,1\n",
    "blkparse": "8,0 3 2 0.6 77 D W 2048 + 8 [java]\n8,0 3 4 0.8 77 D FN [a b]\nCPU3 (8,0):\n",
    "blkparse_bad": "8,0 3 4 x 77 D R 16 + 8 [j]\n8,9999999 1 1 1 1 D R 1 + 1 [x]\n8,0 3 4 0.8 7 D R 36 (12 00) [x]\n",
    "fio2": "fio version 2 iolog\n/dev/x add\n/dev/x write 4096 512\n/dev/x wait 250\n/dev/x datasync\n",
    "fio3": "fio version 3 iolog\n10 /dev/x open\n500 /dev/x trim 4096 512\n900 /dev/x read 0 0\n",
    "alibaba": "419,W,8792731648,16384,1577808000000626\n725,R,-1,4096,1577808000001337\n1,R,1,1\n",
    "tencent": "1538323200,4247200,128,1,1058\n1538323199,16,8,2,1063\n1,18446744073709551615,8,0,1\n",
    "systor": "Timestamp,Response,IOType,LUN,Offset,Size\n1456063200.003,0.0007,W,2,1024,4096\n1,,,2,0,512\n",
    "fiu": "89966104003343 4253 nfsd 508455080 8 W 6 0 a2d8\n1 2 x 3 4 R 4096 1048576 ff\n",
    "msr_header": "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n128166372003061629,h,0,Read,1,512,1\n",
    "cloudphysics": "version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33898,28,0,1\n2,33899,zz,512,1\n1,1,35,0,0\n",
}

SPECS = {
    "write": "randwrite:bs=4k,span=80%,count=2x,seed=1",
    "mix": "randrw:bssplit=4k/60:8k/40,rwmixread=70,random_distribution=zipf:0.99,rate_iops=100",
    "sequential": "rw:bs=512,offset=1M,span=1M,io_size=8M,iodepth=32",
    "hotcold": "randread:random_distribution=hotcold:30/70,scatter=0,seq_fraction=0.25",
    "poisson": "randread:rate_process=poisson,rate_iops=1.5,count=0.25x",
    "trim": "randtrim:random_distribution=pareto:0.2,count=0.5x,bs=1.5k",
    "streams": "rw:bs=4k,span=8M,streams=4,wrap=1M,passes=2,count=0.5x",
    "stack": "randread:random_distribution=zipf,scatter=64k,stack=9/50,stack_unit=blocks",
    "blend": "blend:70/(randwrite:bs=4k,span=1M)+30/(read:span=2M),addresses=own,count=9,gaps=1ms",
}

FILTERS = {
    "all": "op=read+trim,process=java+77,action=q,from=1.5s,to=2min,every=10",
    "bad": "from=18446744073h,to=0ns,every=0,op=,process=+",
    "every": "every=3,op=write",
    "window": "from=1ms,to=1h",
}

COMBINATIONS = {
    "phases": "phases:(randread:bs=4k,span=1M),x=(mix:a+b)",
    "mix": "mix:oltp_demo+(randwrite:count=5)",
    "nested": "phases:(mix:(phases:a,b)+c),(randwrite:bs=4k,span=1M,count=9)",
    "blend": SPECS["blend"],
}


def words(*numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


def binary_traces():
    event = (0x65617407, 1, 9, 0, 8, 0, 4096, 7 | 1 << 17, 77, 8 << 20, 0, 0)
    yield "blktrace", words(*event) + struct.pack(">12I", *event)
    yield "vscsi1", words(7, 4096, 1, 0x01000028, 24, 0, 1000, 0) * 2
    yield "vscsi2", words(0x0200002A, 7, 512, 1, 40, 0, 2000, 0, 5, 0) * 2
    # A block of one record whose checksum is wrong, and the end mark.
    block = words(1, 16384, 1, 0xDEADBEEF, 0, 0, 1, 0, 2, 0, 512, 1 << 16, 3, 0, 0, 0, 0)
    yield "compact", b"FTLTRACE" + block

    def record(size, number, data):
        own = [0] * (size // 4)
        own[:3], own[6:9] = (size, number, 1), (data, 8, 0x1F010200)
        return struct.pack(f">{len(own)}I", *own)

    plain = record(52, 1 << 16 | 1, 4096) + record(60, 4 << 16 | 4, 512)
    yield "srt", plain
    yield "srt_cut", plain[:80]
    yield "srt_dated", b'host = "x";\ntracedate\t= "Thu Dec 31 23:59:59 1998";\n\x0c' + plain


def compact_records(count):
    def record(n):
        return struct.pack("<3QI", n * 500_000_000, n << 12, 512 | (n % 4) << 48, n % 3)
    return b"".join(map(record, range(count)))


def option(number, data=b""):
    return b"IHAVEOPT" + struct.pack(">II", number, len(data)) + data


def command(number, offset=0, length=0, flags=0):
    data = bytes(byte & 255 for byte in range(length)) if number == 1 else b""
    return struct.pack(">IHHQQI", 0x25609513, flags, number, 7 + number, offset, length) + data


def conversations():
    begin = struct.pack(">I", 3)
    structured, context = option(8), option(10, b"\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation")
    go = option(7, bytes(6))
    yield "old_style", begin + option(1) + command(0, 0, 4096) + command(2)
    yield "list", begin + option(3) + option(6, b"\0\0\0\0\0\x01\0\x03") + option(2)
    yield "write_and_read", begin + go + command(1, 512, 1024, 1) + command(3) + command(0, 512, 1024) + command(2)
    yield "structured", begin + structured + context + go + command(7, 0, 65536) + command(0, 0, 65536) + command(2)
    yield "trim_and_zero", begin + structured + go + command(4, 4096, 8192) + command(6, 0, 4096, 2) + command(6, 0, 4096, 16) + command(5)
    yield "beyond", begin + go + command(0, 1 << 63, 512) + command(1, 65000, 1000) + command(4, 65536, 1) + command(9)


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def main():
    for name, text in LINES.items():
        write("trace_lines", name, text)
        write("trace_pipeline", name, b"\0" + text.encode())
    for name, data in binary_traces():
        write("trace_pipeline", name, b"\0" + data)
    packed = {"gzip": lambda data: gzip.compress(data, mtime=0), "bzip2": bz2.compress, "xz": lzma.compress}
    for number, (name, pack) in enumerate(packed.items()):
        text = LINES["csv"].encode()
        write("trace_compression", name, pack(text * 20))
        write("trace_pipeline", f"csv_{name}", bytes([1 << number]) + pack(text * 20))
    if shutil.which("zstd"):
        csv = (LINES["csv"] * 20).encode()
        zstd = subprocess.run(["zstd", "-1", "-c"], input=csv, capture_output=True, check=True).stdout
        write("trace_compression", "zstd", zstd)
        write("trace_pipeline", "csv_zstd", b"\0" + zstd)
    for name, texts in [("trace_spec", SPECS), ("trace_filter", FILTERS), ("trace_combination", COMBINATIONS)]:
        for own, text in texts.items():
            write(name, own, text)
    for name, choices, count in [("one_file", b"\0\x03\0\0", 2), ("merged", b"\3\1\2\0", 40), ("head", b"\x81\7\3\5", 12)]:
        write("trace_compact", name, choices + compact_records(count))
    for name, data in conversations():
        write("nbd", name, data)
    chance = random.Random(1)
    # A scheme, a choice for every setting, and requests of four bytes.
    for number in range(12):
        stream = chance.randbytes(100 + 40 * number)
        write("operations", f"{number:02}", bytes([chance.randrange(256)]) + stream)
    for number in range(3):
        write("operations", f"defaults_{number}", bytes([17 * number]) + bytes(140) + chance.randbytes(400))


if __name__ == "__main__":
    main()
