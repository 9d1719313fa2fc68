# Written by crates/py/stubs.py; `make stubs` writes it anew.
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

_Value = str | int | float | bool | os.PathLike[str] | Sequence[Any]
_Progress = bool | Callable[[list[tuple[int, str, str, int, int | None, bool]]], object]

__version__: str
class _Record(Mapping[str, Any]):
    def __getitem__(self, name: str | float) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_dict(self) -> dict[str, Any]: ...

class _RunResult(_Record):
    """The result of one run of one scheme."""
    @property
    def schema(self) -> str:
        """Always `ftlab/1`."""
    @property
    def version(self) -> str:
        """Version of ftlab that made the run."""
    @property
    def made(self) -> _Made:
        """By what the run was made."""
    @property
    def scheme(self) -> str:
        """Name of the scheme."""
    @property
    def device(self) -> str:
        """Name of the device."""
    @property
    def workload(self) -> _Workload:
        """What was run."""
    @property
    def config(self) -> dict[str, Any]:
        """The effective configuration, by group."""
    @property
    def seed(self) -> int:
        """Seed of every random stream."""
    @property
    def precondition(self) -> _Precondition:
        """How the device was prepared."""
    @property
    def steady_state(self) -> _SteadyState:
        """Whether it had settled."""
    @property
    def warnings(self) -> list[str]:
        """Full sentences that a reader must see beside the numbers."""
    @property
    def host(self) -> _Host:
        """What the host asked for."""
    @property
    def flash(self) -> _Flash:
        """Flash operations."""
    @property
    def waf(self) -> float | None:
        """Pages programmed per logical page written by the host; null without host writes."""
    @property
    def waf_by_cause(self) -> _ByCause_of_Nullable_double:
        """The share of each cause in `waf`; null without host writes."""
    @property
    def merges(self) -> _Merges:
        """Merges by kind."""
    @property
    def map_cache(self) -> _MapCache:
        """The cached part of the map."""
    @property
    def buffer(self) -> _Buffer:
        """The host write buffer."""
    @property
    def latency_ns(self) -> _ByDirection_of_LatencyParts:
        """Latencies, in nanoseconds."""
    @property
    def service_time_ns(self) -> _ServiceTime:
        """Where the device's time went, in nanoseconds."""
    @property
    def stages_ns(self) -> _Stages_of_double:
        """Mean time per request by stage, in nanoseconds."""
    @property
    def streams(self) -> list[_Stream]:
        """What each stream of the host got; empty where the host has a single one."""
    @property
    def iops(self) -> float:
        """Requests completed per simulated second."""
    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Host bytes moved per simulated second."""
    @property
    def simulated_s(self) -> float:
        """Simulated seconds from the first arrival to the last completion."""
    @property
    def energy_uj(self) -> _Energy:
        """Energy, in microjoules."""
    @property
    def ram_bytes(self) -> _RamUse:
        """Memory, in bytes."""
    @property
    def wear(self) -> _Wear:
        """Wear of the flash."""
    @property
    def events(self) -> dict[str, int]:
        """What schemes reported by name."""
    @property
    def audit(self) -> str:
        """`passed`, or what the audit found; empty of a drive that is still served."""
    @property
    def verified_reads(self) -> int:
        """Reads whose data was compared with what had been written."""
    @property
    def wall(self) -> _Wall:
        """Cost of the simulation itself."""
    @property
    def cdf(self) -> _ByDirection_of_Array_of_Tuple_of_uint64_and_double:
        """Cumulative curves of the system response time, in points that ascend."""
    @property
    def ccdf(self) -> _ByDirection_of_Array_of_Tuple_of_uint64_and_double:
        """The same times seen from the slow end, where `cdf` has few points."""
    @property
    def series(self) -> list[_Window]:
        """How it went over simulated time, in windows of equal length."""
    @property
    def series_latency_ns(self) -> _ByDirection_of_WindowLatency:
        """System response times of reads and writes in these windows."""
    @property
    def phases(self) -> list[_Phase]:
        """Response by part of a combined workload (`phases:`, `mix:`), in the order of its parts; the
        key is absent for any other workload."""
    @property
    def own_policies(self) -> list[_OwnPolicy]:
        """Policies that the calling program decided itself; the key is absent where a policy of ours
        decided everything."""
    @property
    def classes(self) -> list[_DataClass]:
        """Classes of data, where a placement policy divides it (`gc.placement`); the key is absent
        otherwise."""
    @property
    def tail(self) -> _Tail | None:
        """The slowest requests, where `--tail` asked for them; the key is absent otherwise."""
    @property
    def probe(self) -> _Probe | None:
        """Single requests, where `--probe` asked for them; the key is absent otherwise."""

class _Made(_Record):
    """By what a run was made: enough to make it again."""
    @property
    def command(self) -> str:
        """The command of this run and of those that it was compared with, which share the size of the
        device; its working folder is not told, and `DIR` stands for a new one."""
    @property
    def timing(self) -> str:
        """When requests arrived, as `--timing` takes it."""
    @property
    def filter(self) -> str | None:
        """Which requests of the workload counted, as `--filter` takes it; null: all."""
    @property
    def commit(self) -> str:
        """Commit of the program; empty where a program that uses the library does not tell."""
    @property
    def build(self) -> str:
        """How the program was compiled: `optimised`, or `with debug assertions`."""
    @property
    def host(self) -> str:
        """Name of the machine and its cores; empty with `--reproducible`."""
    @property
    def started(self) -> str:
        """When the run began, RFC 3339 in UTC; empty with `--reproducible`."""

class _Workload(_Record):
    """What was run."""
    @property
    def name(self) -> str:
        """Name of the trace or the inline specification."""
    @property
    def sha256(self) -> str:
        """SHA-256 of the requests, in hexadecimal."""
    @property
    def requests(self) -> int:
        """Requests measured, of every pass where there were several."""
    @property
    def passes(self) -> int | None:
        """Complete passes over the workload, where it was repeated; the key is absent otherwise."""
    @property
    def read_ratio(self) -> float:
        """Share of reads among the requests, 0 to 1."""
    @property
    def footprint_pages(self) -> int:
        """Distinct logical pages touched."""
    @property
    def synthetic(self) -> bool:
        """Generated rather than recorded."""
    @property
    def stand_in(self) -> str | None:
        """For a synthetic stand-in, what it was fitted to; the key is absent otherwise."""
    @property
    def prefix(self) -> int | None:
        """Number of requests when only the beginning of a longer trace was run, else null."""
    @property
    def units(self) -> str | None:
        """The units (ASU, volume, disk) that `--unit` chose, ascending with commas between them, as in
        `0,2`; the key is absent where all were run."""
    @property
    def time_unit(self) -> str | None:
        """The unit of the trace's time column where neither the file nor its format nor the user said
        it, so that the data alone decided: `ms`, `ns`, ...; the key is absent otherwise."""
    @property
    def time_unit_why(self) -> str | None:
        """Why that unit, in words; absent with it."""
    @property
    def size_unit(self) -> str | None:
        """The same of the size column: `sectors`, `pages4k`, ..."""
    @property
    def size_unit_why(self) -> str | None:
        """Why that unit, in words; absent with it."""
    @property
    def address(self) -> str:
        """How trace addresses became device addresses: `strict`, `modulo` or `dense`."""

class _Precondition(_Record):
    """How the device was prepared before the measurement."""
    @property
    def mode(self) -> str:
        """The mode as given: `none`, `fill`, `touch`, `prefix:N`, ..."""
    @property
    def requests(self) -> int:
        """Requests issued."""
    @property
    def pages_written(self) -> int:
        """Logical pages written."""
    @property
    def erases(self) -> int:
        """Blocks erased meanwhile."""
    @property
    def cache(self) -> str:
        """How map cache and write buffer were left: `warm`, as preparing left them; `clean`, written
        back and kept; `cold`, written back and emptied. Empty in results of versions before that."""
    @property
    def written_back(self) -> int:
        """Changed map entries that were written back for that."""
    @property
    def inherited(self) -> _Inherited:
        """What the measured part found in memory and has to write."""

class _Inherited(_Record):
    """What memory held when the measured part began and flash did not."""
    @property
    def changed_map_entries(self) -> int:
        """Changed entries of the map cache."""
    @property
    def buffered_pages(self) -> int:
        """Pages of data in the write buffer."""

class _SteadyState(_Record):
    """Whether the device had settled when the measurement began, and how it went on."""
    @property
    def reached(self) -> bool | None:
        """Null when nobody examined it."""
    @property
    def rounds(self) -> int:
        """Rounds of preconditioning until then."""
    @property
    def gc_ran(self) -> bool:
        """Whether garbage collection or a merge ran during the measured part."""
    @property
    def explanation(self) -> str:
        """The verdict in words."""
    @property
    def settling(self) -> _Settling | None:
        """The rounds in numbers; the key is absent when nobody examined it."""
    @property
    def response(self) -> _Trend | None:
        """Mean response time of all requests over the second half of the measured part, in
        nanoseconds; the key is absent where the run has too few windows to tell."""
    @property
    def extra_programs(self) -> _Trend | None:
        """Pages programmed for anything but the host's own data per page written by the host, in the
        same way."""

class _Settling(_Record):
    """The last rounds of preconditioning by random writes, and all of them as they went."""
    @property
    def pages_per_round(self) -> int:
        """Pages that a round wrote."""
    @property
    def average(self) -> float:
        """Mean of the last five rounds, in pages per simulated second."""
    @property
    def range(self) -> float:
        """Their greatest less their least value, as a share of `average`."""
    @property
    def slope(self) -> float:
        """Slope of their best-fit line, as a share of `average` per round; below 0: the device slows
        down."""
    @property
    def excursion(self) -> float:
        """What the line rises or falls over the five rounds, as a share of `average`, without sign."""
    @property
    def pages_per_second(self) -> list[float]:
        """Pages per simulated second of each round, from the first on."""

class _Trend(_Record):
    """How a value went over the second half of the measured part, in ten parts."""
    @property
    def from_(self) -> float:
        """Where the best-fit line begins."""
    @property
    def to(self) -> float:
        """Where it ends."""
    @property
    def change(self) -> float:
        """What it rises (above 0) or falls (below), as a share of the average."""
    @property
    def trends(self) -> bool:
        """Whether that is more than chance: a tenth or more, and parts in order."""

class _Host(_Record):
    """What the host asked for."""
    @property
    def read_requests(self) -> int:
        """Read requests."""
    @property
    def write_requests(self) -> int:
        """Write requests."""
    @property
    def trim_requests(self) -> int:
        """Trim requests."""
    @property
    def read_pages(self) -> int:
        """Logical pages read."""
    @property
    def write_pages(self) -> int:
        """Logical pages written."""
    @property
    def bytes_read(self) -> int:
        """Bytes read."""
    @property
    def bytes_written(self) -> int:
        """Bytes written."""
    @property
    def failed_requests(self) -> int:
        """Read requests that completed with an error: a page could not be read."""
    @property
    def unreadable_pages(self) -> int:
        """Logical pages that could not be read, each time they were asked for."""
    @property
    def longest_queue(self) -> int:
        """Most requests that had arrived and waited for the device at once; from 4,096 on too high by
        one in two thousand at most."""
    @property
    def split(self) -> _Split | None:
        """Requests that reached the device in pieces; the key is absent where none did."""

class _Split(_Record):
    """Requests whose parts are not adjacent on the device. Each counts as one everywhere else."""
    @property
    def requests(self) -> int:
        """Requests as the host sent them."""
    @property
    def pieces(self) -> int:
        """Pieces in which they reached the device."""

class _Flash(_Record):
    """Flash operations."""
    @property
    def reads(self) -> _ByCause_of_uint64:
        """Pages read, by cause."""
    @property
    def programs(self) -> _ByCause_of_uint64:
        """Pages programmed, by cause."""
    @property
    def erases(self) -> _Erases:
        """Blocks erased, by role."""
    @property
    def erases_by_mode(self) -> _ErasesByMode | None:
        """The same by mode of the cells; the key is absent where a cell holds one bit anyway."""
    @property
    def oob_reads(self) -> int:
        """Out-of-band areas read."""
    @property
    def oob_writes(self) -> int:
        """Pages marked as superseded (in the out-of-band area, where the device keeps marks there)."""
    @property
    def cell_reads(self) -> int:
        """Flash pages sensed: fewer than `total_reads` where mapping units share flash pages."""
    @property
    def cell_programs(self) -> int:
        """Flash pages programmed."""
    @property
    def total_reads(self) -> int:
        """Sum of `reads`."""
    @property
    def total_programs(self) -> int:
        """Sum of `programs`."""
    @property
    def total_erases(self) -> int:
        """Sum of `erases`."""

class _ByCause_of_uint64(_Record):
    """One value per cause; every cause is always present, so that result files keep stable keys."""
    @property
    def host(self) -> int:
        """Work that the host's own request asked for."""
    @property
    def translate(self) -> int:
        """Loading or writing back map entries to serve a request."""
    @property
    def gc(self) -> int:
        """Data pages moved by garbage collection."""
    @property
    def gc_map_block(self) -> int:
        """Map pages moved because a map block was collected."""
    @property
    def gc_map_update(self) -> int:
        """Map pages updated because collected data pages moved."""
    @property
    def merge(self) -> int:
        """Pages moved by merges of log and data blocks, second chances and isolation moves."""
    @property
    def migrate(self) -> int:
        """Pages moved between areas of the device."""
    @property
    def convert(self) -> int:
        """Pages moved when a block changes its mapping."""
    @property
    def pad(self) -> int:
        """Filler pages."""
    @property
    def read_modify_write(self) -> int:
        """Reads that complete a partly written page."""
    @property
    def trim(self) -> int:
        """Trim records."""
    @property
    def checkpoint(self) -> int:
        """Saving memory tables so that recovery need not scan everything."""
    @property
    def wear(self) -> int:
        """Pages moved to level wear."""
    @property
    def recover(self) -> int:
        """Work of recovery after a power cut."""
    @property
    def fold(self) -> int:
        """Pages moved out of an SLC cache into dense blocks."""
    @property
    def parity(self) -> int:
        """Parity over the dies of a line."""
    @property
    def rebuild(self) -> int:
        """Pages brought back from their stripes after a die or a page failed, and moved."""
    @property
    def refresh(self) -> int:
        """Pages moved because their block was read often or their data is old."""
    @property
    def dedup(self) -> int:
        """Finding and joining equal contents behind the host's back, and records of what is shared."""

