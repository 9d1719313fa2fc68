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
    "placement": part(
        ["placement/**/*.rs", "placement.rs", "page_space/placing/*.rs", "line_book.rs"], ["ideal_page"],
        others=["caftl", "zns"]),
    "map_cache": part(
        ["map_cache.rs", "cmt/*.rs", "slots.rs", "slots/*.rs", "entry_buffer.rs", "page_runs.rs", "compressed_pages.rs",
         "cached_blocks.rs", "recent_map_pages.rs", "hot_filter.rs"],
        ["dftl", "sftl"], others=["cdftl", "tpftl", "cftl", "lazyftl", "hmb"]),
    "ram_data": part(
        ["ram_data.rs", "held_pages.rs", "framed_map.rs", "tree_frames.rs", "doubling_levels.rs", "ghost_list.rs",
         "request_size.rs"],
        ["treeftl"], others=["aps", "jtl", "leaftl", "zns"]),
    "log_blocks": part(
        ["merge_engine.rs", "merge_engine/*.rs", "merge_cost.rs", "random_log.rs", "sequential_area.rs",
         "sequential_log.rs", "owned_logs.rs", "owned_logs/*.rs", "fast_rules.rs", "striped_log.rs", "second_chance.rs",
         "recent_pages.rs"],
        ["bast", "fast"], others=["faster", "kast", "last", "mast", "nk"]),
    "block_mapped": part(
        ["block_mapped.rs", "block_map_cache.rs", "block_queues.rs", "block_trims.rs", "data_blocks.rs",
         "replacement_chains.rs", "superblocks.rs", "history_table.rs", "prediction_record.rs", "self_sizing.rs", "told.rs"],
        ["block"], others=["adapt", "dac", "replacement_block", "superblock", "waftl"]),
    "learned": part(["learned.rs", "learned/*.rs"], ["leaftl"]),
    "values": part(
        ["values.rs", "sharing_journal.rs", "page_owners.rs", "virtual_pages.rs", "marks.rs", "alloc.rs"], ["caftl"],
        others=["ca_ssd", "janus"]),
    "vocabulary": Room(
        ("crates/ftl/src/*.rs", "crates/ftl/src/settings/*.rs", f"{FTL}/mod.rs", "crates/schemes/src/lib.rs"),
        (unit("ftl"), device(), *said("ideal_page", "bast", "dftl"))),
    "victim": part(["victim/*.rs"], ["ideal_page"]),
    "clock": Room(
        (f"{FLASH}/board/nand/clock/*.rs",),
        (unit("flash"), device(), *said("ideal_page", "bast", "dftl", *SPECIAL),
         *conformance("ideal_page"))),
    "board": Room(
        (f"{FLASH}/board/nand/*.rs", f"{FLASH}/board/*.rs", f"{FLASH}/board/nand/state/*.rs", f"{FLASH}/board/pcm/*.rs"),
        (unit("flash"), unit("ftl"), device(), examples(*SPECIAL),
         *said("ideal_page", "bast", "dftl", *SPECIAL), *conformance("ideal_page", "bast"))),
    "event_clock": Room((f"{FLASH}/board/nand/clock/event/*.rs",), (unit("flash"), device())),
    "aging_and_parity": Room(
        (f"{FLASH}/board/nand/aging/*.rs", f"{FLASH}/board/nand/rain/*.rs"), (unit("flash"), device())),
    "ground": Room(
        (f"{FLASH}/*.rs", f"{FLASH}/names/*.rs", f"{FLASH}/settings/*.rs", f"{FLASH}/board/settings/*.rs"),
        (unit("flash"), device(), *said("ideal_page", "bast", "dftl"))),
    "meter": Room(
        (f"{FLASH}/meter/*.rs",),
        (unit("flash"), device(), *said("ideal_page", "bast", "fast"))),
    "buffer": Room(
        ("crates/ssd/src/buffer/*.rs",),
        (unit("ssd"), device(), examples("buffers"), *conformance("ideal_page", "bast"))),
    "host": Room(("crates/ssd/src/host/*.rs",), (unit("ssd"), device())),
    "ssd": Room(
        ("crates/ssd/src/*.rs", "crates/ssd/src/ssd/*.rs", "crates/ssd/src/ssd/chunk/*.rs"),
        (unit("ssd"), device(), *said("ideal_page", "dftl"), *conformance("ideal_page"))),
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


def outside(root):
    """Sources of the engine that are in no room."""
    within = {file for name in all_names(root) for file in files(room(name, root), root)}
    found = {path for crate in ("flash", "ftl", "schemes", "ssd") for path in (root / "crates" / crate / "src").rglob("*.rs")}
    names = {str(path.relative_to(root)) for path in found if "tests" not in path.parts}
    return sorted(name for name in names - within if not name.endswith("tests.rs"))


def all_names(root):
    """The rooms of the table, and those of all schemes."""
    schemes = sorted(path.stem for path in (root / "crates/schemes/src").glob("*.rs"))
    return sorted(ROOMS) + [name for name in schemes if name not in ("lib", "for_tests")]


def files(room, root):
    """Its sources, without those that hold tests alone."""
    found = {path for pattern in room.files for path in root.glob(pattern)}
    names = sorted(str(path.relative_to(root)) for path in found)
    return [name for name in names if not name.endswith("tests.rs")]
