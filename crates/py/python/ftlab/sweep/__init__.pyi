# Written by crates/py/stubs.py; `make stubs` writes it anew.
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

_Value = str | int | float | bool | os.PathLike[str] | Sequence[Any]
_Progress = bool | Callable[[list[tuple[int, str, str, int, int | None, bool]]], object]

from .. import Result, Table

def run(axes: Any, out: str | os.PathLike[str], *, jobs: _Value | None = ..., resume: _Value = ..., shard: _Value | None = ..., sample: _Value | None = ..., progress: _Progress | _Value = ..., device: _Value | None = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., workload: _Value | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> Swept:
    """Runs a sweep into a folder: a `Swept`. `ftlab.sweep(...)` is this.

    axes: a text as `--grid` takes it, or a dict: names of options of a run (`scheme`, `capacity`,
        `workload`), of keys, `op`, `cache` or `seed`, with a list of values or a range
        ('16KiB..1MiB*2', '7%..28%+7%'); 'cache[family:cached_map]' for some schemes; a tuple of names
        that are varied together, with tuples of values. The first varies slowest. Or a TOML file as
        `ftlab sweep FILE.toml` takes it, which says what all runs share as well.
    out: a new or empty folder, which `ftlab sweep` understands as well; with `resume` one that holds a
        sweep, of which only what is not there is run.
    jobs: runs side by side; as many as cores where None.
    shard: 'I/N', every Nth point from the Ith on, for several processes that share the folder;
        `ftlab.sweep.merge(out)` makes the table when all are done.
    sample: so many of the points, drawn by `seed`.

    Everything else is what all runs share, as in `ftlab.run`. A workload from columns that a sweep is
    to be resumed with is saved (`Workload.save`) and named: runs are known by its name, too. A run that fails is a row with its
    reason; Ctrl-C keeps what was done. Raises `UsageError`, `RunError`."""

def plan(axes: Any, out: str | os.PathLike[str] = ..., *, jobs: _Value | None = ..., resume: _Value = ..., shard: _Value | None = ..., sample: _Value | None = ..., device: _Value | None = ..., capacity: _Value | None = ..., buffer: _Value | None = ..., set: _Value | Mapping[str, _Value] | None = ..., workload: _Value | None = ..., trace_dir: _Value | None = ..., find_subset: _Value | None = ..., format: _Value | None = ..., time_unit: _Value | None = ..., size_unit: _Value | None = ..., parts: _Value | None = ..., unit: _Value | None = ..., filter: _Value | None = ..., head: _Value | None = ..., reorder_window: _Value | None = ..., skip_bad: _Value | None = ..., address: _Value | None = ..., precondition: _Value | None = ..., timing: _Value | None = ..., ram: _Value | None = ..., ram_strict: _Value | None = ..., verify: _Value | None = ..., until: _Value | None = ..., loop: _Value | None = ..., seed: _Value | None = ..., probe: _Value | None = ..., tail: _Value | None = ..., requests_out: _Value | None = ..., trace_out: _Value | None = ..., save_snapshot: _Value | None = ..., **settings: _Value) -> dict[str, Any]:
    """What `run` would do, without a run: a dict of `names`, `points` (`values`, `key`, and
    `refused`, the reason, of those that cannot be run), `to_make` (runs that are not there yet), and
    `seconds` (how long these might take one after another; `at_least`: no less)."""

def merge(out: str | os.PathLike[str]) -> Swept:
    """Writes the table of a folder that processes have filled: a `Swept`."""

class Swept:
    """What came of a sweep.

    folder: where it is: results.parquet, results.csv, report.html, and a file per run.
    made, kept: runs that were made now, and before; None of a merge.
    done: points with a result. failed, refused: lists of (point, reason). missing: points that were
        not run yet. These four are None where only a shard was run."""
    folder: str
    made: int | None
    kept: int | None
    done: int | None
    failed: list[tuple[str, str]] | None
    refused: list[tuple[str, str]] | None
    missing: int | None
    def table(self) -> Table:
        """A `Table` with a row per point: its axes (`axis.NAME`), `run`, `status` (done, failed,
        refused, missing), `reason`, and every number of its result."""
    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
    def to_polars(self) -> Any:
        """The table as a polars data frame."""
    def result(self, run: str) -> Result:
        """The `Result` of a run by what names it in the column `run`."""