class _Erases(_Record):
    """Blocks erased, by the block's role when it was erased."""
    @property
    def data(self) -> int:
        """Data blocks."""
    @property
    def map(self) -> int:
        """Map blocks."""
    @property
    def log(self) -> int:
        """Log blocks."""

class _ErasesByMode(_Record):
    """Blocks erased, by how many bits their cells held until then."""
    @property
    def dense(self) -> int:
        """As many as the part has."""
    @property
    def slc(self) -> int:
        """One (SLC mode)."""

class _ByCause_of_Nullable_double(_Record):
    """One value per cause; every cause is always present, so that result files keep stable keys."""
    @property
    def host(self) -> float | None:
        """Work that the host's own request asked for."""
    @property
    def translate(self) -> float | None:
        """Loading or writing back map entries to serve a request."""
    @property
    def gc(self) -> float | None:
        """Data pages moved by garbage collection."""
    @property
    def gc_map_block(self) -> float | None:
        """Map pages moved because a map block was collected."""
    @property
    def gc_map_update(self) -> float | None:
        """Map pages updated because collected data pages moved."""
    @property
    def merge(self) -> float | None:
        """Pages moved by merges of log and data blocks, second chances and isolation moves."""
    @property
    def migrate(self) -> float | None:
        """Pages moved between areas of the device."""
    @property
    def convert(self) -> float | None:
        """Pages moved when a block changes its mapping."""
    @property
    def pad(self) -> float | None:
        """Filler pages."""
    @property
    def read_modify_write(self) -> float | None:
        """Reads that complete a partly written page."""
    @property
    def trim(self) -> float | None:
        """Trim records."""
    @property
    def checkpoint(self) -> float | None:
        """Saving memory tables so that recovery need not scan everything."""
    @property
    def wear(self) -> float | None:
        """Pages moved to level wear."""
    @property
    def recover(self) -> float | None:
        """Work of recovery after a power cut."""
    @property
    def fold(self) -> float | None:
        """Pages moved out of an SLC cache into dense blocks."""
    @property
    def parity(self) -> float | None:
        """Parity over the dies of a line."""
    @property
    def rebuild(self) -> float | None:
        """Pages brought back from their stripes after a die or a page failed, and moved."""
    @property
    def refresh(self) -> float | None:
        """Pages moved because their block was read often or their data is old."""
    @property
    def dedup(self) -> float | None:
        """Finding and joining equal contents behind the host's back, and records of what is shared."""

