"""Sweeps: every combination of schemes, settings, workloads and devices, run by run into a folder
that any number of processes may share. The module is called as a function:

    ftlab.sweep({"scheme": ["dftl", "tpftl"], "cache": "16KiB..1MiB*2"}, "out",
                device="dftl2014", workload="oltp_demo", precondition="fill")
"""

import json
import os
import sys
import types

from .. import _ftlab
from .._experiment import _setting, check_times, stated
from .._progress import shown
from .._results import Result
from .._tables import of_file
from .._workload import Workload

__all__ = ["Swept", "merge", "plan", "run"]


def _value(value):
    """A value of an axis; in brackets where it holds what stands between values."""
    text = value.path if isinstance(value, Workload) else _setting(value)
    return f"({text})" if any(one in text for one in ",& \t") else text


def _axis(names, values):
    """An axis as `--grid` takes it."""
    if not isinstance(names, str):
        names = "&".join(names)
    if isinstance(values, str):
        return f"{names}={values}"
    is_together = "&" in names
    values = [
        "&".join(map(_value, value)) if is_together else _value(value)
        for value in (values if hasattr(values, "__iter__") else [values])
    ]
    return f"{names}={','.join(values)}"


def grid(axes):
    """Axes as a text of `--grid`: a text stays as it is."""
    if isinstance(axes, str):
        return axes
    return " ".join(_axis(names, values) for names, values in axes.items())


def _asked(axes, out, options, **how):
    base, kept = stated(options, _ftlab.EXPERIMENT)
    is_file = isinstance(axes, os.PathLike) or isinstance(axes, str) and axes.endswith(".toml")
    own = {"file": os.fspath(axes)} if is_file else {"grid": grid(axes)}
    if not (is_file or "timing=" in own["grid"]):
        check_times(base, kept)
    asked = {"base": base, "out": os.fspath(out), **own, **how}
    return json.dumps(asked), kept


def run(axes, out, *, jobs=None, resume=False, shard=None, sample=None, progress=False, **options):
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
    asked, kept = _asked(
        axes, out, options, jobs=jobs, resume=resume, shard=shard, sample=sample
    )
    with shown(progress) as told:
        done = json.loads(_ftlab.sweep(asked, told))
    del kept
    return Swept(out, done)


def plan(axes, out=".", *, jobs=None, resume=False, shard=None, sample=None, **options):
    """What `run` would do, without a run: a dict of `names`, `points` (`values`, `key`, and
    `refused`, the reason, of those that cannot be run), `to_make` (runs that are not there yet), and
    `seconds` (how long these might take one after another; `at_least`: no less)."""
    asked, kept = _asked(
        axes, out, options, jobs=jobs, resume=resume, shard=shard, sample=sample
    )
    planned = json.loads(_ftlab.plan_sweep(asked, None))
    del kept
    return planned


def merge(out):
    """Writes the table of a folder that processes have filled: a `Swept`."""
    return Swept(out, json.loads(_ftlab.merge_sweep(os.fspath(out))))


class Swept:
    """What came of a sweep.

    folder: where it is: results.parquet, results.csv, report.html, and a file per run.
    made, kept: runs that were made now, and before; None of a merge.
    done: points with a result. failed, refused: lists of (point, reason). missing: points that were
        not run yet. These four are None where only a shard was run."""

    __module__ = "ftlab.sweep"

    def __init__(self, folder, told):
        self.folder = os.fspath(folder)
        for name in ("made", "kept", "done", "missing"):
            setattr(self, name, told[name])
        pairs = {name: told[name] for name in ("failed", "refused")}
        for name, own in pairs.items():
            setattr(self, name, None if own is None else [tuple(pair) for pair in own])

    def table(self):
        """A `Table` with a row per point: its axes (`axis.NAME`), `run`, `status` (done, failed,
        refused, missing), `reason`, and every number of its result."""
        return of_file(os.path.join(self.folder, "results.parquet"))

    def to_pandas(self):
        """The table as a pandas data frame."""
        return self.table().to_pandas()

    def to_polars(self):
        """The table as a polars data frame."""
        return self.table().to_polars()

    def result(self, run):
        """The `Result` of a run by what names it in the column `run`."""
        return Result.from_file(os.path.join(self.folder, "runs", f"{run}.json"))

    def __repr__(self):
        told = [f"Sweep in {self.folder}"]
        if self.made is not None:
            told.append(f"{self.made} made, {self.kept} were there")
        if self.done is not None:
            told.append(f"{self.done} points have a result, {self.missing} are missing")
        for word, pairs in (("Failed", self.failed), ("Refused", self.refused)):
            told.extend(f"{word}  {point}: {reason}" for point, reason in pairs or [])
        return "\n".join(told)


class _Callable(types.ModuleType):
    """A module that can be called."""

    def __call__(self, axes, out, **options):
        return run(axes, out, **options)


_Callable.__call__.__doc__ = run.__doc__
sys.modules[__name__].__class__ = _Callable
