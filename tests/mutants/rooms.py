"""Rooms: what is mutated together, and the tests that are to notice it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Trial:
    """A test program, those of its modules that have one of `names` in theirs (none: all), and the
    scheme that it is confined to."""

    package: str
    target: str
    names: tuple = ()
    only: str = ""


@dataclass(frozen=True)
class Room:
    files: tuple
    trials: tuple


FTL = "crates/ftl/src/parts"
FLASH = "crates/flash/src"
# They ask the board for what others do not: phase-change memory, the link, hashes, spare areas, and the host's memory.
SPECIAL = ("hat", "zns", "caftl", "ca_ssd", "superblock", "hmb")


def unit(package, *names):
    return Trial(f"ftlab-{package}", "lib", names)


def examples(*names):
    return Trial("ftlab-engine", "schemes", names)


def device(*names):
    return Trial("ftlab-engine", "device", names)


def conformance(*schemes):
    return tuple(Trial("ftlab-engine", "conformance", (), scheme) for scheme in schemes)


def said(*schemes):
    """What schemes say of their sizes, what they refuse, and numbers of a workload, for every variant."""
    return tuple(Trial("ftlab-engine", "schemes", ("sizes", "refused", "refreshed", "numbers"), scheme)
                 for scheme in schemes)


def part(files, schemes, *names, others=()):
    """A part: its own tests, those of devices, and of schemes that stand on it; of `others`, which use
    what those do not, the worked examples alone."""
    trials = (unit("ftl"), device(*names), examples(*schemes, *others), *said(*schemes, *others),
              *conformance(*schemes))
    return Room(tuple(f"{FTL}/{file}" for file in files), trials)


ROOMS = {
    "page_space": part(
        ["page_space.rs", "page_space/*.rs", "zone_rules.rs"],
        ["ideal_page", "dftl", "lazyftl", "zns"]),
    "lines": part(
        ["page_space/lines/*.rs", "page_space/slc/*.rs", "page_space/group_lines/*.rs"],
        ["ideal_page", "learnedftl"]),
    "page_mapped": part(
        ["page_mapped.rs", "page_mapped/*.rs", "oob_scan.rs", "trim_records.rs"],
        # caftl records, renames and shares pages; janus leaves pages of its blocks out.
        ["ideal_page", "hat"], others=["caftl", "janus"]),
    "map_area": part(
        ["map_area.rs", "flash_map.rs", "spare_map.rs", "numbered_area.rs", "record_area.rs"],
        # superblock has its map in spare areas; treeftl and dac keep map pages back.
        ["bast", "waftl", "fast"], others=["superblock", "treeftl", "dac"]),
    "map_recovery": part(
        ["map_recovery.rs", "checkpoint.rs", "translation.rs", "map_pages.rs"],
        ["dftl", "lazyftl"], others=["aps", "jtl", "treeftl"]),
    "demand_mapped": part(
        ["demand_mapped.rs", "demand_mapped/*.rs", "cached_map.rs", "cached_map/*.rs"],
        ["dftl"], others=["tpftl", "cdftl", "sftl", "cftl", "hmb", "leaftl", "learnedftl"]),
    "log_recovery": part(
        ["log_recovery.rs", "log_index.rs", "merge_journal.rs"], ["bast", "fast", "adapt"],
        others=["last", "superblock"]),
    "retiring": part(
        ["block_rewrite.rs", "block_survey.rs", "block_supply.rs", "free_pool.rs"],
        ["block", "bast", "ideal_page"], others=["replacement_block", "waftl", "superblock"]),
    "wear": part(["wear.rs"], ["ideal_page", "bast"]),
    "victim": part(["victim/*.rs"], ["ideal_page"]),
    "clock": Room(
        (f"{FLASH}/board/nand/clock/*.rs",),
        (unit("flash"), device(), *said("ideal_page", "bast", "dftl", *SPECIAL),
         *conformance("ideal_page"))),
    "board": Room(
        (f"{FLASH}/board/nand/*.rs", f"{FLASH}/board/*.rs", f"{FLASH}/board/nand/state/*.rs"),
        (unit("flash"), unit("ftl"), device(), examples(*SPECIAL),
         *said("ideal_page", "bast", "dftl", *SPECIAL), *conformance("ideal_page", "bast"))),
    "meter": Room(
        (f"{FLASH}/meter/*.rs",),
        (unit("flash"), device(), *said("ideal_page", "bast", "fast"))),
    "buffer": Room(
        ("crates/ssd/src/buffer/*.rs",),
        (unit("ssd"), device(), examples("buffers"), *conformance("ideal_page", "bast"))),
    "host": Room(("crates/ssd/src/host/*.rs",), (unit("ssd"), device())),
}


def room(name, root):
    """A room of the table, or that of a scheme."""
    if name in ROOMS:
        return ROOMS[name]
    file = Path("crates/schemes/src") / f"{name}.rs"
    if not (root / file).exists():
        raise SystemExit(f"{name} is no scheme and none of {', '.join(sorted(ROOMS))}")
    files = (str(file), f"crates/schemes/src/{name}/**/*.rs")
    alloc = Trial("ftlab-engine", "alloc", (), name)
    # What is asked of all schemes as devices, and that one without its own means is another.
    alike = Trial("ftlab-engine", "device", ("short_way", "duplicate", f"equivalence_{name}"), name)
    own = (unit("schemes", name), examples(name), *said(name), alike, alloc)
    return Room(files, (*own, *conformance(name)))


def all_names(root):
    """The rooms of the table, and those of all schemes."""
    schemes = sorted(path.stem for path in (root / "crates/schemes/src").glob("*.rs"))
    return sorted(ROOMS) + [name for name in schemes if name != "lib"]


def files(room, root):
    """Its sources, without those that hold tests alone."""
    found = {path for pattern in room.files for path in root.glob(pattern)}
    names = sorted(str(path.relative_to(root)) for path in found)
    return [name for name in names if not name.endswith("tests.rs")]