class _Merges(_Record):
    """Merges of log blocks with data blocks, or collected victims by pages copied."""
    @property
    def switch(self) -> int:
        """Victims that needed no copy."""
    @property
    def partial(self) -> int:
        """Victims that needed some copies."""
    @property
    def full(self) -> int:
        """Victims merged in full."""
    @property
    def full_data_blocks(self) -> int:
        """Data blocks rebuilt by the full merges."""
    @property
    def associativity_histogram(self) -> list[int]:
        """At index i: victims whose merge rebuilt i data blocks."""

class _MapCache(_Record):
    """The cached part of the map; all zero for a scheme without one."""
    @property
    def lookups(self) -> int:
        """Translations asked for."""
    @property
    def hits(self) -> int:
        """Found in the cache."""
    @property
    def misses(self) -> int:
        """Not found."""
    @property
    def hit_ratio(self) -> float | None:
        """`hits / lookups`; null without lookups."""
    @property
    def evict_clean(self) -> int:
        """Entries dropped without a write."""
    @property
    def evict_dirty(self) -> int:
        """Entries written back first."""

class _Buffer(_Record):
    """The host write buffer; all zero without one."""
    @property
    def lookups(self) -> int:
        """Pages that reads and writes of the host looked for."""
    @property
    def hits(self) -> int:
        """Pages found, with all sectors that a read asked for."""
    @property
    def hit_ratio(self) -> float | None:
        """`hits / lookups`; null without lookups."""
    @property
    def flushes(self) -> int:
        """Pages written out."""

class _ByDirection_of_LatencyParts(_Record):
    """One value for all requests, one for reads, one for writes."""
    @property
    def all(self) -> _LatencyParts:
        """Reads and writes together."""
    @property
    def read(self) -> _LatencyParts:
        """Reads alone."""
    @property
    def write(self) -> _LatencyParts:
        """Writes alone."""

class _LatencyParts(_Record):
    """The three latencies of a request: system = queue + device."""
    @property
    def system(self) -> _LatencySummary:
        """From arrival to completion."""
    @property
    def device(self) -> _LatencySummary:
        """From admission by the device to completion."""
    @property
    def queue(self) -> _LatencySummary:
        """From arrival to admission."""

class _LatencySummary(_Record):
    """Summary of one latency, in nanoseconds; all zero when no request was measured."""
    @property
    def N(self) -> int:
        """Requests measured."""
    @property
    def min(self) -> int:
        """Shortest, in nanoseconds."""
    @property
    def max(self) -> int:
        """Longest, in nanoseconds."""
    @property
    def mean(self) -> float:
        """Arithmetic mean, in nanoseconds."""
    @property
    def stddev(self) -> float:
        """Standard deviation, in nanoseconds."""
    @property
    def percentile(self) -> _Percentiles:
        """Percentiles, in nanoseconds."""

class _Percentiles(_Record):
    """Percentiles of one latency, in nanoseconds; the keys are fio's."""
    ...

class _ServiceTime(_Record):
    """Where the device's time went, in nanoseconds: `total` is the sum of all parts but `bus_wait` and
    `pcm_wait`, which depend on arrivals."""
    @property
    def total(self) -> int:
        """All of it."""
    @property
    def flash(self) -> _FlashTime:
        """In the flash cells."""
    @property
    def transfer(self) -> int:
        """On the channels."""
    @property
    def bus_wait(self) -> int:
        """Waiting for a channel."""
    @property
    def ram(self) -> int:
        """In the controller's RAM, and accesses to the DRAM."""
    @property
    def pcm_wait(self) -> int:
        """Waiting for the PCM port: reads for the write under way, writes for room in its queue."""
    @property
    def search(self) -> int:
        """Searching tables."""
    @property
    def controller(self) -> int:
        """In the controller, per page of host data; absent where that is free."""
    @property
    def pcm_read(self) -> int:
        """Reading PCM; absent where there is none."""
    @property
    def pcm_write(self) -> int:
        """Writing PCM; absent where there is none. These writes are posted and lie beside everything
        else: what they delay is `pcm_wait`."""
    @property
    def host_memory(self) -> int:
        """Looking into the host's memory over the link; absent where nobody does."""

class _FlashTime(_Record):
    """Flash cell time by operation, in nanoseconds."""
    @property
    def read(self) -> int:
        """Page reads."""
    @property
    def program(self) -> int:
        """Page programs."""
    @property
    def erase(self) -> int:
        """Block erases."""

class _Stages_of_double(_Record):
    """Time in each stage, in nanoseconds: means per read or write, which sum to the mean system
    response, or whole numbers of one request."""
    @property
    def driver_queue(self) -> float:
        """In the driver's queue."""
    @property
    def host_link(self) -> float:
        """On the link to the host."""
    @property
    def controller(self) -> float:
        """In the controller."""
    @property
    def buffer(self) -> float:
        """In the write buffer."""
    @property
    def map(self) -> float:
        """In the map."""
    @property
    def flash(self) -> float:
        """In the flash cells."""
    @property
    def channel(self) -> float:
        """On the channels."""

class _Stream(_Record):
    """Reads and writes of one stream of a multi-queue host."""
    @property
    def requests(self) -> int:
        """Requests completed."""
    @property
    def read_requests(self) -> int:
        """Reads among them."""
    @property
    def bytes(self) -> int:
        """Bytes moved."""
    @property
    def response_ns_mean(self) -> float | None:
        """Mean system response time, in nanoseconds; null without requests."""
    @property
    def driver_queue_ns_mean(self) -> float | None:
        """Mean time in the driver's queue, in nanoseconds; null without requests."""

class _Energy(_Record):
    """Energy, in microjoules."""
    @property
    def flash(self) -> _FlashEnergy:
        """Flash."""
    @property
    def dram(self) -> _DramEnergy:
        """DRAM."""
    @property
    def pcm(self) -> _PcmEnergy:
        """Phase-change memory."""
    @property
    def search(self) -> float:
        """Table searches."""
    @property
    def total(self) -> float:
        """All of it."""

class _FlashEnergy(_Record):
    """Energy of the flash, in microjoules."""
    @property
    def read(self) -> float:
        """Page reads."""
    @property
    def program(self) -> float:
        """Page programs."""
    @property
    def erase(self) -> float:
        """Block erases."""

class _DramEnergy(_Record):
    """Energy of the DRAM, in microjoules."""
    @property
    def access(self) -> float:
        """Accesses."""
    @property
    def refresh(self) -> float:
        """Refresh over the simulated time, where the scheme keeps a table of its own there."""

class _PcmEnergy(_Record):
    """Energy of the phase-change memory, in microjoules."""
    @property
    def read(self) -> float:
        """Reads."""
    @property
    def write(self) -> float:
        """Writes."""

