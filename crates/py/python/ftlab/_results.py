"""Results of runs and comparisons, and of looking into workloads."""

import json
from collections.abc import Sequence

from . import _ftlab
from ._errors import UsageError
from ._schema import Record, classes
from ._tables import of_file, of_results

_CLASSES = classes()


def _new_file(path, made):
    with open(path, "xb") as file:
        file.write(made)


class Result(_CLASSES["RunResult"]):
    """The result of one run.

    Every field is an attribute with words (`help(ftlab.Result)`; units stand in the names), and so
    are those of its parts: `result.latency_ns.all.system.mean`; percentiles are items:
    `result.latency_ns.read.system.percentile[99]`. What a result does not have is None. Shown, it is
    the table that the program prints. Results can be pickled and compared."""

    __module__ = "ftlab"
    __slots__ = ("_text", "_requests")

    def __init__(self, text, requests=None, folder=None):
        super().__init__(json.loads(text))
        self._text = text
        self._requests = None
        if requests is not None and requests.endswith(".parquet"):
            self._requests = (requests, folder)

    def to_json(self):
        """The result as JSON: the bytes of `ftlab run --json`."""
        return self._text

    def to_dict(self):
        """The result as a dict of its own."""
        return json.loads(self._text)

    def table(self, of="scalars"):
        """A `Table` of the result.

        scalars: one row, a column per number or text, called as its path (`latency_ns.all.system.mean`).
        series: how it went over simulated time, a row per window, with response times in it.
        cdf, ccdf: points of the curves of the response time: direction (all, read, write), latency_ns,
            share of requests that took as long or less (cdf), or longer (ccdf: share_slower).
        wear: blocks by number of erases.
        requests: a row per request, where the run was made with requests=True, or with a
            requests_out that ends in .parquet; a temporary file that lives as long as this result or
            its tables."""
        if of == "requests":
            if self._requests is None:
                raise UsageError(
                    "the run kept no rows of requests; legal: requests=True, or a requests_out that "
                    "ends in .parquet"
                )
            return of_file(*self._requests)
        if of not in _ftlab.TABLES:
            raise _ftlab.unknown("table", str(of), [*_ftlab.TABLES, "requests"])
        return of_results(of, [self._text])

    def to_pandas(self):
        """A data frame of one row; see `table()` for others."""
        return self.table().to_pandas()

    def to_polars(self):
        """A data frame of one row; see `table()` for others."""
        return self.table().to_polars()

    def report(self, path):
        """Writes the page with charts to the new file `path`; it opens offline."""
        _new_file(path, _ftlab.written("html", [self._text], False))

    @classmethod
    def from_file(cls, path):
        """The result of a file that `ftlab run --json` wrote."""
        found = _read(path)
        if len(found) != 1:
            raise UsageError(f"{path} holds {len(found)} results; legal: one (Comparison.from_file)")
        return cls(found[0])

    def __repr__(self):
        return _ftlab.written("text", [self._text], False).decode().rstrip("\n")

    def _repr_html_(self):
        return _ftlab.notebook([self._text])

    def __eq__(self, other):
        return isinstance(other, Result) and self._text == other._text

    __hash__ = None

    def __reduce__(self):
        return (Result, (self._text,))


def _read(path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error})") from None
    try:
        return _ftlab.apart(text)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


class Comparison(Sequence):
    """The results of several schemes on one device and workload, in the order asked for.

    `comparison[0]` and `comparison["dftl"]` are results. Shown, it is the table that the program
    prints."""

    __module__ = "ftlab"
    __slots__ = ("_runs",)

    def __init__(self, runs):
        self._runs = list(runs)

    def __getitem__(self, which):
        if isinstance(which, str):
            for run in self._runs:
                if run.scheme == which:
                    return run
            raise KeyError(f"no run of '{which}'; legal: {', '.join(self.schemes)}")
        return self._runs[which]

    def __len__(self):
        return len(self._runs)

    @property
    def schemes(self):
        """Names of the schemes."""
        return [run.scheme for run in self._runs]

    @property
    def _texts(self):
        return [run.to_json() for run in self._runs]

    def to_json(self):
        """The results as JSON: the bytes of `results.json`."""
        return _ftlab.written("json", self._texts, True).decode()

    def to_csv(self):
        """A line per run: the bytes of `results.csv`."""
        return _ftlab.written("csv", self._texts, True).decode()

    def to_dict(self):
        """The results as a list of dicts."""
        return [run.to_dict() for run in self._runs]

    def table(self, of="scalars"):
        """A `Table` of all runs, as `Result.table`, but for requests; its first column is the scheme."""
        if of not in _ftlab.TABLES:
            raise _ftlab.unknown("table of a comparison", str(of), list(_ftlab.TABLES))
        return of_results(of, self._texts)

    def to_pandas(self):
        """A data frame with a row per run; see `table()` for others."""
        return self.table().to_pandas()

    def to_polars(self):
        """A data frame with a row per run; see `table()` for others."""
        return self.table().to_polars()

    def report(self, path):
        """Writes the page with charts to the new file `path`; it opens offline."""
        _new_file(path, _ftlab.written("html", self._texts, True))

    @classmethod
    def from_file(cls, path):
        """The results of a file: `results.json` of `ftlab compare`."""
        return cls([Result(text) for text in _read(path)])

    def __eq__(self, other):
        return isinstance(other, Comparison) and self._runs == other._runs

    __hash__ = None

    def __repr__(self):
        return _ftlab.written("text", self._texts, True).decode().rstrip("\n")

    def _repr_html_(self):
        return _ftlab.notebook(self._texts)

    def __reduce__(self):
        return (Comparison, (self._runs,))


class Inspection(Record):
    """What is in a workload. Fields are those of `ftlab trace inspect --json`, as attributes and as
    items; shown, it is what the program prints."""

    __module__ = "ftlab"
    __slots__ = ("_shown", "_text")

    def __init__(self, shown, text):
        super().__init__(json.loads(text))
        self._shown = shown
        self._text = text

    def to_json(self):
        """The same as JSON."""
        return self._text

    def __repr__(self):
        return self._shown.rstrip("\n")

    def __reduce__(self):
        return (Inspection, (self._shown, self._text))