class _RamUse(_Record):
    """Memory of the scheme, in bytes."""
    @property
    def structures(self) -> dict[str, _RamStructure]:
        """By structure."""
    @property
    def sram(self) -> int:
        """In the controller's SRAM."""
    @property
    def dram(self) -> int:
        """In DRAM."""
    @property
    def pcm(self) -> int:
        """In phase-change memory."""
    @property
    def host(self) -> int:
        """In the host's memory."""
    @property
    def total(self) -> int:
        """All of it."""
    @property
    def over_budget(self) -> int:
        """Bytes above the budget; 0 when within it."""

class _RamStructure(_Record):
    """One structure in memory."""
    @property
    def bytes(self) -> int:
        """Size in bytes."""
    @property
    def memory(self) -> str:
        """`sram`, `dram`, `pcm` or `host`."""

class _Wear(_Record):
    """Wear of the flash."""
    @property
    def erase_min(self) -> int:
        """Fewest erases of a block."""
    @property
    def erase_max(self) -> int:
        """Most erases of a block."""
    @property
    def erase_mean(self) -> float:
        """Mean erases of a block."""
    @property
    def erase_stddev(self) -> float:
        """Standard deviation of the erases of a block."""
    @property
    def retired_blocks(self) -> int:
        """Blocks out of use at the end, those that were bad from the start among them."""
    @property
    def factory_bad_blocks(self) -> int:
        """Blocks that were bad from the start."""
    @property
    def projected_bytes_written(self) -> int | None:
        """Host bytes that could be written before the first block wears out, if the host goes on as in
        the measured part and the block worn most in it goes on being worn most; null without erases
        and where the device was driven to its end."""
    @property
    def until_worn_out(self) -> _WornOut | None:
        """How the device ended, where it was driven to its end; null elsewhere."""
    @property
    def histogram(self) -> list[_WearBucket]:
        """Blocks by erase count, ascending and without overlap."""

class _WornOut(_Record):
    """The end of a device whose workload was repeated until it was worn out. Bytes are those of host
    writes that completed."""
    @property
    def bytes_to_first_death(self) -> int | None:
        """Bytes written when the first block died, those of the request that killed it among them;
        null if none did."""
    @property
    def bytes_to_end(self) -> int:
        """Bytes written when no block could be spared any more."""
    @property
    def loops(self) -> int:
        """Complete passes over the workload."""
    @property
    def dead_blocks(self) -> int:
        """Blocks that were retired on the way, the last that could be spared and those that could not."""

class _WearBucket(_Record):
    """Blocks whose erase count lies in one range."""
    @property
    def erases_from(self) -> int:
        """Lowest erase count, inclusive."""
    @property
    def erases_to(self) -> int:
        """Highest erase count, inclusive."""
    @property
    def blocks(self) -> int:
        """Blocks in the range."""

class _Wall(_Record):
    """Cost of the simulation itself."""
    @property
    def seconds(self) -> float:
        """Seconds on the clock on the wall."""
    @property
    def host_pages_per_second(self) -> float:
        """Simulated host pages per second of it."""
    @property
    def flash_operations_per_second(self) -> float:
        """Simulated flash operations per second of it."""
    @property
    def peak_rss_bytes(self) -> int:
        """Largest resident memory of the process, in bytes."""

class _ByDirection_of_Array_of_Tuple_of_uint64_and_double(_Record):
    """One value for all requests, one for reads, one for writes."""
    @property
    def all(self) -> list[list[Any]]:
        """Reads and writes together."""
    @property
    def read(self) -> list[list[Any]]:
        """Reads alone."""
    @property
    def write(self) -> list[list[Any]]:
        """Writes alone."""

class _Window(_Record):
    """What happened in one window of simulated time."""
    @property
    def t_start_s(self) -> float:
        """Beginning, in simulated seconds."""
    @property
    def t_end_s(self) -> float:
        """End, in simulated seconds."""
    @property
    def requests(self) -> int:
        """Requests completed."""
    @property
    def response_ns_mean(self) -> float:
        """Mean system response time, in nanoseconds; 0 without requests."""
    @property
    def response_ns_max(self) -> int:
        """Longest system response time, in nanoseconds."""
    @property
    def host_pages_written(self) -> int:
        """Logical pages written by the host."""
    @property
    def gc_page_copies(self) -> int:
        """Pages programmed for anything but the host's own data: copied by garbage collection and
        merges, and of the map."""
    @property
    def erases(self) -> int:
        """Blocks erased."""
    @property
    def free_blocks_min(self) -> int | None:
        """Fewest free blocks seen (log schemes: free log blocks); none in a window without requests."""
    @property
    def levels(self) -> dict[str, int]:
        """Where the scheme's areas and thresholds stood at the end of the window, by name; absent
        where a scheme has none."""

class _ByDirection_of_WindowLatency(_Record):
    """One value for all requests, one for reads, one for writes."""
    @property
    def all(self) -> _WindowLatency:
        """Reads and writes together."""
    @property
    def read(self) -> _WindowLatency:
        """Reads alone."""
    @property
    def write(self) -> _WindowLatency:
        """Writes alone."""

class _WindowLatency(_Record):
    """Response times of every window of the series, as columns: lists as long as the series."""
    @property
    def N(self) -> list[int]:
        """Requests completed."""
    @property
    def mean(self) -> list[float | None]:
        """Arithmetic mean, in nanoseconds; null without requests."""
    @property
    def max(self) -> list[int | None]:
        """Longest, in nanoseconds; null without requests."""
    @property
    def percentile(self) -> _WindowPercentiles:
        """Percentiles, in nanoseconds, to within 3 %: the middle of a bucket a sixteenth of an octave
        wide; null without requests."""

class _WindowPercentiles(_Record):
    """Percentiles of every window; the keys are fio's."""
    ...

class _Phase(_Record):
    """One part of a combined workload."""
    @property
    def name(self) -> str:
        """As the user named it."""
    @property
    def requests(self) -> int:
        """Requests of it that completed, trims and flushes included."""
    @property
    def latency_ns(self) -> _ByDirection_of_LatencySummary:
        """System response time of its reads and writes, in nanoseconds."""

class _ByDirection_of_LatencySummary(_Record):
    """One value for all requests, one for reads, one for writes."""
    @property
    def all(self) -> _LatencySummary:
        """Reads and writes together."""
    @property
    def read(self) -> _LatencySummary:
        """Reads alone."""
    @property
    def write(self) -> _LatencySummary:
        """Writes alone."""

class _OwnPolicy(_Record):
    """A policy of the calling program, in the place of one of ours."""
    @property
    def place(self) -> str:
        """What it decides: `victim`, `placement` or `cache`."""
    @property
    def name(self) -> str:
        """Its name, as the program gave it."""
    @property
    def asked(self) -> int:
        """How often it was asked, preparing the device included."""

class _DataClass(_Record):
    """A class of data of a placement policy, as measured."""
    @property
    def host_pages(self) -> int:
        """Pages that the host wrote to it."""
    @property
    def moved_pages(self) -> int:
        """Pages that collection moved to it."""
    @property
    def host_bytes(self) -> int:
        """`host_pages` times the bytes of a page (`device.mapping_unit`), whatever the requests
        covered of them."""
    @property
    def media_bytes(self) -> int:
        """The same of `host_pages` and `moved_pages`."""
    @property
    def victims(self) -> int:
        """Blocks of it that were collected."""
    @property
    def victim_valid_share(self) -> float | None:
        """Mean share of their pages that was valid; null without victims."""
    @property
    def lifespan_pages_mean(self) -> float | None:
        """Mean of the host pages written from opening a block to collecting it; null without one."""
    @property
    def group(self) -> _DataGroup | None:
        """What it stood at in the end, where it was a group that the policy gives a size (`midas`), or
        the last one, which has the rest; the key is absent otherwise."""

class _DataGroup(_Record):
    """A group that a placement policy gives a size."""
    @property
    def segments(self) -> int:
        """Segments, a block of every plane each, or lines, that it may have."""
    @property
    def expected_valid_share(self) -> float | None:
        """Valid share of its victims that the model expects; null without a model."""
    @property
    def valid_share(self) -> float | None:
        """What it was in the last epoch; null without a victim."""

class _Tail(_Record):
    """The slowest reads and writes of a run."""
    @property
    def slowest_1_percent(self) -> _Slowest:
        """At least one in a hundred."""
    @property
    def slowest_0_1_percent(self) -> _Slowest:
        """At least one in a thousand."""
    @property
    def worst(self) -> list[_Worst]:
        """The slowest of all, at most [`WORST_MAX`]; of two that took as long, the one served first."""

class _Slowest(_Record):
    """The requests that took longest, and all that took as long as the fastest of them to three
    digits. All but the first two are means per request of them."""
    @property
    def requests(self) -> int:
        """How many."""
    @property
    def from_ns(self) -> int:
        """The shortest system response time among them, in nanoseconds."""
    @property
    def response_ns_mean(self) -> float:
        """System response time, in nanoseconds."""
    @property
    def stages_ns(self) -> _Stages_of_double:
        """Time in each stage; sums to `response_ns_mean`."""
    @property
    def work_ns(self) -> _ByCause_of_double:
        """Time that dies (or planes) and channels worked for the request itself, and in the idle gap
        before it, in nanoseconds."""
    @property
    def reads(self) -> _ByCause_of_double:
        """Pages read likewise."""
    @property
    def programs(self) -> _ByCause_of_double:
        """Pages programmed likewise."""
    @property
    def erases(self) -> _ByCause_of_double:
        """Blocks erased likewise."""
    @property
    def map_misses(self) -> float:
        """Look-ups of the cached map that missed, likewise."""
    @property
    def full_merges(self) -> float:
        """Full merges likewise."""
    @property
    def merged_data_blocks(self) -> float:
        """Data blocks that they rebuilt."""
    @property
    def ahead(self) -> _Ahead_of_double:
        """What was in front of the request."""

class _ByCause_of_double(_Record):
    """One value per cause; every cause is always present, so that result files keep stable keys."""
    @property
    def host(self) -> float:
        """Work that the host's own request asked for."""
    @property
    def translate(self) -> float:
        """Loading or writing back map entries to serve a request."""
    @property
    def gc(self) -> float:
        """Data pages moved by garbage collection."""
    @property
    def gc_map_block(self) -> float:
        """Map pages moved because a map block was collected."""
    @property
    def gc_map_update(self) -> float:
        """Map pages updated because collected data pages moved."""
    @property
    def merge(self) -> float:
        """Pages moved by merges of log and data blocks, second chances and isolation moves."""
    @property
    def migrate(self) -> float:
        """Pages moved between areas of the device."""
    @property
    def convert(self) -> float:
        """Pages moved when a block changes its mapping."""
    @property
    def pad(self) -> float:
        """Filler pages."""
    @property
    def read_modify_write(self) -> float:
        """Reads that complete a partly written page."""
    @property
    def trim(self) -> float:
        """Trim records."""
    @property
    def checkpoint(self) -> float:
        """Saving memory tables so that recovery need not scan everything."""
    @property
    def wear(self) -> float:
        """Pages moved to level wear."""
    @property
    def recover(self) -> float:
        """Work of recovery after a power cut."""
    @property
    def fold(self) -> float:
        """Pages moved out of an SLC cache into dense blocks."""
    @property
    def parity(self) -> float:
        """Parity over the dies of a line."""
    @property
    def rebuild(self) -> float:
        """Pages brought back from their stripes after a die or a page failed, and moved."""
    @property
    def refresh(self) -> float:
        """Pages moved because their block was read often or their data is old."""
    @property
    def dedup(self) -> float:
        """Finding and joining equal contents behind the host's back, and records of what is shared."""

class _Ahead_of_double(_Record):
    """Requests that the device took before another one and was not done with when that one arrived,
    the work that they caused and that went on behind them included."""
    @property
    def requests(self) -> float:
        """How many."""
    @property
    def work_ns(self) -> _ByCause_of_double:
        """Time that dies (or planes) and channels worked for them, in nanoseconds; all of it, what
        was done by then included."""

class _Worst(_Record):
    """One slow request."""
    @property
    def index(self) -> int:
        """Place among the measured requests, from 0, in order of arrival, as in `--probe`."""
    @property
    def arrival_ns(self) -> int:
        """Arrival, in nanoseconds."""
    @property
    def op(self) -> str:
        """`read` or `write`."""
    @property
    def first_sector(self) -> int:
        """First sector."""
    @property
    def sectors(self) -> int:
        """Sectors."""
    @property
    def system_ns(self) -> int:
        """System response time."""
    @property
    def stages_ns(self) -> _Stages_of_uint64:
        """Time in each stage; sums to `system_ns`."""
    @property
    def work_ns(self) -> _ByCause_of_uint64:
        """Time that dies (or planes) and channels worked for it and in the idle gap before it, in
        nanoseconds."""
    @property
    def reads(self) -> _ByCause_of_uint64:
        """Pages read likewise."""
    @property
    def programs(self) -> _ByCause_of_uint64:
        """Pages programmed likewise."""
    @property
    def erases(self) -> _ByCause_of_uint64:
        """Blocks erased likewise."""
    @property
    def map_misses(self) -> int:
        """Look-ups of the cached map that missed, likewise."""
    @property
    def full_merges(self) -> int:
        """Full merges likewise."""
    @property
    def merged_data_blocks(self) -> int:
        """Data blocks that they rebuilt."""
    @property
    def ahead(self) -> _Ahead_of_uint64:
        """What was in front of it."""

class _Stages_of_uint64(_Record):
    """Time in each stage, in nanoseconds: means per read or write, which sum to the mean system
    response, or whole numbers of one request."""
    @property
    def driver_queue(self) -> int:
        """In the driver's queue."""
    @property
    def host_link(self) -> int:
        """On the link to the host."""
    @property
    def controller(self) -> int:
        """In the controller."""
    @property
    def buffer(self) -> int:
        """In the write buffer."""
    @property
    def map(self) -> int:
        """In the map."""
    @property
    def flash(self) -> int:
        """In the flash cells."""
    @property
    def channel(self) -> int:
        """On the channels."""

class _Ahead_of_uint64(_Record):
    """Requests that the device took before another one and was not done with when that one arrived,
    the work that they caused and that went on behind them included."""
    @property
    def requests(self) -> int:
        """How many."""
    @property
    def work_ns(self) -> _ByCause_of_uint64:
        """Time that dies (or planes) and channels worked for them, in nanoseconds; all of it, what
        was done by then included."""

class _Probe(_Record):
    """What a probe saw."""
    @property
    def from_(self) -> int:
        """The first request that was asked for, counted from 0 in order of arrival."""
    @property
    def count(self) -> int:
        """How many were asked for; fewer are there when the workload ended before."""
    @property
    def requests(self) -> _ProbeRequests:
        """The requests, in order of arrival."""
    @property
    def timeline(self) -> _ProbeTimeline:
        """What each part of the device did meanwhile."""

class _ProbeRequests(_Record):
    """The probed requests, an entry per request in every list."""
    @property
    def index(self) -> list[int]:
        """Place among the measured requests, from 0, in order of arrival."""
    @property
    def arrival_ns(self) -> list[int]:
        """Arrival, in nanoseconds."""
    @property
    def op(self) -> list[str]:
        """`read`, `write`, `trim` or `flush`."""
    @property
    def first_sector(self) -> list[int]:
        """First sector."""
    @property
    def sectors(self) -> list[int]:
        """Sectors."""
    @property
    def system_ns(self) -> list[int]:
        """System response time."""
    @property
    def device_ns(self) -> list[int]:
        """Time in the device."""
    @property
    def queue_depth(self) -> list[int]:
        """Earlier requests that were not done when it arrived, in driver and device."""
    @property
    def flash_reads(self) -> list[int]:
        """Pages read from flash for it and in the idle gap before it."""
    @property
    def flash_programs(self) -> list[int]:
        """Pages programmed likewise."""
    @property
    def gc_page_copies(self) -> list[int]:
        """Those of them that the host did not ask for."""
    @property
    def erases(self) -> list[int]:
        """Blocks erased likewise."""

class _ProbeTimeline(_Record):
    """Pieces of work of the parts of the device, an entry per piece in every list, by time of start."""
    @property
    def unit(self) -> list[str]:
        """What was at work: `die 3`, `plane 3`, `channel 0`, `controller`, `ram`, `pcm`."""
    @property
    def start_ns(self) -> list[int]:
        """When it began, in nanoseconds on the clock of arrivals."""
    @property
    def end_ns(self) -> list[int]:
        """When it ended."""
    @property
    def work(self) -> list[str]:
        """`read`, `program`, `erase`, `mark`, `suspend`, `transfer`, `control`, `move` (in
        RAM) or `write` (phase-change memory)."""
    @property
    def cause(self) -> list[str]:
        """Why, in the words of `flash.reads`."""
    @property
    def planes(self) -> list[int]:
        """Planes that took part."""
    @property
    def left_out(self) -> int:
        """Pieces of work that found no room in these lists."""

class UsageError(ValueError):
    """What was asked for, or a file that was read, is not legal: nothing was run.

    The text is that of the command (exit code 2): it names option, file, line or row, the value,
    and what is legal."""

class RunError(RuntimeError):
    """The run itself failed: audit, device full or worn out, a file that cannot be written.

    The text is that of the command (exit code 1)."""

class Table(Mapping[str, Any]):
    """Columns of equal length by name.

    A column of numbers is a read-only `memoryview` of 64-bit integers (`q`), doubles (`d`, NaN where
    a cell is absent) or booleans (`?`), which `numpy.asarray` and others take without a copy; any
    other column is a list of `str`, None where a cell is absent. Units stand in the names. Columns
    of a file are read when they are asked for."""
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    shape: tuple[int, int]
    columns: list[str]
    def to_numpy(self) -> dict[str, Any]:
        """A dict of numpy arrays; numbers are views of the same memory."""
    def to_pandas(self) -> Any:
        """A pandas data frame."""
    def to_polars(self) -> Any:
        """A polars data frame; absent cells are null."""
    def to_arrow(self) -> Any:
        """A pyarrow table; absent cells are null."""
    def to_parquet(self, path: str | os.PathLike[str] = ...) -> bytes | None:
        """The table as a file of Parquet: its bytes, or written to the new file `path`."""

class Workload:
    """Requests from columns of equal length, a row each.

    columns: a data frame (pandas, polars), a dict of columns, or a numpy array with fields; or the
        columns by name:
    time: arrival, in `time_unit`, from 0 or more, in order; the first request is moved to 0. Whole
        numbers, fractions that nanoseconds can tell, or datetime64 and timedelta64. Where there is
        no time, a run must say `timing='asap'` or `'closed:DEPTH'`.
    op: read, write, trim or flush, r, w, t or f in any case, or 0 to 3 in that order.
    offset: first byte, from 0.
    size: bytes, 1 to 2**40; of a flush any, 0 among them.
    name: results call it NAME.ftb, and so does the command that they state.
    time_unit: ns (default), us, ms or s.

    Workloads are read from files, as often as a run needs: the requests are kept in a file of
    ftlab's compact form (28 bytes a request) in a temporary folder, which goes with this object.
    Raises `UsageError` that names row (from 0), column, value and what is legal."""
    path: str
    requests: int
    has_times: bool
    def __init__(self, columns: Any = ..., *, time: Any = ..., op: Any = ..., offset: Any = ..., size: Any = ..., name: str = ..., time_unit: str = ...) -> None: ...
    def save(self, path: str | os.PathLike[str]) -> None:
        """Keeps the workload in the new file `path` (`.ftb`), which the program reads as well."""

class Result(_RunResult):
    """The result of one run.

    Every field is an attribute with words (`help(ftlab.Result)`; units stand in the names), and so
    are those of its parts: `result.latency_ns.all.system.mean`; percentiles are items:
    `result.latency_ns.read.system.percentile[99]`. What a result does not have is None. Shown, it is
    the table that the program prints. Results can be pickled and compared."""
    def to_json(self) -> str:
        """The result as JSON: the bytes of `ftlab run --json`."""
    def to_dict(self) -> dict[str, Any]:
        """The result as a dict of its own."""
    def table(self, of: str = ...) -> Table:
        """A `Table` of the result.

        scalars: one row, a column per number or text, called as its path (`latency_ns.all.system.mean`).
        series: how it went over simulated time, a row per window, with response times in it.
        cdf, ccdf: points of the curves of the response time: direction (all, read, write), latency_ns,
            share of requests that took as long or less (cdf), or longer (ccdf: share_slower).
        wear: blocks by number of erases.
        requests: a row per request, where the run was made with requests=True, or with a
            requests_out that ends in .parquet; a temporary file that lives as long as this result or
            its tables."""
    def to_pandas(self) -> Any:
        """A data frame of one row; see `table()` for others."""
    def to_polars(self) -> Any:
        """A data frame of one row; see `table()` for others."""
    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page with charts to the new file `path`; it opens offline."""
    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Result:
        """The result of a file that `ftlab run --json` wrote."""
    def _repr_html_(self) -> str: ...

class Comparison(Sequence[Result]):
    """The results of several schemes on one device and workload, in the order asked for.

    `comparison[0]` and `comparison["dftl"]` are results. Shown, it is the table that the program
    prints."""
    def __getitem__(self, which: Any) -> Any: ...
    def __len__(self) -> int: ...
    schemes: list[str]
    def to_json(self) -> str:
        """The results as JSON: the bytes of `results.json`."""
    def to_csv(self) -> str:
        """A line per run: the bytes of `results.csv`."""
    def to_dict(self) -> list[dict[str, Any]]:
        """The results as a list of dicts."""
    def table(self, of: str = ...) -> Table:
        """A `Table` of all runs, as `Result.table`, but for requests; its first column is the scheme."""
    def to_pandas(self) -> Any:
        """A data frame with a row per run; see `table()` for others."""
    def to_polars(self) -> Any:
        """A data frame with a row per run; see `table()` for others."""
    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page with charts to the new file `path`; it opens offline."""
    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Comparison:
        """The results of a file: `results.json` of `ftlab compare`."""
    def _repr_html_(self) -> str: ...

class Inspection(_Record):
    """What is in a workload. Fields are those of `ftlab trace inspect --json`, as attributes and as
    items; shown, it is what the program prints."""
    def __getattr__(self, name: str) -> Any: ...
    def to_json(self) -> str:
        """The same as JSON."""

class Experiment:
    """What is to be run: schemes, a device, a workload, and how they meet.

    Every option of `ftlab run` and `ftlab compare` is an attribute and a keyword (`-` becomes
    `_`), with the text that the option takes; numbers may be numbers, flags are True. Keys of the
    configuration are keywords with a point: `**{"dftl.cmt_entries": 4096}`. What is None has its
    default. `workload` may be a `Workload`, or what that takes.

    Raises `UsageError` for names and values that are not legal; what does not go together is told
    when it is run."""
    schemes: _Value | None
    """Schemes with commas between them, all, or family:NAME."""
    device: _Value | None
    """Bundled device, or a TOML file of your own."""
    capacity: _Value | None
    """Exported capacity, such as 512MiB, 16GiB or 1TiB (powers of 1024; GB and TB: of 1000); auto: what the workload needs."""
    buffer: _Value | None
    """Host write buffer in front of the scheme (see `ftlab list buffers`)."""
    set: _Value | Mapping[str, _Value] | None
    """Override any setting (see `ftlab list keys`); repeatable."""
    workload: _Value | None
    """Trace file, folder or glob of parts, `-`, bundled workload, or inline spec such as randwrite:bs=4k,span=80%,count=2x."""
    trace_dir: _Value | None
    """Folder with real traces: one whose stand-in is asked for is used in its place."""
    find_subset: _Value | None
    """With --trace-dir: only the units of the real trace that come nearest to what the stand-in's source prints (a flag)."""
    format: _Value | None
    """Trace format (default: found out from the content)."""
    time_unit: _Value | None
    """Unit of the time column: ns, filetime, us, ms, s."""
    size_unit: _Value | None
    """Unit of the size column: bytes, sectors, kib, pages2k, pages4k, pages8k, pages16k."""
    parts: _Value | None
    """Several files: in_order (each follows on the one before; the default) or by_time (they overlap, as disks of a machine do; always so with vscsi, srt and blktrace)."""
    unit: _Value | None
    """Which ASUs, volumes or disks: all, or numbers (devices: MAJOR:MINOR) with commas between them (compare: each runs every one apart on devices of its own)."""
    filter: _Value | None
    """Which requests count: op=read+write, process=NAME+PID, action=Q (block-layer traces; default D), from=10s, to=2h, every=10, with commas between them."""
    head: _Value | None
    """Only the first N requests."""
    reorder_window: _Value | None
    """Backward steps of time up to this are sorted, larger ones are errors."""
    skip_bad: _Value | None
    """Skip up to N malformed lines of a text trace, count them and show the first ones (default: the first one is an error)."""
    address: _Value | None
    """Trace addresses on the device: strict | modulo | dense."""
    precondition: _Value | None
    """none | fill | touch | wipc | prefix:N | warmup:N | random:Nx | steady[:Nx] | model | snapshot:FILE, per scheme: touch,SCHEME=fill, and for map caches cache=clean|warm|cold (clean unless the workload itself prepared: prefix, warmup)."""
    timing: _Value | None
    """trace | trace:SCALE (0.5 = twice as fast) | asap | closed:DEPTH."""
    ram: _Value | None
    """SRAM of the controller, or as much as another scheme takes: like:SCHEME[.structure]."""
    ram_strict: _Value | None
    """Leave out schemes that need more than --ram (a flag)."""
    verify: _Value | None
    """Compare every read with what was written last (a flag)."""
    until: _Value | None
    """Repeat the workload until so many blocks died of age that the device cannot go on (device.endurance_cycles, wear.policy)."""
    loop: _Value | None
    """Run the workload N times, each pass when the one before is done; it ends early if the device is worn out."""
    seed: _Value | None
    """Seed of every random stream (an inline spec has its own)."""
    probe: _Value | None
    """COUNT requests from the one numbered FROM (first: 0) under the microscope, in results.json and the report (run: in --json)."""
    tail: _Value | None
    """Why the slowest are slow: what the time of the slowest 1 % and 0.1 % went into, and the ten worst requests one by one (simulating takes up to three times as long) (a flag)."""
    requests_out: _Value | None
    """A row per request, to a new file that ends in .csv or .parquet (compare: a file per scheme, FILE-SCHEME.csv, with --unit each FILE-unit-N-SCHEME.csv)."""
    trace_out: _Value | None
    """What the device did for the requests of --probe, else for the first 2000, as trace events for Perfetto (ui.perfetto.dev), to a new file that ends in .json (compare: FILE-SCHEME.json); at most 30,000 operations."""
    save_snapshot: _Value | None
    """Write flash and phase-change memory as they are after the run to this new file, for --precondition snapshot:FILE."""
    def __init__(self, scheme: _Value | None = ..., device: _Value | None = ..., workload: Any = ..., *, capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> None: ...
    @classmethod
    def from_toml(cls, text: str) -> Experiment:
        """An experiment from TOML, whose names are those of the options (`skip-bad`)."""
    def to_toml(self) -> str:
        """The experiment as TOML, without what has its default."""
    def to_dict(self) -> dict[str, Any]:
        """The options that do not have their defaults, under the names of the command."""
    def command(self) -> str:
        """The command line of the same experiment, without the files that it writes."""
    def replace(self, *, device: _Value | None = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., workload: _Value | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> Experiment:
        """A copy in which some options are others; None gives an option its default."""
    def run(self, *, policies: dict[str, type] | _Value | None = ..., requests: _Value = ..., reproducible: _Value = ..., progress: _Progress | _Value = ...) -> Result:
        """Runs the one scheme; see `ftlab.run`."""
    def compare(self, *, policies: dict[str, type] | _Value | None = ..., jobs: _Value | None = ..., requests: _Value = ..., reproducible: _Value = ..., progress: _Progress | _Value = ...) -> Comparison | dict[int, Comparison]:
        """Runs all schemes side by side; see `ftlab.compare`."""

def run(scheme: _Value | None = ..., device: _Value | None = ..., workload: Any = ..., *, policies: dict[str, type] | _Value | None = ..., requests: _Value = ..., reproducible: _Value = ..., progress: _Progress | _Value = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> Result:
    """Runs one scheme on a device and a workload: a `Result`.

    scheme: a name of `ftlab.schemes()`, with a preset if wanted (`dftl:gtd`).
    device: a name of `ftlab.devices()`, or a TOML file.
    workload: a name of `ftlab.workloads()`, a trace file, an inline spec such as
        'randwrite:bs=4k,span=80%,count=2x', a `Workload`, or a data frame that one is made of.
    policies: classes of your own by what they decide: 'victim' (a method `choose(blocks)`),
        'placement' (`apart(block)`), 'cache' (`evict(entries)`, and `admit(page)` if wanted); see
        `ftlab.policies`. The result says so.
    requests: keeps a row per request, `result.table("requests")`, in a temporary file.
    reproducible: equal runs are equal bytes: `wall` is zero, machine and date are empty.
    progress: True for bars of tqdm, or a function that is called with a list of (number, words, what
        is counted, done, length or None, is over) several times a second.

    Other threads of Python go on meanwhile; Ctrl-C in the main thread ends the run that it waits for
    within a second, and nothing is left of it. Raises `UsageError` before anything runs, `RunError` where the run fails.

    Options:

    capacity: Exported capacity, such as 512MiB, 16GiB or 1TiB (powers of 1024; GB and TB: of 1000); auto: what the workload needs
    buffer: Host write buffer in front of the scheme (see `ftlab list buffers`)
    set: Override any setting (see `ftlab list keys`); repeatable
    trace_dir: Folder with real traces: one whose stand-in is asked for is used in its place
    find_subset: With --trace-dir: only the units of the real trace that come nearest to what the stand-in's source prints
    format: Trace format (default: found out from the content)
    time_unit: Unit of the time column: ns, filetime, us, ms, s
    size_unit: Unit of the size column: bytes, sectors, kib, pages2k, pages4k, pages8k, pages16k
    parts: Several files: in_order (each follows on the one before; the default) or by_time (they overlap, as disks of a machine do; always so with vscsi, srt and blktrace)
    unit: Which ASUs, volumes or disks: all, or numbers (devices: MAJOR:MINOR) with commas between them (compare: each runs every one apart on devices of its own)
    filter: Which requests count: op=read+write, process=NAME+PID, action=Q (block-layer traces; default D), from=10s, to=2h, every=10, with commas between them
    head: Only the first N requests
    reorder_window: Backward steps of time up to this are sorted, larger ones are errors
    skip_bad: Skip up to N malformed lines of a text trace, count them and show the first ones (default: the first one is an error)
    address: Trace addresses on the device: strict | modulo | dense
    precondition: none | fill | touch | wipc | prefix:N | warmup:N | random:Nx | steady[:Nx] | model | snapshot:FILE, per scheme: touch,SCHEME=fill, and for map caches cache=clean|warm|cold (clean unless the workload itself prepared: prefix, warmup)
    timing: trace | trace:SCALE (0.5 = twice as fast) | asap | closed:DEPTH
    ram: SRAM of the controller, or as much as another scheme takes: like:SCHEME[.structure]
    ram_strict: Leave out schemes that need more than --ram
    verify: Compare every read with what was written last
    until: Repeat the workload until so many blocks died of age that the device cannot go on (device.endurance_cycles, wear.policy)
    loop: Run the workload N times, each pass when the one before is done; it ends early if the device is worn out
    seed: Seed of every random stream (an inline spec has its own)
    probe: COUNT requests from the one numbered FROM (first: 0) under the microscope, in results.json and the report (run: in --json)
    tail: Why the slowest are slow: what the time of the slowest 1 % and 0.1 % went into, and the ten worst requests one by one (simulating takes up to three times as long)
    requests_out: A row per request, to a new file that ends in .csv or .parquet (compare: a file per scheme, FILE-SCHEME.csv, with --unit each FILE-unit-N-SCHEME.csv)
    trace_out: What the device did for the requests of --probe, else for the first 2000, as trace events for Perfetto (ui.perfetto.dev), to a new file that ends in .json (compare: FILE-SCHEME.json); at most 30,000 operations
    save_snapshot: Write flash and phase-change memory as they are after the run to this new file, for --precondition snapshot:FILE"""

def compare(schemes: _Value | None = ..., device: _Value | None = ..., workload: Any = ..., *, policies: dict[str, type] | _Value | None = ..., jobs: _Value | None = ..., requests: _Value = ..., reproducible: _Value = ..., progress: _Progress | _Value = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> Comparison | dict[int, Comparison]:
    """Runs several schemes on the same device and workload: a `Comparison`.

    schemes: a list of names, 'all' or 'family:NAME'; what cannot run on the device is left out of
        these two, and warnings say so.
    jobs: runs side by side; as many as cores and memory allow where None. Results are the same for
        any number.
    unit='each': every unit of a trace apart, on devices of its own: a dict of comparisons by unit.

    Everything else is as with `ftlab.run`. Raises `UsageError`, and `RunError` where any run fails.

    Options:

    capacity: Exported capacity, such as 512MiB, 16GiB or 1TiB (powers of 1024; GB and TB: of 1000); auto: what the workload needs
    buffer: Host write buffer in front of the scheme (see `ftlab list buffers`)
    set: Override any setting (see `ftlab list keys`); repeatable
    trace_dir: Folder with real traces: one whose stand-in is asked for is used in its place
    find_subset: With --trace-dir: only the units of the real trace that come nearest to what the stand-in's source prints
    format: Trace format (default: found out from the content)
    time_unit: Unit of the time column: ns, filetime, us, ms, s
    size_unit: Unit of the size column: bytes, sectors, kib, pages2k, pages4k, pages8k, pages16k
    parts: Several files: in_order (each follows on the one before; the default) or by_time (they overlap, as disks of a machine do; always so with vscsi, srt and blktrace)
    unit: Which ASUs, volumes or disks: all, or numbers (devices: MAJOR:MINOR) with commas between them (compare: each runs every one apart on devices of its own)
    filter: Which requests count: op=read+write, process=NAME+PID, action=Q (block-layer traces; default D), from=10s, to=2h, every=10, with commas between them
    head: Only the first N requests
    reorder_window: Backward steps of time up to this are sorted, larger ones are errors
    skip_bad: Skip up to N malformed lines of a text trace, count them and show the first ones (default: the first one is an error)
    address: Trace addresses on the device: strict | modulo | dense
    precondition: none | fill | touch | wipc | prefix:N | warmup:N | random:Nx | steady[:Nx] | model | snapshot:FILE, per scheme: touch,SCHEME=fill, and for map caches cache=clean|warm|cold (clean unless the workload itself prepared: prefix, warmup)
    timing: trace | trace:SCALE (0.5 = twice as fast) | asap | closed:DEPTH
    ram: SRAM of the controller, or as much as another scheme takes: like:SCHEME[.structure]
    ram_strict: Leave out schemes that need more than --ram
    verify: Compare every read with what was written last
    until: Repeat the workload until so many blocks died of age that the device cannot go on (device.endurance_cycles, wear.policy)
    loop: Run the workload N times, each pass when the one before is done; it ends early if the device is worn out
    seed: Seed of every random stream (an inline spec has its own)
    probe: COUNT requests from the one numbered FROM (first: 0) under the microscope, in results.json and the report (run: in --json)
    tail: Why the slowest are slow: what the time of the slowest 1 % and 0.1 % went into, and the ten worst requests one by one (simulating takes up to three times as long)
    requests_out: A row per request, to a new file that ends in .csv or .parquet (compare: a file per scheme, FILE-SCHEME.csv, with --unit each FILE-unit-N-SCHEME.csv)
    trace_out: What the device did for the requests of --probe, else for the first 2000, as trace events for Perfetto (ui.perfetto.dev), to a new file that ends in .json (compare: FILE-SCHEME.json); at most 30,000 operations
    save_snapshot: Write flash and phase-change memory as they are after the run to this new file, for --precondition snapshot:FILE"""

def inspect(workload: Any, *, progress: _Progress | _Value = ..., **options: Any) -> Inspection:
    """Says what is in a workload, without running it: an `Inspection`.

    workload: as in `ftlab.run`.
    device, page_size, map_entries, cache_entries, cache_pages: what is counted in, and sizes of map
        caches to be listed (a list of numbers), as of `ftlab trace inspect`.
    format, time_unit, size_unit, unit, filter, head, ...: how a trace is read, as in `ftlab.run`."""

def buffers() -> list[dict[str, Any]]:
    """Host write buffers, in front of any scheme: a list of dicts, as `ftlab list buffers --json` prints them."""

def devices() -> list[dict[str, Any]]:
    """Bundled devices, with their sizes: a list of dicts, as `ftlab list devices --json` prints them."""

def experiments() -> list[dict[str, Any]]:
    """Experiments of the papers, for `ftlab reproduce`: a list of dicts, as `ftlab list experiments --json` prints them."""

def families() -> list[dict[str, Any]]:
    """Families of schemes, for `schemes='family:NAME'`: a list of dicts, as `ftlab list families --json` prints them."""

def formats() -> list[dict[str, Any]]:
    """Trace formats, with their columns and units: a list of dicts, as `ftlab list formats --json` prints them."""

def keys() -> list[dict[str, Any]]:
    """Settings, with default, meaning, legal range and source: a list of dicts, as `ftlab list keys --json` prints them."""

def placements() -> list[dict[str, Any]]:
    """Placement policies: which write frontier takes a page of data: a list of dicts, as `ftlab list placements --json` prints them."""

def schedulers() -> list[dict[str, Any]]:
    """Schedulers of the driver's queue: a list of dicts, as `ftlab list schedulers --json` prints them."""

def schemes() -> list[dict[str, Any]]:
    """Flash translation layers, with family, paper, presets and deviations: a list of dicts, as `ftlab list schemes --json` prints them."""

def victims() -> list[dict[str, Any]]:
    """Victim policies of garbage collection: a list of dicts, as `ftlab list victims --json` prints them."""

def workloads() -> list[dict[str, Any]]:
    """Bundled workloads, with the inline spec that each stands for: a list of dicts, as `ftlab list workloads --json` prints them."""

from .sweep import Swept as _Swept

class _Sweep(ModuleType):
    def __call__(self, axes: Any, out: str | os.PathLike[str], *, jobs: _Value | None = ..., resume: _Value = ..., shard: _Value | None = ..., sample: _Value | None = ..., progress: _Progress | _Value = ..., device: _Value | None = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., workload: _Value | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> _Swept: ...
    def run(self, axes: Any, out: str | os.PathLike[str], *, jobs: _Value | None = ..., resume: _Value = ..., shard: _Value | None = ..., sample: _Value | None = ..., progress: _Progress | _Value = ..., device: _Value | None = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., workload: _Value | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> _Swept: ...
    def plan(self, axes: Any, out: str | os.PathLike[str] = ..., *, jobs: _Value | None = ..., resume: _Value = ..., shard: _Value | None = ..., sample: _Value | None = ..., device: _Value | None = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., workload: _Value | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> dict[str, Any]: ...
    def merge(self, out: str | os.PathLike[str]) -> _Swept: ...
    Swept: type[_Swept]

sweep: _Sweep
